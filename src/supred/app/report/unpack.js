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

// Coordinates of whole numbers; the greatest number marks a row that has none.
function readCoordinates(bytes, axis, bits) {
  const codes = readArray(bytes, axis.codes);
  const greatest = 2 ** bits - 2;
  const values = new Float64Array(codes.length);
  for (let i = 0; i < codes.length; i++) {
    const share = codes[i] / greatest;
    values[i] = codes[i] > greatest ? NaN : axis.low * (1 - share) + axis.high * share;
  }
  return values;
}

function readMethod(bytes, method, data) {
  const result = { name: method.name, axes: [], predicted: null, confusion: null, regions: null };
  result.confused = method.confused || [];
  result.components = method.components || 0;
  for (const axis of method.latent || []) result.axes.push(readCoordinates(bytes, axis, data.bits));
  if (method.shift) {
    const shift = readArray(bytes, method.shift);
    result.predicted = new Uint32Array(shift.length);
    for (let i = 0; i < shift.length; i++) result.predicted[i] = (data.y[i] + shift[i]) % data.classes.length;
  }
  if (method.confusion) result.confusion = readArray(bytes, method.confusion);
  if (method.regions) {
    result.regions = { ...method.regions, codes: readArray(bytes, method.regions.codes) };
  }
  return result;
}

async function readData() {
  const data = JSON.parse(document.getElementById('data').textContent);
  const bytes = await unpackBytes(document.getElementById('arrays').textContent.trim());
  data.y = readArray(bytes, data.y);
  if (data.rows.names) {
    data.names = JSON.parse(new TextDecoder().decode(readArray(bytes, data.rows.names)));
  }
  data.nameOf = (row) => (data.names ? data.names[row] : String(row + data.rows.first));
  // A method is unpacked when it is first shown.
  const read = new Map();
  data.method = (k) => {
    if (!read.has(k)) read.set(k, readMethod(bytes, data.methods[k], data));
    return read.get(k);
  };
  return data;
}
