// @ts-check
// Numbers as Python prints them, for sentences that the library says too.

/** With so many decimals; a number that lies in the middle goes to the even digit. */
export function fixed(/** @type {number} */ value, /** @type {number} */ decimals) {
  const scaled = value * 10 ** decimals;
  const isMiddle = Math.abs(scaled % 1) === 0.5 && scaled / 10 ** decimals === value;
  return isMiddle
    ? ((2 * Math.round(scaled / 2)) / 10 ** decimals).toFixed(decimals)
    : value.toFixed(decimals);
}

/** With so many significant digits and no zeros at its end, as the format "g" has it. */
export function general(/** @type {number} */ value, /** @type {number} */ digits) {
  if (value === 0) return "0";
  const [mantissa, exponent] = value
    .toExponential(digits - 1)
    .split("e")
    .map(Number);
  if (exponent >= -4 && exponent < digits) return String(Number(fixed(value, digits - 1 - exponent)));
  const sign = exponent < 0 ? "-" : "+";
  return `${mantissa}e${sign}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

/** The number in the middle of some, the mean of two. */
export function median(/** @type {readonly number[]} */ values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return (sorted[Math.ceil(middle) - 1] + sorted[Math.floor(middle)]) / 2;
}

/** The places of the largest numbers, the first ones of equals first. */
export function largest(/** @type {ArrayLike<number>} */ values, /** @type {number} */ count) {
  /** @type {number[]} */
  const places = [];
  for (let place = 0; place < values.length; place++) {
    let at = places.length;
    while (at > 0 && values[places[at - 1]] < values[place]) at--;
    if (at >= count) continue;
    places.splice(at, 0, place);
    if (places.length > count) places.pop();
  }
  return places;
}

/** The softmax of some numbers, in 64 bits. */
export function softmax(/** @type {ArrayLike<number>} */ values) {
  let most = -Infinity;
  for (let i = 0; i < values.length; i++) most = Math.max(most, values[i]);
  const out = new Float64Array(values.length);
  let total = 0;
  for (let i = 0; i < out.length; i++) total += out[i] = Math.exp(values[i] - most);
  for (let i = 0; i < out.length; i++) out[i] /= total;
  return out;
}
