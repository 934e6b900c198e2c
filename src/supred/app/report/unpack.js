// The arrays of the page: base64 of zlib, each array stored byte plane by byte plane.

async function unpackBytes(base64) {
  const text = atob(base64);
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function readArray(bytes, place) {
  const { at, length } = place;
  if (place.bytes === 1) return bytes.subarray(at, at + length);
  const result = place.bytes === 2 ? new Uint16Array(length) : new Uint32Array(length);
  for (let plane = 0; plane < place.bytes; plane++) {
    const start = at + plane * length;
    for (let i = 0; i < length; i++) result[i] += bytes[start + i] * 2 ** (8 * plane);
  }
  return result;
}

// Coordinates from whole numbers of steps; the greatest number marks a row that has none. Rows
// outside the limits have their coordinates beside.
function readCoordinates(bytes, axis, bits) {
  const steps = readArray(bytes, axis.steps);
  const greatest = 2 ** bits - 2;
  const values = new Float64Array(steps.length);
  for (let i = 0; i < steps.length; i++) {
    const share = steps[i] / greatest;
    values[i] = steps[i] > greatest ? NaN : axis.low * (1 - share) + axis.high * share;
  }
  const [rows, exact] = axis.outside;
  rows.forEach((row, k) => { values[row] = exact[k]; });
  return values;
}

function readPredictions(bytes, place, data) {
  const shift = readArray(bytes, place);
  const predicted = new Uint32Array(shift.length);
  for (let i = 0; i < shift.length; i++) predicted[i] = (data.y[i] + shift[i]) % data.classes.length;
  return predicted;
}

function readView(bytes, view, data) {
  const result = { name: view.name, dimensions: view.dimensions, axes: [], limits: [], regions: null, predicted: null };
  for (const axis of view.axes) {
    result.axes.push(readCoordinates(bytes, axis, data.bits));
    result.limits.push([axis.low, axis.high]);
  }
  if (view.shift) result.predicted = readPredictions(bytes, view.shift, data);
  if (view.regions) result.regions = { ...view.regions, classes: readArray(bytes, view.regions.classes) };
  return result;
}

function readMethod(bytes, method, data) {
  const result = { name: method.name, predicted: null, confusion: null, confused: method.confused || [] };
  if (!method.shift) return result;
  result.predicted = readPredictions(bytes, method.shift, data);
  result.found = readArray(bytes, method.found);
  result.predictions = readArray(bytes, method.predictions);
  if (method.confusion) result.confusion = readArray(bytes, method.confusion);
  return result;
}

// Each of a list is unpacked when it is first shown.
function lazily(list, read) {
  const made = new Map();
  return (k) => {
    if (!made.has(k)) made.set(k, read(list[k]));
    return made.get(k);
  };
}

async function readData() {
  const data = JSON.parse(document.getElementById('data').textContent);
  const bytes = await unpackBytes(document.getElementById('arrays').textContent.trim());
  data.y = readArray(bytes, data.y);
  data.held = readArray(bytes, data.held);
  if (data.rows.names) {
    data.names = JSON.parse(new TextDecoder().decode(readArray(bytes, data.rows.names)));
  }
  data.nameOf = (row) => (data.names ? data.names[row] : String(row + data.rows.first));
  data.isNew = (row) => row >= data.y.length - data.n_new;
  data.view = lazily(data.views, (view) => readView(bytes, view, data));
  data.method = lazily(data.methods, (method) => readMethod(bytes, method, data));
  return data;
}
