// Markers of the classes, drawn once each and then copied for every row.

const OUTLINES = {
  s: [[-0.85, -0.85], [0.85, -0.85], [0.85, 0.85], [-0.85, 0.85]],
  '^': [[0, -1.1], [1, 0.8], [-1, 0.8]],
  v: [[0, 1.1], [1, -0.8], [-1, -0.8]],
  D: [[0, -1.15], [1.15, 0], [0, 1.15], [-1.15, 0]],
  P: [[-0.4, -1.1], [0.4, -1.1], [0.4, -0.4], [1.1, -0.4], [1.1, 0.4], [0.4, 0.4], [0.4, 1.1],
    [-0.4, 1.1], [-0.4, 0.4], [-1.1, 0.4], [-1.1, -0.4], [-0.4, -0.4]],
  X: [[-0.6, -1.1], [0, -0.5], [0.6, -1.1], [1.1, -0.6], [0.5, 0], [1.1, 0.6], [0.6, 1.1], [0, 0.5],
    [-0.6, 1.1], [-1.1, 0.6], [-0.5, 0], [-1.1, -0.6]],
  '*': [[0, -1.2], [0.3, -0.4], [1.15, -0.37], [0.48, 0.15], [0.7, 0.97], [0, 0.5], [-0.7, 0.97],
    [-0.48, 0.15], [-1.15, -0.37], [-0.3, -0.4]],
};

// The page's colours as they are now; `indices` says which of the palette each class has.
function pageColors(indices) {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(name).trim();
  const classes = indices.map((k) => read(`--c${k}`));
  return { classes, ink: read('--ink'), soft: read('--soft'), line: read('--line'), edge: read('--edge'), paper: read('--paper') };
}

function traceMarker(context, marker, x, y, reach) {
  context.beginPath();
  if (marker === 'o') {
    context.arc(x, y, reach, 0, 2 * Math.PI);
    return;
  }
  OUTLINES[marker].forEach(([dx, dy], i) => {
    if (i === 0) context.moveTo(x + dx * reach, y + dy * reach);
    else context.lineTo(x + dx * reach, y + dy * reach);
  });
  context.closePath();
}

function drawMarker(context, marker, color, edge, x, y, reach) {
  traceMarker(context, marker, x, y, reach);
  context.fillStyle = color;
  context.fill();
  if (reach >= 2.2) {
    context.lineWidth = 0.5;
    context.strokeStyle = edge;
    context.stroke();
  }
}

// A small picture as bytes, ready to be stamped; `paint` draws it around the origin.
function makeSprite(reach, ratio, paint) {
  const side = 2 * Math.ceil((1.25 * reach + 1) * ratio);
  const sprite = document.createElement('canvas');
  sprite.width = side;
  sprite.height = side;
  const context = sprite.getContext('2d', { willReadFrequently: true });
  context.translate(side / 2, side / 2);
  context.scale(ratio, ratio);
  paint(context);
  return { side, bytes: context.getImageData(0, 0, side, side).data };
}

function classSprites(markers, colors, reach, ratio) {
  return markers.map((marker, k) => makeSprite(reach, ratio, (context) => {
    drawMarker(context, marker, colors.classes[k], colors.edge, 0, 0, reach);
  }));
}

function ringSprite(color, radius, width, ratio) {
  return makeSprite(radius, ratio, (context) => {
    context.beginPath();
    context.arc(0, 0, radius, 0, 2 * Math.PI);
    context.lineWidth = width;
    context.strokeStyle = color;
    context.stroke();
  });
}

// Copies sprites into bytes of its own: many times faster than drawing each on a canvas that no
// graphics card helps.
class Stamper {
  constructor(width, height, ratio) {
    this.ratio = ratio;
    this.sheet = document.createElement('canvas');
    this.sheet.width = width;
    this.sheet.height = height;
    this.context = this.sheet.getContext('2d');
    this.image = this.context.createImageData(width, height);
  }

  clear() {
    this.image.data.fill(0);
  }

  stamp(sprite, x, y, alpha) {
    const { width, height, data } = this.image;
    const { side, bytes } = sprite;
    const left = Math.round(x * this.ratio - side / 2);
    const top = Math.round(y * this.ratio - side / 2);
    const firstRow = Math.max(0, -top);
    const lastRow = Math.min(side, height - top);
    const firstColumn = Math.max(0, -left);
    const lastColumn = Math.min(side, width - left);
    for (let r = firstRow; r < lastRow; r++) {
      let from = 4 * (r * side + firstColumn);
      let to = 4 * ((top + r) * width + left + firstColumn);
      for (let c = firstColumn; c < lastColumn; c++, from += 4, to += 4) {
        const over = (bytes[from + 3] / 255) * alpha;
        if (over === 0) continue;
        const under = (data[to + 3] / 255) * (1 - over);
        const total = over + under;
        data[to] = (bytes[from] * over + data[to] * under) / total;
        data[to + 1] = (bytes[from + 1] * over + data[to + 1] * under) / total;
        data[to + 2] = (bytes[from + 2] * over + data[to + 2] * under) / total;
        data[to + 3] = 255 * total;
      }
    }
  }

  // The stamped picture, to be drawn.
  done() {
    this.context.putImageData(this.image, 0, 0);
    return this.sheet;
  }
}
