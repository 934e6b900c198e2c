// Rows as a CSV file, made in the page.

function csvField(value) {
  const text = String(value);
  // A field that a spreadsheet would run as a formula is made plain text.
  const safe = /^[=+@\t\r]/.test(text) || /^-[^0-9.]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function csvOf(view, rows) {
  const { data, picture, predicted } = view;
  const round = (v) => Number(v.toPrecision(6));
  const head = ['row', data.target, 'predicted', 'held_out', ...picture.axes.map((_, k) => `dimension_${k + 1}`)];
  const lines = [head];
  for (const row of rows) {
    lines.push([
      data.nameOf(row), data.isNew(row) ? '' : data.classes[data.y[row]],
      predicted === null ? '' : data.classes[predicted[row]], data.held[row] ? 'yes' : 'no',
      ...picture.axes.map((axis) => round(axis[row])),
    ]);
  }
  return lines.map((line) => line.map(csvField).join(',')).join('\n') + '\n';
}

function saveCsv(view, rows, name) {
  const url = URL.createObjectURL(new Blob([csvOf(view, rows)], { type: 'text/csv' }));
  const link = element('a', '', { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
