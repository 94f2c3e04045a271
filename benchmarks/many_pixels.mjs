// Times the loops that turn points into pixels, and the search for the nearest point; prints JSON, in milliseconds.
// Run by benchmarks/many.py. CPU time of this process, so that other work on the machine counts little.

import { nearest } from "../attnviz/pictures/map/points.js";
import { makeStamp, splat, stampPoints } from "../attnviz/pictures/map/scatter.js";

const ROUNDS = 9;
const [SIZE, TOKENS, HEADS, FEW] = [620, 25_000, 72, 1000];

/** True if a half opaque point on white has the mean of both colours, channel by channel. */
function isBlended() {
  const image = new Uint8ClampedArray(4 * 81).fill(255);
  const one = { ...cloud(1), codes: Uint16Array.of(32768, 32768), table: new Uint32Array(256).fill(0xff336699) };
  stampPoints({ pixels: image, columns: 9 }, 9, one, { x: 0, y: 0, zoom: 1 }, makeStamp(2, true), 0.5);
  const at = 4 * (9 * 4 + 4);
  const expected = [(255 + 0x99) / 2, (255 + 0x66) / 2, (255 + 0x33) / 2, 255];
  return expected.every((value, channel) => Math.abs(image[at + channel] - value) <= 1) && image[0] === 255;
}

const codes = (n) => Uint16Array.from({ length: 2 * n }, () => 1 + Math.floor(65534 * Math.random()));
const table = new Uint32Array(256).fill(0xff336699);
const cloud = (n) => ({
  codes: codes(n),
  levels: new Uint8Array(n),
  table,
  marks: null,
  bit: 1,
  marked: true,
});

function timed(work) {
  return Array.from({ length: ROUNDS }, () => {
    const start = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000;
  }).sort((a, b) => a - b);
}

const sides = [cloud(TOKENS), cloud(TOKENS)];
const pixels = new Uint8ClampedArray(4 * SIZE * SIZE).fill(255);
const stamps = [makeStamp(2.4, true), makeStamp(2.4, false)];
const camera = { x: 0, y: 0, zoom: 1 };
const frame = timed(() =>
  sides.forEach((side, at) => stampPoints({ pixels, columns: SIZE }, SIZE, side, camera, stamps[at], 0.62)),
);
const places = new Uint16Array(4 * TOKENS);
places.set(sides[0].codes);
places.set(sides[1].codes, 2 * TOKENS);
const points = { n: TOKENS, arrays: { places: { data: places } } };
const hover = timed(() => nearest(points, 0, 0.1, 0.1, 0.05));
const few = Array.from({ length: 2 * HEADS }, () => cloud(FEW));
const out = new Uint32Array(600 * 300);
const matrix = timed(() =>
  few.forEach((side, at) => splat(out, 600, { x: 40 * (at % 12), y: 0, size: 36 }, side, 1)),
);
const right = out.some(Boolean) && pixels.some((value) => value !== 255) && isBlended();
process.stdout.write(JSON.stringify({ frame, hover, matrix, right }));
