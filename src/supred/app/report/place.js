// A row of the reader's own: pasted or set by sliders, placed on the map by its network.

const FIRST_COLUMNS = 12;
const MISSING = new Set(['', '?', 'na', 'nan', 'null', 'none']);
const TRUTHS = { true: 1, false: 0 };

// The fields of a line of CSV or TSV; a quoted field may hold the separator, and a quote twice.
function fieldsOf(line, separator) {
  const fields = [''];
  const pieces = line.split('"');
  pieces.forEach((piece, k) => {
    // Pieces outside quotes have even places; an empty one between two quoted ones is a quote.
    const inside = k % 2 === 1;
    if (!inside && k > 0 && piece === '' && k < pieces.length - 1) fields[fields.length - 1] += '"';
    else if (inside) fields[fields.length - 1] += piece;
    else {
      const [first, ...others] = piece.split(separator);
      fields[fields.length - 1] += first;
      fields.push(...others);
    }
  });
  return fields.map((field) => field.trim());
}

// The values of a pasted row by column: one line in the order of the table, or a line of names and
// a line of values.
function pastedRow(text, columns) {
  const lines = text.split(/\r?\n/).filter((line) => line.trim());
  const separator = ['\t', ';', ','].find((char) => lines[0].includes(char)) || ',';
  const [first, second] = lines.map((line) => fieldsOf(line, separator));
  const row = Object.create(null);
  if (second) {
    const known = columns.filter(({ name }) => first.includes(name));
    if (!known.length) throw new RangeError('the first of the two lines names no column of the table');
    for (const { name } of known) row[name] = second[first.indexOf(name)] ?? '';
    return row;
  }
  if (first.length !== columns.length) {
    throw new RangeError(
      `${first.length} values for ${columns.length} columns (${columns.slice(0, 4).map(({ name }) => name).join(', ')}${columns.length > 4 ? ', \u2026' : ''}); leave out the target, or paste the line of names too`);
  }
  columns.forEach(({ name }, k) => { row[name] = first[k]; });
  return row;
}

function numberOf(text, name) {
  const plain = String(text).trim().toLowerCase();
  if (MISSING.has(plain)) return null;
  const number = plain in TRUTHS ? TRUTHS[plain] : Number(plain);
  if (!Number.isFinite(number)) throw new RangeError(`"${text}" is not a number (${name})`);
  return number;
}

const shortNumber = (value) => (value === null ? 'missing' : String(Number(value.toPrecision(4))));

// A control for one column; `set` shows a value in it.
function columnControl(column, changed) {
  const label = element('label', undefined, { class: 'slider' });
  label.append(element('span', column.name, { class: 'name', title: column.name }));
  if (column.values) {
    const select = element('select', undefined, { 'data-column': column.name });
    select.append(...column.values.map((value) => element('option', value || '(empty)', { value })));
    select.addEventListener('change', () => changed(column.name, select.value));
    label.append(select);
    return { label, set: (value) => { select.value = value ?? ''; } };
  }
  const range = element('input', undefined, { type: 'range', min: column.low, max: column.high, step: 'any', 'data-column': column.name });
  const shown = element('output');
  range.addEventListener('input', () => {
    shown.textContent = shortNumber(Number(range.value));
    changed(column.name, Number(range.value));
  });
  label.append(range, shown);
  const set = (value) => {
    range.value = value ?? (column.low + column.high) / 2;
    shown.textContent = shortNumber(value);
  };
  return { label, set };
}

// What the network says of a row, in words.
function answerText(found, data, limits) {
  const share = (p) => `${(100 * p).toFixed(p > 0.995 || p < 0.005 ? 1 : 0)} %`;
  let text = `This row falls to ${data.classes[found.label]}`;
  if (found.probabilities) {
    const order = [...found.probabilities.keys()].sort((a, b) => found.probabilities[b] - found.probabilities[a]);
    text += ` (${share(found.probabilities[order[0]])}), before ${data.classes[data.model.network.classes[order[1]]]} (${share(found.probabilities[order[1]])})`;
  }
  const outside = found.latent.some((value, k) => value < limits[k][0] || value > limits[k][1]);
  return `${text}.${outside ? ' It lies outside the rows shown: the star is at the border.' : ''}`;
}

function startPlacing(data, view, redraw) {
  if (!data.model || !data.views.length) return;
  const { columns } = data.model;
  const model = modelOf(data.model.network);
  const row = Object.create(null);
  const place = () => {
    try {
      const found = model.predict(row);
      view.placed = { latent: found.latent, index: found.label };
      document.getElementById('placed').textContent = answerText(found, data, data.view(0).limits);
    } catch (error) {
      view.placed = null;
      document.getElementById('placed').textContent = `Not placed: ${error.message}.`;
    }
    redraw();
  };
  const changed = (name, value) => {
    row[name] = value;
    place();
  };
  const byWeight = [...columns].sort((a, b) => b.weight - a.weight);
  const controls = new Map(byWeight.map((column) => [column.name, columnControl(column, changed)]));
  const box = document.getElementById('sliders');
  byWeight.forEach(({ name }, k) => {
    const { label } = controls.get(name);
    label.hidden = k >= FIRST_COLUMNS;
    box.append(label);
  });
  const more = document.getElementById('more-columns');
  more.hidden = columns.length <= FIRST_COLUMNS;
  more.textContent = `show all ${columns.length} columns`;
  more.addEventListener('click', () => {
    for (const { label } of controls.values()) label.hidden = false;
    more.hidden = true;
  });
  const setRow = (values) => {
    for (const { name } of columns) {
      row[name] = values[name] ?? null;
      controls.get(name).set(row[name]);
    }
    place();
  };

  const typical = document.getElementById('typical');
  const perClass = columns[0].typical.length > 1;
  const names = perClass ? data.classes.slice(0, columns[0].typical.length) : ['all rows'];
  typical.append(...names.map((name) => element('option', name)));
  const setTypical = () => setRow(
    Object.fromEntries(columns.map((column) => [column.name, column.typical[typical.selectedIndex]])));
  typical.addEventListener('change', setTypical);
  document.getElementById('paste').addEventListener('input', (event) => {
    if (!event.target.value.trim()) return;
    try {
      const pasted = pastedRow(event.target.value, columns);
      for (const { name, values } of columns) if (!values && name in pasted) pasted[name] = numberOf(pasted[name], name);
      setRow(pasted);
    } catch (error) {
      view.placed = null;
      document.getElementById('placed').textContent = `Not placed: ${error.message}.`;
      redraw();
    }
  });
  const panel = document.getElementById('place');
  panel.hidden = false;
  panel.addEventListener('toggle', () => {
    if (panel.open && view.placed === null) setTypical();
    else if (!panel.open) view.placed = null;
    redraw();
  });
}
