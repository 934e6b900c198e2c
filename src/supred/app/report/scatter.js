// The latent space on a canvas: rows in two dimensions, or in three that can be turned.

const MARGIN = { left: 46, right: 12, top: 12, bottom: 36 };
const EYE = 6; // distance of the eye from the middle of the cube [-1, 1]^3
const CORNERS = [[-1, -1, -1], [1, -1, -1], [-1, 1, -1], [1, 1, -1], [-1, -1, 1], [1, -1, 1], [-1, 1, 1], [1, 1, 1]];
const EDGES = [[0, 1], [0, 2], [1, 3], [2, 3], [4, 5], [4, 6], [5, 7], [6, 7], [0, 4], [1, 5], [2, 6], [3, 7]];

function rangeOf(values) {
  let low = Infinity;
  let high = -Infinity;
  for (const v of values) {
    if (v < low) low = v;
    if (v > high) high = v;
  }
  if (!(high > low)) return Number.isFinite(low) ? [low - 1, low + 1] : [-1, 1];
  return [low, high];
}

function roundTicks(low, high, about) {
  const raw = (high - low) / about;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * 0.999);
  const ticks = [];
  for (let k = Math.ceil(low / step); k * step <= high; k++) ticks.push(k * step);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const format = (v) => (digits > 6 || Math.abs(v) >= 1e6 ? v.toExponential(1) : v.toFixed(digits));
  return ticks.map((v) => [v, format(v)]);
}

