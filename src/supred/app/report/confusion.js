// The confusion matrix of one method as a table.

function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function confusionTable(classes, counts) {
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
      cell.textContent = count;
      cell.title = `${classes[i]} predicted as ${classes[j]}: ${count} of ${total} (${(100 * share).toFixed(1)} %)`;
      if (!count) cell.className = 'zero';
      else {
        cell.style.backgroundColor = `rgba(var(--heat), ${(0.08 + 0.92 * share).toFixed(3)})`;
        cell.className = (i === j ? 'hit' : 'miss') + (share > 0.55 ? ' strong' : '');
      }
    }
  }
  return table;
}

function showConfusion(method, classes) {
  const place = document.getElementById('confusion');
  place.classList.toggle('many', classes.length > 16);
  const list = document.getElementById('confused');
  list.replaceChildren();
  if (method.predicted === null) {
    place.replaceChildren(element('p', 'This method has no held-out predictions.'));
    return;
  }
  if (method.confusion) place.replaceChildren(confusionTable(classes, method.confusion));
  else place.replaceChildren(element('p', `With ${classes.length} classes only the most frequent confusions are listed.`));
  if (!method.confused.length) {
    list.append(element('p', 'No row was misclassified.'));
    return;
  }
  list.append(element('h3', 'Most frequent confusions'));
  const items = element('ul');
  for (const [i, j, count] of method.confused) {
    items.append(element('li', `${classes[i]} predicted as ${classes[j]}: ${count} ${count === 1 ? 'row' : 'rows'}`));
  }
  list.append(items);
}
