// Times the worker of a live page in Node: node --expose-gc live_worker.mjs, with {worker, opening, cases, rounds} as JSON
// on its input. A case is several requests, taken in turns: a pass that was run last is not run again. Prints the answers of
// the opening, for each case the CPU milliseconds of every round, and the bytes that are held at the end.

import { readFileSync, writeFileSync } from "node:fs";

const { worker, opening, cases, rounds } = JSON.parse(readFileSync(0, "utf8"));
const { default: work } = await import(worker);
const held = () => {
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};
const heldBefore = held();
let resolve;
const scope = {
  fetch: async (path) => new Response(readFileSync(path)),
  postMessage: (answer) => answer.kind === "progress" || resolve(answer),
};
work(scope);
let number = 0;
const ask = (request) =>
  new Promise((done) => {
    resolve = done;
    scope.onmessage({ data: { ...request, number: ++number } });
  });

const answers = [];
for (const request of opening) {
  const { views: _, ...answer } = await ask(request);
  answers.push(answer);
}
const times = {};
for (const [name, requests] of Object.entries(cases)) {
  for (let i = 0; i < 6; i++) await ask(requests[i % requests.length]); // compiled by then
  times[name] = [];
  for (let i = 0; i < rounds; i++) {
    const before = process.cpuUsage();
    const answer = await ask(requests[i % requests.length]);
    const { user, system } = process.cpuUsage(before);
    if (answer.kind === "refused") throw new Error(JSON.stringify(answer));
    times[name].push((user + system) / 1000);
  }
}
writeFileSync(1, JSON.stringify({ answers, times, held: held() - heldBefore }));
