// Numbers as they are printed, at every border between two forms.

import assert from "node:assert/strict";
import { test } from "node:test";

import { fillNodes } from "#pictures/shared/dom.js";
import {
  fill,
  fmtError,
  fmtFixed,
  fmtPercent,
  fmtReal,
  fmtShape,
  fmtWeight,
  headName,
} from "#pictures/shared/fmt.js";

const check = (format, cases) => {
  for (const [value, text] of cases) assert.equal(format(value), text, String(value));
};

test("fmtReal has three significant digits, and an exponent from 1e5 on and below 1e-3", () => {
  check(fmtReal, [
    [0, "0"],
    [0.1234, "0.123"],
    [-12.34, "−12.3"],
    [123.4, "123"],
    [99999, "99999"],
    [1e5, "1.00e5"],
    [1e-3, "0.00100"],
    [9.99e-4, "9.99e−4"],
    [NaN, "NaN"],
    [Infinity, "∞"],
    [-Infinity, "−∞"],
  ]);
});

test("fmtFixed rounds, and has no minus before a zero", () => {
  assert.equal(fmtFixed(1.005, 1), "1.0");
  assert.equal(fmtFixed(-0.04, 1), "0.0");
  assert.equal(fmtFixed(-0.06, 1), "−0.1");
  assert.equal(fmtFixed(-0.4, 0), "0");
});

test("fmtWeight has four digits and marks what came through 8 bits", () => {
  assert.equal(fmtWeight(0.12345), "0.1235");
  assert.equal(fmtWeight(1, true), "≈\u20091.0000");
});

test("fmtError is scientific, but 0 where it is exact", () => {
  check(fmtError, [
    [0, "0"],
    [1.26e-7, "1.3e−7"],
    [12, "1.2e1"],
  ]);
});

test("fmtPercent has two digits below 10 %, and never a 0 for what is not nothing", () => {
  check(fmtPercent, [
    [0, "0"],
    [0.00009, "<\u20090.01"],
    [0.0001, "0.01"],
    [0.00994, "0.99"],
    [0.01, "1.0"],
    [0.0994, "9.9"],
    [0.0996, "10"],
    [0.984, "98"],
    [1, "100"],
  ]);
});

test("fmtShape and headName", () => {
  assert.equal(fmtShape([12, 384]), "12\u2009×\u2009384");
  assert.equal(headName(5, 1), "L5.H1");
});

test("fill keeps what it has no value for, and counts 1 as one", () => {
  assert.equal(fill("{n} {n:head|heads} of {m}", { n: 1 }), "1 head of {m}");
  assert.equal(fill("{n} {n:head|heads}", { n: "0" }), "0 heads");
  assert.equal(fill(undefined, {}), "");
});

test("fillNodes counts 1 as one, by what a node says", () => {
  const said = (value) => fillNodes("all {n} {n:head|heads} of {m:key|keys}", { n: value }).join("");
  assert.equal(said("1"), "all 1 head of {m:key|keys}");
  assert.equal(said("1,200"), "all 1,200 heads of {m:key|keys}");
  const node = { textContent: "1" };
  assert.deepEqual(fillNodes("{n} {n:head|heads}", { n: node }), [node, " head"]);
});
