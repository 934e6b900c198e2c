// The latent space on a canvas: rows in two dimensions, or in three that can be turned.

const MARGIN = { left: 24, right: 12, top: 12, bottom: 24 };
const MOST_RINGS = 600;
const EYE = 6; // distance of the eye from the middle of the cube [-1, 1]^3

// The same for every visit of the page: rows of a one-dimensional space get a height of their own.
function jitter(length) {
  const values = new Float64Array(length);
  for (let i = 0; i < length; i++) values[i] = ((i * 0.618033988749895) % 1) * 2 - 1;
  return values;
}

// Where coordinates lie in the frame of the flat view, at its border if outside.
function inFrame(box, across, up) {
  const [[x0, x1], [y0, y1]] = box.sides;
  const x = box.left + ((across - x0) / (x1 - x0)) * (box.right - box.left);
  const y = box.bottom - ((up - y0) / (y1 - y0)) * (box.bottom - box.top);
  return [Math.max(box.left, Math.min(box.right, x)), Math.max(box.top, Math.min(box.bottom, y))];
}

class LatentView {
  constructor(canvas, data) {
    this.canvas = canvas;
    this.context = canvas.getContext('2d');
    this.data = data;
    this.shownClasses = new Uint8Array(data.classes.length).fill(1);
    this.onlyWrong = false;
    this.showRegions = true;
    this.showNames = true;
    this.showTraining = true;
    this.chosen = null; // rows that were chosen: a set
    this.deep = false;
    this.pair = [0, 1];
    this.hovered = -1;
    this.placed = null; // a row that the reader placed on the map: its coordinates and class
    const n = data.y.length;
    this.x = new Float32Array(n);
    this.y = new Float32Array(n);
    this.depth = new Float32Array(n);
    this.visible = new Uint8Array(n);
    this.far = new Uint8Array(n); // drawn at the border
    this.recolor();
    this.resetView();
  }

