// @ts-check
// Python's random.Random of a small seed, as far as `choice` needs it: the Mersenne Twister MT19937. The heads of a control
// are those that the library draws.

const SIZE = 624;
const MIDDLE = 397;

export class PythonRandom {
  constructor(/** @type {number} */ seed) {
    this.state = seeded(seed);
    this.place = SIZE;
  }

  /** 32 random bits. */
  next() {
    if (this.place >= SIZE) this.twist();
    let y = this.state[this.place++];
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    return (y ^ (y >>> 18)) >>> 0;
  }

  twist() {
    const { state } = this;
    for (let i = 0; i < SIZE; i++) {
      const y = (state[i] & 0x80000000) | (state[(i + 1) % SIZE] & 0x7fffffff);
      state[i] = state[(i + MIDDLE) % SIZE] ^ (y >>> 1) ^ (y & 1 ? 0x9908b0df : 0);
    }
    this.place = 0;
  }

  /** A number from 0 to below `n`: as many bits as it has, again until they are below it. */
  below(/** @type {number} */ n) {
    const bits = 32 - Math.clz32(n);
    for (;;) {
      const drawn = this.next() >>> (32 - bits);
      if (drawn < n) return drawn;
    }
  }

  /** A number from 0 to below 1, of 53 bits. */
  real() {
    const [high, low] = [this.next() >>> 5, this.next() >>> 6];
    return (high * 2 ** 26 + low) / 2 ** 53;
  }

  /** @type {<Item>(items: readonly Item[]) => Item} */
  choice(items) {
    return items[this.below(items.length)];
  }
}

/** The state after a seed of at most 32 bits, as `init_by_array` of one word makes it. */
function seeded(/** @type {number} */ seed) {
  const state = new Uint32Array(SIZE);
  state[0] = 19650218;
  for (let i = 1; i < SIZE; i++) state[i] = Math.imul(1812433253, state[i - 1] ^ (state[i - 1] >>> 30)) + i;
  const mixed = (/** @type {number} */ at, /** @type {number} */ factor) =>
    state[at] ^ Math.imul(state[at - 1] ^ (state[at - 1] >>> 30), factor);
  let i = 1;
  const step = () => {
    if (++i < SIZE) return;
    state[0] = state[SIZE - 1];
    i = 1;
  };
  for (let k = 0; k < SIZE; k++, step()) state[i] = mixed(i, 1664525) + seed;
  for (let k = 0; k < SIZE - 1; k++, step()) state[i] = mixed(i, 1566083941) - i;
  state[0] = 0x80000000;
  return state;
}