// Lines between the regions, in steps of the grid: in each square of four points they join the
// middles of the sides whose ends differ.
function bordersOf({ shape, codes }) {
  const [rows, columns] = shape;
  const lines = [];
  for (let r = 0; r + 1 < rows; r++) {
    for (let c = 0; c + 1 < columns; c++) {
      const at = r * columns + c;
      const [a, b, d, e] = [codes[at], codes[at + 1], codes[at + columns], codes[at + columns + 1]];
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

// The same for every visit of the page: rows of a one-dimensional space get a height of their own.
function jitter(length) {
  const values = new Float64Array(length);
  for (let i = 0; i < length; i++) values[i] = ((i * 0.618033988749895) % 1) * 2 - 1;
  return values;
}

class LatentView {
  constructor(canvas, data) {
    this.canvas = canvas;
    this.context = canvas.getContext('2d');
    this.data = data;
    this.shownClasses = new Uint8Array(data.classes.length).fill(1);
    this.onlyWrong = false;
    this.showRegions = true;
    this.deep = false;
    this.pair = [0, 1];
    this.hovered = -1;
    const n = data.y.length;
    this.x = new Float32Array(n);
    this.y = new Float32Array(n);
    this.depth = new Float32Array(n);
    this.visible = new Uint8Array(n);
    this.recolor();
    this.resetView();
  }

  setMethod(method) {
    this.method = method;
    this.axes = method.axes.length === 1 ? [method.axes[0], jitter(method.axes[0].length)] : method.axes;
    this.ranges = this.axes.map(rangeOf);
    if (method.axes.length === 1) this.ranges[1] = [-1.6, 1.6];
    if (method.axes.length < 3) {
      this.deep = false;
      this.pair = [0, 1];
    }
    this.regionImage = null;
    this.hovered = -1;
    this.resetView();
  }

  resetView() {
    this.yaw = 0.6;
    this.pitch = 0.35;
    this.zoom = 1;
    this.shift = [0, 0];
  }

  recolor() {
    this.colors = pageColors();
    this.sprites = null;
    this.regionImage = null;
  }

  isWrong(row) {
    const predicted = this.method.predicted;
    return predicted !== null && predicted[row] !== this.data.y[row];
  }

  resize() {
    const box = this.canvas.getBoundingClientRect();
    if (!box.width) return;
    this.ratio = window.devicePixelRatio || 1;
    this.width = box.width;
    this.height = box.height;
    this.canvas.width = Math.round(box.width * this.ratio);
    this.canvas.height = Math.round(box.height * this.ratio);
    this.stamper = new Stamper(this.canvas.width, this.canvas.height, this.ratio);
    this.sprites = null;
  }

  // The frame of the flat view, in pixels, and the coordinates at its sides.
  frame() {
    const { left, right, top, bottom } = MARGIN;
    const box = { left, top, right: this.width - right, bottom: this.height - bottom };
    box.sides = this.pair.map((axis, i) => {
      const [low, high] = this.ranges[axis];
      const half = (0.54 * (high - low)) / this.zoom;
      const middle = (low + high) / 2 + this.shift[i] * (high - low);
      return [middle - half, middle + half];
    });
    return box;
  }

  // Where a point of the cube [-1, 1]^3 lies on the canvas, and how near it is.
  place(u, v, w, point = [0, 0, 0]) {
    const a = u * this.cosYaw - w * this.sinYaw;
    const b = u * this.sinYaw + w * this.cosYaw;
    const up = v * this.cosPitch - b * this.sinPitch;
    const near = v * this.sinPitch + b * this.cosPitch;
    const scale = (this.unit * EYE) / (EYE - near);
    point[0] = this.width / 2 + a * scale;
    point[1] = this.height / 2 - up * scale;
    point[2] = near;
    return point;
  }

  project() {
    const { y } = this.data;
    const n = y.length;
    for (let i = 0; i < n; i++) {
      this.visible[i] = this.shownClasses[y[i]] && (!this.onlyWrong || this.isWrong(i)) ? 1 : 0;
    }
    if (this.deep) this.projectDeep(n);
    else this.projectFlat(n);
  }

  projectFlat(n) {
    const box = this.frame();
    const [[x0, x1], [y0, y1]] = box.sides;
    const [across, up] = this.pair.map((axis) => this.axes[axis]);
    for (let i = 0; i < n; i++) {
      this.x[i] = box.left + ((across[i] - x0) / (x1 - x0)) * (box.right - box.left);
      this.y[i] = box.bottom - ((up[i] - y0) / (y1 - y0)) * (box.bottom - box.top);
      const inside = this.x[i] >= box.left && this.x[i] <= box.right && this.y[i] >= box.top && this.y[i] <= box.bottom;
      if (!inside) this.visible[i] = 0; // also where a coordinate is not a number
    }
  }

  projectDeep(n) {
    this.cosYaw = Math.cos(this.yaw);
    this.sinYaw = Math.sin(this.yaw);
    this.cosPitch = Math.cos(this.pitch);
    this.sinPitch = Math.sin(this.pitch);
    this.unit = 0.27 * Math.min(this.width, this.height) * this.zoom;
    const middle = this.ranges.map(([low, high]) => (low + high) / 2);
    const half = this.ranges.map(([low, high]) => (high - low) / 2);
    const point = [0, 0, 0];
    for (let i = 0; i < n; i++) {
      this.place(
        (this.axes[0][i] - middle[0]) / half[0], (this.axes[1][i] - middle[1]) / half[1],
        (this.axes[2][i] - middle[2]) / half[2], point);
      [this.x[i], this.y[i], this.depth[i]] = point;
      if (!Number.isFinite(point[0] + point[1])) this.visible[i] = 0;
    }
  }

  // Visible rows, the far ones first.
  order() {
    const rows = [];
    for (let i = 0; i < this.visible.length; i++) if (this.visible[i]) rows.push(i);
    if (this.deep) rows.sort((a, b) => this.depth[a] - this.depth[b]);
    return rows;
  }

  draw() {
    if (!this.width || !this.method) return;
    const { context } = this;
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    this.canvas.dataset.drawn = 0;
    if (!this.axes.length) return;
    this.project();
    if (this.deep) this.drawCube();
    else this.drawFrame();
    const rows = this.order();
    this.drawRows(rows);
    this.drawHovered();
    Object.assign(this.canvas.dataset, {
      drawn: rows.length, view: this.deep ? '3d' : '2d', yaw: this.yaw.toFixed(3), pitch: this.pitch.toFixed(3),
      zoom: this.zoom.toFixed(3),
    });
  }

  drawRows(rows) {
    const reach = this.reachOf(rows.length);
    if (!this.sprites || this.reach !== reach) {
      this.reach = reach;
      this.sprites = classSprites(this.data.markers, this.colors, reach, this.ratio);
      this.circle = ringSprite(this.colors.soft, reach + 2.6, 1, this.ratio);
    }
    const { stamper, sprites, circle, depth, x, y } = this;
    const labels = this.data.y;
    const wrong = rows.filter((row) => this.isWrong(row));
    stamper.clear();
    for (const row of rows) {
      const alpha = this.deep ? 0.62 + 0.22 * Math.max(-1, Math.min(1, depth[row] / 1.4)) : 0.82;
      stamper.stamp(sprites[labels[row]], x[row], y[row], alpha);
    }
    // Very many circles would hide the rows.
    const strength = wrong.length > 1000 ? 0.35 : 0.9;
    for (const row of wrong) stamper.stamp(circle, x[row], y[row], strength);
    this.context.drawImage(stamper.done(), 0, 0, this.width, this.height);
  }

  // Size of a marker: small where there are many.
  reachOf(count) {
    return Math.min(Math.max(Math.sqrt((30000 * this.zoom) / Math.max(count, 1)), 1.5), 4.6);
  }

  drawHovered() {
    const row = this.hovered;
    if (row < 0 || !this.visible[row]) return;
    const { context } = this;
    context.beginPath();
    context.arc(this.x[row], this.y[row], this.reach + 5, 0, 2 * Math.PI);
    context.lineWidth = 2.2;
    context.strokeStyle = this.colors.ink;
    context.stroke();
  }

  drawFrame() {
    const { context, colors } = this;
    const box = this.frame();
    const [[x0, x1], [y0, y1]] = box.sides;
    const toX = (v) => box.left + ((v - x0) / (x1 - x0)) * (box.right - box.left);
    const toY = (v) => box.bottom - ((v - y0) / (y1 - y0)) * (box.bottom - box.top);
    if (this.showRegions && this.method.regions) this.drawRegions(box, toX, toY);
    context.strokeStyle = colors.line;
    context.lineWidth = 1;
    context.strokeRect(box.left, box.top, box.right - box.left, box.bottom - box.top);
    context.fillStyle = colors.soft;
    context.font = '11px system-ui, sans-serif';
    context.textAlign = 'center';
    for (const [v, label] of roundTicks(x0, x1, this.width / 110)) context.fillText(label, toX(v), box.bottom + 14);
    context.fillText(`latent dimension ${this.pair[0] + 1}`, (box.left + box.right) / 2, box.bottom + 30);
    if (this.method.axes.length === 1) return;
    context.textAlign = 'right';
    for (const [v, label] of roundTicks(y0, y1, this.height / 90)) context.fillText(label, box.left - 5, toY(v) + 4);
    context.save();
    context.translate(11, (box.top + box.bottom) / 2);
    context.rotate(-Math.PI / 2);
    context.textAlign = 'center';
    context.fillText(`latent dimension ${this.pair[1] + 1}`, 0, 0);
    context.restore();
  }

  drawRegions(box, toX, toY) {
    const { context } = this;
    const { x, y, shape } = this.method.regions;
    if (!this.regionImage) {
      this.regionImage = this.paintRegions();
      this.borders = bordersOf(this.method.regions);
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
    context.drawImage(this.regionImage, left, top, toX(x[1] + dx) - left, toY(y[0] - dy) - top);
    context.beginPath();
    for (const [c0, r0, c1, r1] of this.borders) {
      context.moveTo(toX(x[0] + 2 * dx * c0), toY(y[0] + 2 * dy * r0));
      context.lineTo(toX(x[0] + 2 * dx * c1), toY(y[0] + 2 * dy * r1));
    }
    context.lineWidth = 1;
    context.strokeStyle = this.colors.soft;
    context.stroke();
    context.restore();
  }

  paintRegions() {
    const { shape, codes } = this.method.regions;
    const [rows, columns] = shape;
    const image = document.createElement('canvas');
    image.width = columns;
    image.height = rows;
    const context = image.getContext('2d');
    const pixels = context.createImageData(columns, rows);
    const tints = this.colors.classes.map((hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)));
    for (let r = 0; r < rows; r++) {
      for (let c = 0; c < columns; c++) {
        const code = codes[r * columns + c];
        const at = 4 * ((rows - 1 - r) * columns + c); // the grid's first row lies at the bottom
        const tint = tints[code % N_COLORS];
        for (let k = 0; k < 3; k++) pixels.data[at + k] = tint[k];
        pixels.data[at + 3] = 44;
      }
    }
    context.putImageData(pixels, 0, 0);
    return image;
  }

  drawCube() {
    const { context, colors } = this;
    const corners = CORNERS.map((corner) => this.place(...corner));
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
        return this.place(...point);
      });
      const reach = ([px, py]) => Math.hypot(px - this.width / 2, py - this.height / 2);
      const [px, py] = middles.reduce((best, next) => (reach(next) > reach(best) ? next : best));
      context.fillText(`dimension ${axis + 1}`, Math.max(40, Math.min(this.width - 40, px)), py + 4);
    }
  }

  // The visible row next to a point of the canvas, or -1.
  nearest(px, py, within) {
    let best = -1;
    let least = within * within;
    for (let i = 0; i < this.visible.length; i++) {
      if (!this.visible[i]) continue;
      const distance = (this.x[i] - px) ** 2 + (this.y[i] - py) ** 2;
      // Of rows at the same place the one in front.
      if (distance < least || (distance === least && best >= 0 && this.depth[i] > this.depth[best])) {
        least = distance;
        best = i;
      }
    }
    return best;
  }

  step(direction) {
    const n = this.visible.length;
    for (let k = 1; k <= n; k++) {
      const from = this.hovered < 0 && direction < 0 ? 0 : this.hovered;
      const row = (((from + direction * k) % n) + n) % n;
      if (this.visible[row]) return row;
    }
    return -1;
  }

  drag(dx, dy) {
    if (this.deep) {
      this.yaw += dx * 0.01;
      this.pitch = Math.max(-1.5, Math.min(1.5, this.pitch + dy * 0.01));
    } else {
      const box = this.frame();
      this.shift[0] -= (1.08 * dx) / (box.right - box.left) / this.zoom;
      this.shift[1] += (1.08 * dy) / (box.bottom - box.top) / this.zoom;
    }
  }

  zoomBy(factor) {
    this.zoom = Math.max(0.5, Math.min(16, this.zoom * factor));
  }

  describe(row) {
    const { data } = this;
    const lines = [`row ${data.nameOf(row)}`, `class ${data.classes[data.y[row]]}`];
    if (this.isWrong(row)) lines.push(`predicted ${data.classes[this.method.predicted[row]]}`);
    return lines;
  }
}
