// Markers of the classes, drawn once each and then copied for every row.

const N_COLORS = 8;

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

function pageColors() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(name).trim();
  const classes = [];
  for (let k = 0; k < N_COLORS; k++) classes.push(read(`--c${k}`));
  return { classes, ink: read('--ink'), soft: read('--soft'), line: read('--line'), paper: read('--paper') };
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

// One small canvas for each class.
function makeSprites(markers, colors, reach, ratio) {
  const side = Math.ceil((2 * 1.25 * reach + 2) * ratio);
  return markers.map((marker, k) => {
    const sprite = document.createElement('canvas');
    sprite.width = side;
    sprite.height = side;
    const context = sprite.getContext('2d');
    context.scale(ratio, ratio);
    const middle = side / ratio / 2;
    drawMarker(context, marker, colors.classes[k % N_COLORS], colors.ink, middle, middle, reach);
    return sprite;
  });
}