  // What is drawn: the map, or a method's own latent space.
  setPicture(picture) {
    this.picture = picture;
    const flat = picture.axes.length === 1;
    this.axes = flat ? [picture.axes[0], jitter(picture.axes[0].length)] : picture.axes;
    this.limits = flat ? [picture.limits[0], [-1.6, 1.6]] : picture.limits;
    if (picture.axes.length < 3) {
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
    this.colors = pageColors(this.data.colors);
    this.sprites = null;
    this.regionImage = null;
  }

  isWrong(row) {
    return this.predicted !== null && this.predicted[row] !== this.data.y[row] && !this.data.isNew(row);
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
      const [low, high] = this.limits[axis];
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
    const { y, held } = this.data;
    const n = y.length;
    this.far.fill(0);
    for (let i = 0; i < n; i++) {
      const chosen = this.chosen !== null && this.chosen.has(i);
      this.visible[i] = this.shownClasses[y[i]] && (!this.onlyWrong || this.isWrong(i)) && (held[i] || this.showTraining || chosen) ? 1 : 0;
    }
    if (this.deep) this.projectDeep(n);
    else this.projectFlat(n);
  }

  projectFlat(n) {
    const box = this.frame();
    const [[x0, x1], [y0, y1]] = box.sides;
    const [across, up] = this.pair.map((axis) => this.axes[axis]);
    const [[a0, a1], [b0, b1]] = this.pair.map((axis) => this.limits[axis]);
    for (let i = 0; i < n; i++) {
      this.x[i] = box.left + ((across[i] - x0) / (x1 - x0)) * (box.right - box.left);
      this.y[i] = box.bottom - ((up[i] - y0) / (y1 - y0)) * (box.bottom - box.top);
      const inside = this.x[i] >= box.left && this.x[i] <= box.right && this.y[i] >= box.top && this.y[i] <= box.bottom;
      if (inside) continue;
      const outlier = across[i] < a0 || across[i] > a1 || up[i] < b0 || up[i] > b1;
      if (!outlier) this.visible[i] = 0; // also where a coordinate is not a number
      else {
        this.far[i] = 1;
        this.x[i] = Math.max(box.left + 5, Math.min(box.right - 5, this.x[i]));
        this.y[i] = Math.max(box.top + 5, Math.min(box.bottom - 5, this.y[i]));
      }
    }
  }

  projectDeep(n) {
    this.cosYaw = Math.cos(this.yaw);
    this.sinYaw = Math.sin(this.yaw);
    this.cosPitch = Math.cos(this.pitch);
    this.sinPitch = Math.sin(this.pitch);
    this.unit = 0.27 * Math.min(this.width, this.height) * this.zoom;
    const middle = this.limits.map(([low, high]) => (low + high) / 2);
    const half = this.limits.map(([low, high]) => (high - low) / 2);
    const point = [0, 0, 0];
    for (let i = 0; i < n; i++) {
      this.place(
        (this.axes[0][i] - middle[0]) / half[0], (this.axes[1][i] - middle[1]) / half[1],
        (this.axes[2][i] - middle[2]) / half[2], point);
      [this.x[i], this.y[i], this.depth[i]] = point;
      if (!Number.isFinite(point[0] + point[1])) this.visible[i] = 0;
    }
  }

  // Visible rows in the order in which they are drawn: training rows first, chosen rows last; in
  // three dimensions the far ones first.
  order() {
    const { held } = this.data;
    const rows = [];
    for (let i = 0; i < this.visible.length; i++) if (this.visible[i]) rows.push(i);
    const rank = (row) => (this.chosen !== null && this.chosen.has(row) ? 2 : held[row]);
    if (this.deep) rows.sort((a, b) => this.depth[a] - this.depth[b]);
    else rows.sort((a, b) => rank(a) - rank(b));
    return rows;
  }

  draw() {
    if (!this.width || !this.picture) return;
    const { context } = this;
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    this.project();
    const rows = this.order();
    if (this.deep) drawCube(this);
    else drawFrame(this);
    this.drawRows(rows);
    let labels = 0;
    if (this.showNames && !this.deep) {
      const strong = rows.filter((row) => this.data.held[row] && !this.far[row]);
      labels = drawLabels(this, strong.length ? strong : rows, this.frame());
    }
    this.drawPlaced();
    this.drawHovered();
    Object.assign(this.canvas.dataset, {
      drawn: rows.length, view: this.deep ? '3d' : '2d', yaw: this.yaw.toFixed(3), pitch: this.pitch.toFixed(3),
      zoom: this.zoom.toFixed(3), labels, far: this.far.reduce((sum, v, i) => sum + (v && this.visible[i] ? 1 : 0), 0),
    });
  }

  drawRows(rows) {
    const { held } = this.data;
    let strong = 0;
    for (const row of rows) strong += held[row];
    const reach = this.reachOf(strong || rows.length);
    if (!this.sprites || this.reach !== reach) {
      this.reach = reach;
      this.sprites = classSprites(this.data.markers, this.colors, reach, this.ratio);
      this.small = classSprites(this.data.markers, this.colors, Math.max(0.7 * reach, 1.3), this.ratio);
      this.circle = ringSprite(this.colors.ink, reach + 2.6, 1.1, this.ratio);
    }
    const { stamper, sprites, small, circle, depth, x, y, far, chosen } = this;
    const labels = this.data.y;
    // The more rows lie upon each other, the more light each lets through.
    const full = Math.max(0.4, Math.min(0.85, 30 / Math.sqrt(Math.max(strong, 1))));
    const rings = [];
    stamper.clear();
    for (const row of rows) {
      if (far[row]) continue;
      const picked = chosen !== null && chosen.has(row);
      let alpha = held[row] ? full : 0.22;
      if (chosen !== null) alpha = picked ? 1 : 0.3 * alpha;
      if (this.deep) alpha *= 0.8 + 0.2 * Math.max(-1, Math.min(1, depth[row] / 1.4));
      stamper.stamp((held[row] || picked ? sprites : small)[labels[row]], x[row], y[row], alpha);
      if (picked || (chosen === null && held[row] && this.isWrong(row))) rings.push(row);
    }
    // Very many rings would hide the rows: then there are none, but for chosen rows.
    const strength = chosen !== null ? 0.9 : Math.max(0.3, Math.min(0.85, 120 / Math.max(rings.length, 1)));
    if (chosen !== null || rings.length <= MOST_RINGS) for (const row of rings) stamper.stamp(circle, x[row], y[row], strength);
    this.context.drawImage(stamper.done(), 0, 0, this.width, this.height);
    this.drawFar(rows);
  }

  // Rows far outside: small triangles at the border that point to them.
  drawFar(rows) {
    const { context, colors, data } = this;
    const box = this.frame();
    for (const row of rows) {
      if (!this.far[row]) continue;
      const dx = this.x[row] <= box.left + 5 ? -1 : this.x[row] >= box.right - 5 ? 1 : 0;
      const dy = this.y[row] <= box.top + 5 ? -1 : this.y[row] >= box.bottom - 5 ? 1 : 0;
      context.save();
      context.translate(this.x[row], this.y[row]);
      context.rotate(Math.atan2(dy, dx));
      context.beginPath();
      context.moveTo(5, 0);
      context.lineTo(-3, 4);
      context.lineTo(-3, -4);
      context.closePath();
      context.fillStyle = colors.classes[data.y[row]];
      context.strokeStyle = colors.ink;
      context.lineWidth = 0.7;
      context.fill();
      context.stroke();
      context.restore();
    }
  }

  // Size of a marker: small where there are many.
  reachOf(count) {
    return Math.min(Math.max(Math.sqrt((30000 * this.zoom) / Math.max(count, 1)), 1.5), 4.6);
  }

  // A row that the reader placed: a star, at the border if it lies outside.
  drawPlaced() {
    delete this.canvas.dataset.placed;
    if (this.placed === null || this.picture !== this.data.view(0) || this.deep) return;
    const { context, colors } = this;
    const { latent, index } = this.placed;
    const [x, y] = inFrame(this.frame(), latent[0], latent[1]);
    const radius = 10;
    context.beginPath();
    context.arc(x, y, radius + 2, 0, 2 * Math.PI);
    context.fillStyle = colors.paper;
    context.fill();
    drawMarker(context, '*', colors.classes[index], colors.ink, x, y, radius);
    context.lineWidth = 1.5;
    context.stroke();
    this.canvas.dataset.placed = JSON.stringify({ latent, index, x, y });
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

  // Zoom about a point of the canvas, by default the middle.
  zoomBy(factor, px, py) {
    const before = this.zoom;
    this.zoom = Math.max(0.5, Math.min(40, this.zoom * factor));
    if (px === undefined || this.deep) return;
    const box = this.frame();
    const gain = 1.08 * (1 / before - 1 / this.zoom);
    this.shift[0] += gain * ((px - box.left) / (box.right - box.left) - 0.5);
    this.shift[1] -= gain * ((py - box.top) / (box.bottom - box.top) - 0.5);
  }

  describe(row) {
    const { data } = this;
    const lines = [`row ${data.nameOf(row)}`];
    if (!data.isNew(row)) lines.push(`class ${data.classes[data.y[row]]}`);
    if (this.isWrong(row) || data.isNew(row)) lines.push(`predicted ${data.classes[this.predicted[row]]}`);
    if (!data.held[row]) lines.push('training row');
    if (this.far[row]) lines.push('far outside');
    return lines;
  }
}
