// Times the worker of a live page in Node: node live_worker.mjs, with {worker, opening, cases, rounds} as JSON on its input.
// Prints the answers of the opening, and for each case the CPU milliseconds of every round.

import { readFileSync, writeFileSync } from "node:fs";

const { worker, opening, cases, rounds } = JSON.parse(readFileSync(0, "utf8"));
const { default: work } = await import(worker);
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
for (const [name, request] of Object.entries(cases)) {
  for (let i = 0; i < 5; i++) await ask(request); // compiled by then
  times[name] = [];
  for (let i = 0; i < rounds; i++) {
    const before = process.cpuUsage();
    const answer = await ask(request);
    const { user, system } = process.cpuUsage(before);
    if (answer.kind === "refused") throw new Error(JSON.stringify(answer));
    times[name].push((user + system) / 1000);
  }
}
writeFileSync(1, JSON.stringify({ answers, times, rss: process.memoryUsage().rss }));
