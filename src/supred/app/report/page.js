// The page: switches, filters, pointer and keyboard.

const byId = (id) => document.getElementById(id);

function start(data) {
  const canvas = byId('latent');
  const view = new LatentView(canvas, data);
  let current = -1;
  let waiting = false;

  const redraw = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      view.draw();
    });
  };

  // --- a row under the pointer or chosen by keyboard
  const tip = byId('tip');
  const hover = (row) => {
    if (row === view.hovered && !tip.hidden === row >= 0) return;
    view.hovered = row;
    tip.hidden = row < 0;
    if (row >= 0) {
      const lines = view.describe(row);
      tip.textContent = lines.join('\n');
      byId('point').textContent = lines.join(', ');
      canvas.dataset.row = row;
      const left = Math.min(view.x[row] + 12, view.width - tip.offsetWidth - 4);
      const below = view.y[row] + 14 + tip.offsetHeight < view.height;
      tip.style.left = `${Math.max(left, 4)}px`;
      tip.style.top = `${below ? view.y[row] + 14 : view.y[row] - tip.offsetHeight - 12}px`;
    } else {
      byId('point').textContent = '\u00a0';
      delete canvas.dataset.row;
    }
    redraw();
  };

  // --- the method shown
  const pairs = (n) => (n === 3 ? [[0, 1], [0, 2], [1, 2]] : [[0, 1]]);
  const syncControls = () => {
    const n = view.method.axes.length;
    byId('flat').setAttribute('aria-pressed', String(!view.deep));
    byId('deep').setAttribute('aria-pressed', String(view.deep));
    byId('flat').disabled = n === 0;
    byId('deep').disabled = n < 3;
    byId('deep').title = n < 3 ? 'This latent space has fewer than three dimensions' : '';
    byId('pair-label').hidden = n < 3 || view.deep;
    byId('regions-label').hidden = !view.method.regions || view.deep;
    byId('wrong-label').hidden = view.method.predicted === null;
    byId('empty').hidden = n > 0;
    const all = view.method.components;
    byId('some').textContent = n && all > n ? `The first ${n} of ${all} latent dimensions are shown. ` : '';
  };
  const show = (k) => {
    const method = data.method(k);
    const change = k !== current;
    current = k;
    hover(-1);
    view.setMethod(method);
    if (change) {
      const options = pairs(method.axes.length).map(([a, b]) => element('option', `${a + 1} and ${b + 1}`));
      byId('pair').replaceChildren(...options);
      byId('pair').selectedIndex = Math.max(0, pairs(method.axes.length).findIndex(([a, b]) => a === view.pair[0] && b === view.pair[1]));
    }
    for (const button of byId('methods').children) {
      button.setAttribute('aria-pressed', String(Number(button.dataset.k) === k));
    }
    for (const cell of document.querySelectorAll('th[data-pick]')) {
      cell.parentElement.classList.toggle('shown', Number(cell.dataset.pick) === k);
    }
    for (const part of document.querySelectorAll('.of-method')) part.hidden = Number(part.dataset.method) !== k;
    for (const heading of document.querySelectorAll('.of-method h3')) heading.hidden = true; // said above
    for (const place of document.querySelectorAll('small.of')) place.textContent = `of ${method.name}`;
    canvas.setAttribute('aria-label', `Latent space of ${method.name}, ${data.y.length} rows`);
    canvas.dataset.method = method.name;
    syncControls();
    showConfusion(method, data.classes);
    redraw();
  };

  const inOrder = Array.from(document.querySelectorAll('th[data-pick]'), (cell) => Number(cell.dataset.pick));
  for (const k of inOrder) {
    const method = data.methods[k];
    const cell = document.querySelector(`th[data-pick="${k}"]`);
    if (!method.latent && !method.shift) continue; // nothing to show of it
    const button = element('button', method.name, { type: 'button', 'data-k': k });
    button.addEventListener('click', () => show(k));
    byId('methods').append(button);
    const pick = element('button', method.name, { type: 'button', class: 'pick' });
    pick.addEventListener('click', () => {
      show(k);
      byId('pictures').scrollIntoView();
    });
    cell.replaceChildren(pick);
  }

  // --- the view
  const setDeep = (deep) => {
    view.deep = deep;
    view.resetView();
    hover(-1);
    syncControls();
    redraw();
  };
  byId('flat').addEventListener('click', () => setDeep(false));
  byId('deep').addEventListener('click', () => setDeep(true));
  byId('pair').addEventListener('change', (event) => {
    view.pair = pairs(view.method.axes.length)[event.target.selectedIndex];
    view.resetView();
    hover(-1);
    redraw();
  });
  byId('regions').addEventListener('change', (event) => {
    view.showRegions = event.target.checked;
    redraw();
  });
  byId('wrong').addEventListener('change', (event) => {
    view.onlyWrong = event.target.checked;
    hover(-1);
    redraw();
  });
  const moved = (change) => {
    change();
    hover(-1);
    redraw();
  };
  byId('closer').addEventListener('click', () => moved(() => view.zoomBy(1.4)));
  byId('farther').addEventListener('click', () => moved(() => view.zoomBy(1 / 1.4)));
  byId('reset').addEventListener('click', () => moved(() => view.resetView()));

  // --- classes
  const counts = new Array(data.classes.length).fill(0);
  for (const k of data.y) counts[k] += 1;
  const glyphs = [];
  const boxes = data.classes.map((name, k) => {
    const label = element('label');
    const box = element('input', undefined, { type: 'checkbox', 'data-class': k });
    box.checked = true;
    box.addEventListener('change', () => moved(() => { view.shownClasses[k] = box.checked ? 1 : 0; }));
    const glyph = element('canvas', undefined, { width: 32, height: 32, 'aria-hidden': 'true' });
    glyphs.push(glyph);
    label.append(box, glyph, element('span', name, { class: 'name' }), element('span', counts[k], { class: 'count' }));
    byId('classes').append(label);
    return box;
  });
  const drawGlyphs = () => glyphs.forEach((glyph, k) => {
    const context = glyph.getContext('2d');
    context.clearRect(0, 0, 32, 32);
    drawMarker(context, data.markers[k], view.colors.classes[k % N_COLORS], view.colors.ink, 16, 16, 10);
  });
  const setAll = (on) => moved(() => {
    view.shownClasses.fill(on ? 1 : 0);
    for (const box of boxes) box.checked = on;
  });
  byId('all').addEventListener('click', () => setAll(true));
  byId('none').addEventListener('click', () => setAll(false));

  // --- pointer
  let held = null;
  canvas.addEventListener('pointerdown', (event) => {
    held = { x: event.clientX, y: event.clientY };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointermove', (event) => {
    if (held) {
      const { clientX: x, clientY: y } = event;
      canvas.classList.add('turning');
      moved(() => view.drag(x - held.x, y - held.y));
      held = { x, y };
      return;
    }
    hover(view.nearest(event.offsetX, event.offsetY, 12));
  });
  const letGo = (event) => {
    held = null;
    canvas.classList.remove('turning');
    if (event.type === 'pointerup') hover(view.nearest(event.offsetX, event.offsetY, event.pointerType === 'touch' ? 24 : 12));
  };
  canvas.addEventListener('pointerup', letGo);
  canvas.addEventListener('pointercancel', letGo);
  canvas.addEventListener('pointerleave', () => { if (!held) hover(-1); });
  canvas.addEventListener('dblclick', () => moved(() => view.resetView()));

  // --- keyboard
  const keys = {
    ArrowLeft: () => moved(() => view.drag(-12, 0)), ArrowRight: () => moved(() => view.drag(12, 0)),
    ArrowUp: () => moved(() => view.drag(0, -12)), ArrowDown: () => moved(() => view.drag(0, 12)),
    '+': () => moved(() => view.zoomBy(1.25)), '=': () => moved(() => view.zoomBy(1.25)),
    '-': () => moved(() => view.zoomBy(0.8)), 0: () => moved(() => view.resetView()),
    n: () => hover(view.step(1)), p: () => hover(view.step(-1)), Escape: () => hover(-1),
  };
  canvas.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });

  // --- light and dark, size, print
  const recolor = () => {
    view.recolor();
    drawGlyphs();
    view.draw();
  };
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', recolor);
  window.addEventListener('beforeprint', () => {
    document.documentElement.classList.add('light');
    recolor();
  });
  window.addEventListener('afterprint', () => {
    document.documentElement.classList.remove('light');
    recolor();
  });
  new ResizeObserver(() => {
    view.resize();
    view.draw();
  }).observe(canvas);

  byId('methods').hidden = byId('methods').children.length === 0;
  for (const part of document.querySelectorAll('.scripted')) part.hidden = byId('methods').hidden;
  if (byId('methods').hidden) return;
  view.resize();
  drawGlyphs();
  show(Number(document.body.dataset.first));
  view.draw();
  // For tests: where a row lies on the canvas.
  canvas.whereIs = (row) => ({ x: view.x[row], y: view.y[row], visible: Boolean(view.visible[row]) });
  document.documentElement.dataset.ready = 'true';
}

readData().then(start).catch((error) => {
  byId('failure').hidden = false;
  byId('failure').textContent = `The pictures cannot be shown: ${error.message}. A browser of 2023 or later is needed.`;
});
