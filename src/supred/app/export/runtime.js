// Each step takes an array of numbers and returns a new one.
const MODEL_STEPS = {
  fill: (x, values) => x.map((value, j) => (Number.isNaN(value) ? values[j] : value)),
  scale: (x, shift, scale) => x.map((value, j) => (value - shift[j]) * scale[j]),
  clip: (x, low, high) => x.map((value) => Math.min(Math.max(value, low), high)),
  select: (x, columns) => {
    if (!x.every(Number.isFinite)) throw new RangeError("a number of the row is missing");
    return Float64Array.from(columns, (j) => x[j]);
  },
  affine: (x, matrix, offset) => {
    const result = Float64Array.from(offset);
    const n = result.length;
    for (let i = 0; i < x.length; i++) {
      const value = x[i];
      if (value === 0) continue; // rows often hold many zeros
      for (let j = 0, place = i * n; j < n; j++, place++) result[j] += value * matrix[place];
    }
    return result;
  },
  squaredDistances: (x, centers) => {
    const n = x.length;
    const result = new Float64Array(centers.length / n);
    for (let m = 0, place = 0; m < result.length; m++, place += n) {
      // Two sums that do not wait for each other.
      let even = n % 2 ? (x[n - 1] - centers[place + n - 1]) ** 2 : 0;
      let odd = 0;
      for (let j = 0; j + 1 < n; j += 2) {
        const first = x[j] - centers[place + j];
        const second = x[j + 1] - centers[place + j + 1];
        even += first * first;
        odd += second * second;
      }
      result[m] = even + odd;
    }
    return result;
  },
  gaussians: (x, centers, gammas) => {
    const values = MODEL_STEPS.squaredDistances(x, centers);
    for (let m = 0; m < values.length; m++) values[m] = Math.exp(-gammas[m] * values[m]);
    return values;
  },
  polynomials: (x, centers, gamma, coef0, degree) => {
    const result = new Float64Array(centers.length / x.length);
    for (let m = 0, place = 0; m < result.length; m++) {
      let inner = 0;
      for (let j = 0; j < x.length; j++) inner += x[j] * centers[place++];
      result[m] = (gamma * inner + coef0) ** degree;
    }
    return result;
  },
  unitLength: (x) => {
    const length = Math.sqrt(x.reduce((sum, value) => sum + value * value, 0)) || 1;
    return x.map((value) => value / length);
  },
  absolute: (x) => x.map(Math.abs),
  votes: (x, n) => {
    const votes = new Float64Array(n);
    const summed = new Float64Array(n);
    for (let i = 0, pair = 0; i < n; i++) {
      for (let j = i + 1; j < n; j++, pair++) {
        votes[x[pair] > 0 ? i : j] += 1;
        summed[i] += x[pair];
        summed[j] -= x[pair];
      }
    }
    return votes.map((value, k) => value + summed[k] / (3 * (Math.abs(summed[k]) + 1)));
  },
};

// Numbers of single or double precision, from base64 and little-endian bytes.
function decoded(value) {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
  const wide = "f64" in value;
  const bytes = Uint8Array.from(atob(wide ? value.f64 : value.f32), (char) => char.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  if (wide) return Float64Array.from({ length: bytes.length / 8 }, (_, k) => view.getFloat64(8 * k, true));
  return Float32Array.from({ length: bytes.length / 4 }, (_, k) => view.getFloat32(4 * k, true));
}

// The columns, classes and known texts of a model, and its `predict`.
function modelOf(MODEL) {
  const { columns, classes, categories } = MODEL;
  const toLatent = MODEL.toLatent.map(([name, ...values]) => [name, ...values.map(decoded)]);
  const toScores = MODEL.toScores.map(([name, ...values]) => [name, ...values.map(decoded)]);

  const run = (steps, x) => steps.reduce((y, [name, ...values]) => MODEL_STEPS[name](y, ...values), x);

  function valueOf(row, column) {
    // Every object has a "constructor", which is no value of a row.
    const missing = !(column in row) || (column in Object.prototype && !Object.hasOwn(row, column));
    if (missing) throw new RangeError(`the row has no "${column}"; null is a gap`);
    return row[column];
  }

  function finiteNumber(value, column) {
    if (value === null || value === undefined || value === "" || Number.isNaN(value)) return NaN;
    const number = typeof value === "object" ? NaN : Number(value);
    if (!Number.isFinite(number)) throw new RangeError(`${column} = "${value}" is not a finite number`);
    return number;
  }

  function encoded(row) {
    const values = Array.isArray(row) || ArrayBuffer.isView(row) ? row : columns.map((c) => valueOf(row, c));
    if (values.length !== columns.length) {
      throw new RangeError(`a row has ${columns.length} values, got ${values.length}`);
    }
    const x = [];
    for (let j = 0; j < MODEL.nNumbers; j++) x.push(finiteNumber(values[j], columns[j]));
    categories.forEach((known, k) => {
      const text = String(values[MODEL.nNumbers + k] ?? "");
      for (const value of known) x.push(value === text ? 1 : 0);
    });
    return Float64Array.from(x);
  }

  function softmax(scores) {
    const all = MODEL.decision === "sign" ? [0, scores[0]] : Array.from(scores);
    // Not Math.max(...all): very many arguments are more than the stack holds.
    const largest = all.reduce((most, score) => Math.max(most, score));
    const powers = all.map((score) => Math.exp((score - largest) / MODEL.temperature));
    const sum = powers.reduce((total, power) => total + power, 0);
    return powers.map((power) => power / sum);
  }

  function predict(row) {
    const latent = run(toLatent, encoded(row));
    const scores = run(toScores, latent);
    if (!scores.every(Number.isFinite)) throw new RangeError("a number of the row is missing");
    let label;
    let index = null;
    if (MODEL.decision === "tasks") {
      label = Array.from(scores, (score) => (score > 0 ? 1 : -1));
    } else {
      index = MODEL.decision === "sign" ? Number(scores[0] > 0) : 0;
      if (MODEL.decision === "largest") {
        for (let k = 1; k < scores.length; k++) if (scores[k] > scores[index]) index = k;
      }
      label = classes[index];
    }
    return {
      label,
      index,
      scores: Array.from(scores),
      probabilities: MODEL.temperature === null ? null : softmax(scores),
      latent: Array.from(latent),
    };
  }

  return { columns, classes, categories, predict };
}
