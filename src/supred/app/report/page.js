// The page: switches, filters, pointer and keyboard.

const byId = (id) => document.getElementById(id);
const MOST_LISTED = 300;

function start(data) {
  const canvas = byId('latent');
  const view = new LatentView(canvas, data);
  view.predicted = null;
  let current = -1;
  let shown = -1;
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
  const moved = (change) => {
    change();
    hover(-1);
    redraw();
  };

  // --- rows that were chosen: by a cell of the confusion matrix or by name
  const choose = (rows, title) => moved(() => {
    view.chosen = rows === null ? null : new Set(rows);
    byId('chosen').hidden = rows === null;
    canvas.dataset.chosen = rows === null ? '' : rows.length;
    if (rows === null) return;
    byId('chosen-title').textContent = `${title}: ${inRows(rows.length)}`;
    const more = rows.length > MOST_LISTED ? `, and ${rows.length - MOST_LISTED} more` : '';
    byId('chosen-rows').textContent = rows.slice(0, MOST_LISTED).map(data.nameOf).join(', ') + more;
  });
  const rowsWhere = (test) => {
    const rows = [];
    for (let i = 0; i < data.y.length; i++) if (test(i)) rows.push(i);
    return rows;
  };
  const chooseCell = (i, j) => {
    const rows = rowsWhere((row) => data.y[row] === i && view.predicted[row] === j);
    choose(rows, `${data.classes[i]} predicted as ${data.classes[j]} by ${data.method(current).name}`);
    byId('pictures').scrollIntoView();
  };
  byId('chosen-clear').addEventListener('click', () => choose(null));
  byId('chosen-csv').addEventListener('click', () => saveCsv(view, [...view.chosen], 'rows.csv'));
  byId('csv').addEventListener('click', () => saveCsv(view, data.y.keys(), 'map.csv'));
  byId('find').addEventListener('input', (event) => {
    const wanted = event.target.value.trim().toLowerCase();
    if (!wanted) {
      choose(null);
      return;
    }
    const exact = rowsWhere((row) => data.nameOf(row).toLowerCase() === wanted);
    const rows = exact.length ? exact : rowsWhere((row) => data.nameOf(row).toLowerCase().includes(wanted));
    choose(rows, `named ${event.target.value.trim()}`);
    if (rows.length === 1) {
      view.draw();
      hover(rows[0]);
    }
  });

  // --- the picture shown: the map, or a method's latent space
  const pairs = (n) => (n === 3 ? [[0, 1], [0, 2], [1, 2]] : [[0, 1]]);
  const syncControls = () => {
    const n = view.picture.axes.length;
    byId('flat').setAttribute('aria-pressed', String(!view.deep));
    byId('deep').setAttribute('aria-pressed', String(view.deep));
    byId('deep-switch').hidden = n < 3;
    byId('pair-label').hidden = n < 3 || view.deep;
    byId('regions-label').hidden = !view.picture.regions || view.deep;
    byId('wrong-label').hidden = view.predicted === null;
    const all = view.picture.dimensions;
    byId('some').textContent = all > n ? `Of ${all} latent dimensions the ${n} directions are shown that separate the classes best. ` : '';
  };
  const showPicture = (k) => {
    const change = k !== shown;
    shown = k;
    view.setPicture(data.view(k));
    const n = view.picture.axes.length;
    if (change) {
      byId('pair').replaceChildren(...pairs(n).map(([a, b]) => element('option', `${a + 1} and ${b + 1}`)));
      byId('pair').selectedIndex = Math.max(0, pairs(n).findIndex(([a, b]) => a === view.pair[0] && b === view.pair[1]));
    }
    byId('picture').selectedIndex = k;
    byId('h-latent').textContent = view.picture.name.charAt(0).toUpperCase() + view.picture.name.slice(1);
    byId('map-line').hidden = data.views[k].method !== undefined;
    canvas.setAttribute('aria-label', `${view.picture.name}, ${data.y.length} rows`);
    canvas.dataset.picture = view.picture.name;
    syncControls();
    moved(() => {});
  };
  byId('picture').append(...data.views.map((one) => element('option', one.name)));
  byId('picture-label').hidden = data.views.length < 2;
  byId('picture').addEventListener('change', (event) => showPicture(event.target.selectedIndex));

  // --- the method whose errors are shown
  const show = (k) => {
    const method = data.method(k);
    current = k;
    view.predicted = method.predicted;
    choose(null);
    for (const button of byId('methods').children) {
      button.setAttribute('aria-pressed', String(Number(button.dataset.k) === k));
    }
    for (const cell of document.querySelectorAll('th[data-pick]')) {
      cell.parentElement.classList.toggle('shown', Number(cell.dataset.pick) === k);
    }
    for (const part of document.querySelectorAll('.of-method')) part.hidden = Number(part.dataset.method) !== k;
    for (const heading of document.querySelectorAll('.of-method h3')) heading.hidden = true; // said above
    for (const place of document.querySelectorAll('small.of')) place.textContent = `of ${method.name}`;
    for (const place of document.querySelectorAll('.of-name')) place.textContent = method.name;
    canvas.dataset.method = method.name;
    if (view.picture) syncControls();
    showConfusion(method, data, chooseCell);
    redraw();
  };
  for (const cell of document.querySelectorAll('th[data-pick]')) {
    const k = Number(cell.dataset.pick);
    const method = data.methods[k];
    if (!method.shift) continue; // nothing to show of it
    const button = element('button', method.name, { type: 'button', 'data-k': k });
    button.addEventListener('click', () => show(k));
    byId('methods').append(button);
    const pick = element('button', method.name, { type: 'button', class: 'pick' });
    pick.addEventListener('click', () => {
      const own = data.views.findIndex((one) => one.method === k);
      show(k);
      if (own >= 0 && shown > 0) showPicture(own);
      byId('pictures').scrollIntoView();
    });
    cell.replaceChildren(pick);
  }
  for (const place of document.querySelectorAll('.cells')) {
    const [i, j] = place.dataset.pair.split(',').map(Number);
    for (const [a, b] of [[i, j], [j, i]]) {
      const button = element('button', `show ${data.classes[a]} taken for ${data.classes[b]}`, { type: 'button', class: 'small' });
      button.addEventListener('click', () => {
        show(Number(document.body.dataset.first));
        chooseCell(a, b);
      });
      place.append(button, ' ');
    }
  }

  // --- the view
  const setDeep = (deep) => moved(() => {
    view.deep = deep;
    view.resetView();
    syncControls();
  });
  byId('flat').addEventListener('click', () => setDeep(false));
  byId('deep').addEventListener('click', () => setDeep(true));
  byId('pair').addEventListener('change', (event) => moved(() => {
    view.pair = pairs(view.picture.axes.length)[event.target.selectedIndex];
    view.resetView();
  }));
  const onSwitch = (id, set) => byId(id).addEventListener('change', (event) => moved(() => set(event.target.checked)));
  onSwitch('regions', (on) => { view.showRegions = on; });
  onSwitch('names', (on) => { view.showNames = on; });
  onSwitch('training', (on) => { view.showTraining = on; });
  onSwitch('wrong', (on) => { view.onlyWrong = on; });
  byId('training-label').hidden = data.held.every((held) => held);
  byId('closer').addEventListener('click', () => moved(() => view.zoomBy(1.4)));
  byId('farther').addEventListener('click', () => moved(() => view.zoomBy(1 / 1.4)));
  byId('reset').addEventListener('click', () => moved(() => view.resetView()));

  // --- classes
  const glyphs = [];
  const boxes = data.classes.map((name, k) => {
    const label = element('label');
    const box = element('input', undefined, { type: 'checkbox', 'data-class': k });
    box.checked = true;
    box.addEventListener('change', () => moved(() => { view.shownClasses[k] = box.checked ? 1 : 0; }));
    const glyph = element('canvas', undefined, { width: 32, height: 32, 'aria-hidden': 'true' });
    glyphs.push(glyph);
    label.append(box, glyph, element('span', name, { class: 'name' }), element('span', data.counts[k], { class: 'count' }));
    byId('classes').append(label);
    return box;
  });
  const drawGlyphs = () => glyphs.forEach((glyph, k) => {
    const context = glyph.getContext('2d');
    context.clearRect(0, 0, 32, 32);
    drawMarker(context, data.markers[k], view.colors.classes[k], view.colors.ink, 16, 16, 10);
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
  canvas.addEventListener('wheel', (event) => {
    if (document.activeElement !== canvas) return; // the page scrolls
    event.preventDefault();
    moved(() => view.zoomBy(event.deltaY < 0 ? 1.15 : 1 / 1.15, event.offsetX, event.offsetY));
  }, { passive: false });

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

  startPlacing(data, view, () => {
    if (shown !== 0 && view.placed !== null) showPicture(0);
    redraw();
  });

  const first = Number(document.body.dataset.first);
  if (byId('methods')) byId('methods').hidden = byId('methods').children.length === 0;
  for (const part of document.querySelectorAll('.scripted')) {
    part.hidden = part.id === 'pictures' ? data.views.length === 0 : !(first >= 0 && data.methods[first].shift);
  }
  if (data.views.length) {
    view.resize();
    drawGlyphs();
    showPicture(0);
  }
  if (first >= 0 && data.methods[first].shift) show(first);
  else if (data.views.length) {
    view.predicted = view.picture.predicted;
    for (const place of document.querySelectorAll('.of-name')) place.textContent = 'the map';
    syncControls();
  }
  view.draw();
  // For tests: where a row lies on the canvas, and the CSV of all rows.
  canvas.whereIs = (row) => ({ x: view.x[row], y: view.y[row], visible: Boolean(view.visible[row]) });
  canvas.csv = () => csvOf(view, data.y.keys());
  document.documentElement.dataset.ready = 'true';
}

readData().then(start).catch((error) => {
  byId('failure').hidden = false;
  byId('failure').textContent = `The pictures cannot be shown: ${error.message}. A browser of 2023 or later is needed.`;
});
