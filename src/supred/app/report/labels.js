// Names of the classes at their places, none upon another.

function median(values) {
  values.sort((a, b) => a - b);
  return values[Math.floor(values.length / 2)];
}

// Where each class lies: of its rows the one nearest to their medians.
function classPlaces(view, rows) {
  const byClass = new Map();
  for (const row of rows) {
    const k = view.data.y[row];
    if (!byClass.has(k)) byClass.set(k, []);
    byClass.get(k).push(row);
  }
  const places = [];
  for (const [k, members] of byClass) {
    const mx = median(members.map((row) => view.x[row]));
    const my = median(members.map((row) => view.y[row]));
    let best = members[0];
    let least = Infinity;
    for (const row of members) {
      const distance = (view.x[row] - mx) ** 2 + (view.y[row] - my) ** 2;
      if (distance < least) [best, least] = [row, distance];
    }
    places.push({ k, x: view.x[best], y: view.y[best], size: members.length });
  }
  return places.sort((a, b) => b.size - a.size);
}

const STEPS = [[0, 0], [0, -1], [0, 1], [0, -2], [0, 2], [0.6, -1], [-0.6, -1], [0.6, 1], [-0.6, 1], [1.1, 0], [-1.1, 0], [0, -3], [0, 3]];

function drawLabels(view, rows, box) {
  const { context, data, colors } = view;
  const many = data.classes.length > 30;
  context.save();
  context.font = `600 ${many ? 11 : 13}px system-ui, sans-serif`;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.lineJoin = 'round';
  const height = many ? 12 : 15;
  const taken = [];
  const labels = [];
  for (const { k, x, y } of classPlaces(view, rows)) {
    if (data.n_new && k === data.classes.length - 1) continue; // new rows lie anywhere
    const name = data.classes[k].length > 18 ? `${data.classes[k].slice(0, 17)}\u2026` : data.classes[k];
    const width = context.measureText(name).width + 6;
    for (const [dx, dy] of STEPS) {
      const px = Math.max(box.left + width / 2, Math.min(box.right - width / 2, x + dx * width));
      const py = Math.max(box.top + height / 2, Math.min(box.bottom - height / 2, y + dy * height));
      const free = taken.every((t) => Math.abs(t.px - px) > (t.width + width) / 2 || Math.abs(t.py - py) >= height);
      if (!free) continue;
      taken.push({ px, py, width });
      labels.push([name, px, py]);
      break;
    }
  }
  context.lineWidth = 4;
  context.strokeStyle = colors.paper;
  context.fillStyle = colors.ink;
  for (const [name, px, py] of labels) {
    context.strokeText(name, px, py);
    context.fillText(name, px, py);
  }
  context.restore();
  return labels.length;
}
