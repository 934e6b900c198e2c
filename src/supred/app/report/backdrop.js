// What lies behind the rows: the frame with the regions of the classes, or the cube.

const CORNERS = [[-1, -1, -1], [1, -1, -1], [-1, 1, -1], [1, 1, -1], [-1, -1, 1], [1, -1, 1], [-1, 1, 1], [1, 1, 1]];
const EDGES = [[0, 1], [0, 2], [1, 3], [2, 3], [4, 5], [4, 6], [5, 7], [6, 7], [0, 4], [1, 5], [2, 6], [3, 7]];

// Lines between the regions, in steps of the grid: in each square of four points they join the
// middles of the sides whose ends differ.
function bordersOf({ shape, classes }) {
  const [rows, columns] = shape;
  const lines = [];
  for (let r = 0; r + 1 < rows; r++) {
    for (let c = 0; c + 1 < columns; c++) {
      const at = r * columns + c;
      const [a, b, d, e] = [classes[at], classes[at + 1], classes[at + columns], classes[at + columns + 1]];
      if (a === b && a === d && a === e) continue;
      const crossed = [];
      if (a !== b) crossed.push([c + 0.5, r]);
      if (d !== e) crossed.push([c + 0.5, r + 1]);
      if (a !== d) crossed.push([c, r + 0.5]);
      if (b !== e) crossed.push([c + 1, r + 0.5]);
      if (crossed.length === 2) lines.push([...crossed[0], ...crossed[1]]);
      else for (const point of crossed) lines.push([...point, c + 0.5, r + 0.5]);
    }
  }
  return lines;
}

function drawFrame(view) {
  const { context, colors } = view;
  const box = view.frame();
  const [[x0, x1], [y0, y1]] = box.sides;
  const toX = (v) => box.left + ((v - x0) / (x1 - x0)) * (box.right - box.left);
  const toY = (v) => box.bottom - ((v - y0) / (y1 - y0)) * (box.bottom - box.top);
  if (view.showRegions && view.picture.regions) drawRegions(view, box, toX, toY);
  context.strokeStyle = colors.line;
  context.lineWidth = 1;
  context.strokeRect(box.left, box.top, box.right - box.left, box.bottom - box.top);
  context.fillStyle = colors.soft;
  context.font = '11px system-ui, sans-serif';
  context.textAlign = 'center';
  context.fillText(axisName(view, view.pair[0]), (box.left + box.right) / 2, box.bottom + 16);
  if (view.picture.axes.length === 1) return;
  context.save();
  context.translate(14, (box.top + box.bottom) / 2);
  context.rotate(-Math.PI / 2);
  context.fillText(axisName(view, view.pair[1]), 0, 0);
  context.restore();
}

// Of many dimensions the directions are shown that separate the classes best.
function axisName(view, axis) {
  return `${view.picture.dimensions > 3 ? 'direction' : 'dimension'} ${axis + 1}`;
}

function drawRegions(view, box, toX, toY) {
  const { context } = view;
  const { x, y, shape } = view.picture.regions;
  if (!view.regionImage) {
    view.regionImage = paintRegions(view);
    view.borders = bordersOf(view.picture.regions);
  }
  context.save();
  context.beginPath();
  context.rect(box.left, box.top, box.right - box.left, box.bottom - box.top);
  context.clip();
  // Each class stands for a cell around its point of the grid.
  const dx = (x[1] - x[0]) / Math.max(shape[1] - 1, 1) / 2;
  const dy = (y[1] - y[0]) / Math.max(shape[0] - 1, 1) / 2;
  const left = toX(x[0] - dx);
  const top = toY(y[1] + dy);
  context.imageSmoothingQuality = 'high';
  context.drawImage(view.regionImage, left, top, toX(x[1] + dx) - left, toY(y[0] - dy) - top);
  context.beginPath();
  for (const [c0, r0, c1, r1] of view.borders) {
    context.moveTo(toX(x[0] + 2 * dx * c0), toY(y[0] + 2 * dy * r0));
    context.lineTo(toX(x[0] + 2 * dx * c1), toY(y[0] + 2 * dy * r1));
  }
  context.lineWidth = 1;
  context.strokeStyle = view.colors.soft;
  context.stroke();
  context.restore();
}

function paintRegions(view) {
  const { shape, classes } = view.picture.regions;
  const [rows, columns] = shape;
  const image = document.createElement('canvas');
  image.width = columns;
  image.height = rows;
  const context = image.getContext('2d');
  const pixels = context.createImageData(columns, rows);
  const tints = view.colors.classes.map((hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)));
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < columns; c++) {
      const k = classes[r * columns + c];
      const at = 4 * ((rows - 1 - r) * columns + c); // the grid's first row lies at the bottom
      const tint = tints[k];
      for (let i = 0; i < 3; i++) pixels.data[at + i] = tint[i];
      pixels.data[at + 3] = 44;
    }
  }
  context.putImageData(pixels, 0, 0);
  return image;
}

function drawCube(view) {
  const { context, colors } = view;
  const corners = CORNERS.map((corner) => view.place(...corner));
  context.strokeStyle = colors.line;
  context.lineWidth = 1;
  for (const [from, to] of EDGES) {
    context.beginPath();
    context.moveTo(corners[from][0], corners[from][1]);
    context.lineTo(corners[to][0], corners[to][1]);
    context.stroke();
  }
  context.fillStyle = colors.soft;
  context.font = '12px system-ui, sans-serif';
  context.textAlign = 'center';
  for (let axis = 0; axis < 3; axis++) {
    // Of the four edges along this axis the outermost has room for the name.
    const middles = [[-1, -1], [-1, 1], [1, -1], [1, 1]].map(([a, b]) => {
      const point = [1.14 * a, 1.14 * b];
      point.splice(axis, 0, 0);
      return view.place(...point);
    });
    const reach = ([px, py]) => Math.hypot(px - view.width / 2, py - view.height / 2);
    const [px, py] = middles.reduce((best, next) => (reach(next) > reach(best) ? next : best));
    context.fillText(axisName(view, axis), Math.max(40, Math.min(view.width - 40, px)), py + 4);
  }
}
