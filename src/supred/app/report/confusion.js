// The confusion matrix of one method as a table, and how each class fared.

function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

const inRows = (count) => `${count} ${count === 1 ? 'row' : 'rows'}`;

function confusionTable(classes, counts, choose) {
  const n = classes.length;
  const table = element('table');
  const head = table.createTHead().insertRow();
  head.append(element('th', 'true \u2193 predicted \u2192', { scope: 'col' }));
  for (const name of classes) head.append(element('th', name, { scope: 'col', title: name }));
  const body = table.createTBody();
  for (let i = 0; i < n; i++) {
    const row = body.insertRow();
    row.append(element('th', classes[i], { scope: 'row', title: classes[i] }));
    let total = 0;
    for (let j = 0; j < n; j++) total += counts[i * n + j];
    for (let j = 0; j < n; j++) {
      const count = counts[i * n + j];
      const share = total ? count / total : 0;
      const cell = row.insertCell();
      cell.title = `${classes[i]} predicted as ${classes[j]}: ${count} of ${total} (${(100 * share).toFixed(1)} %)`;
      if (!count) {
        cell.className = 'zero';
        cell.textContent = 0;
        continue;
      }
      cell.style.backgroundColor = `rgba(var(--heat), ${(0.08 + 0.92 * share).toFixed(3)})`;
      cell.className = (i === j ? 'hit' : 'miss') + (share > 0.55 ? ' strong' : '');
      const button = element('button', count, { type: 'button', class: 'cell', 'data-cell': `${i},${j}` });
      button.addEventListener('click', () => choose(i, j));
      cell.append(button);
    }
  }
  return table;
}

// Recall and precision, the classes that are missed most often first.
function classTable(classes, counts, method) {
  const table = element('table');
  const head = table.createTHead().insertRow();
  for (const name of ['class', 'rows', 'found', 'recall', 'predicted', 'precision']) head.append(element('th', name, { scope: 'col' }));
  const body = table.createTBody();
  const share = (part, all) => (all ? `${((100 * part) / all).toFixed(1)} %` : '\u2013');
  const recall = (k) => (counts[k] ? method.found[k] / counts[k] : 1);
  for (const k of [...classes.keys()].sort((a, b) => recall(a) - recall(b))) {
    const row = body.insertRow();
    row.append(element('th', classes[k], { scope: 'row' }));
    const cells = [counts[k], method.found[k], share(method.found[k], counts[k]), method.predictions[k], share(method.found[k], method.predictions[k])];
    for (const cell of cells) row.insertCell().textContent = cell;
  }
  return table;
}

function showConfusion(method, data, choose) {
  const { classes } = data;
  const place = document.getElementById('confusion');
  place.classList.toggle('many', classes.length > 16);
  const list = document.getElementById('confused');
  list.replaceChildren();
  document.getElementById('per-class').hidden = method.predicted === null;
  if (method.predicted === null) {
    place.replaceChildren(element('p', 'This method has no held-out predictions.'));
    return;
  }
  if (method.confusion) place.replaceChildren(confusionTable(classes, method.confusion, choose));
  else place.replaceChildren(element('p', `With ${classes.length} classes only the most frequent confusions are listed.`));
  document.getElementById('class-table').replaceChildren(classTable(classes, data.counts, method));
  if (!method.confused.length) {
    list.append(element('p', 'No row was misclassified.'));
    return;
  }
  list.append(element('h3', 'Most frequent confusions'));
  const items = element('ul');
  for (const [i, j, count] of method.confused) {
    const item = element('li', `${classes[i]} predicted as ${classes[j]}: ${inRows(count)} `);
    const button = element('button', 'show', { type: 'button', class: 'small' });
    button.addEventListener('click', () => choose(i, j));
    item.append(button);
    items.append(item);
  }
  list.append(items);
}
