// Answers texts with the engine of the live pages in Node: {room, info, language, cases, texts} as JSON on its input. Prints
// for each case, whose reference is a file that torch wrote, how far the weights are, the sentences, and what was written.

import { readFileSync, writeFileSync } from "node:fs";

const { room, info, texts, cases } = JSON.parse(readFileSync(0, "utf8"));
const { Answering, show, verify } = await import(`${room}/answering.js`);
const { Files, loadModel } = await import(`${room}/loading.js`);
const { TensorFile } = await import(`${room}/engine/weights.js`);
const { parse } = await import(`${room}/../pictures/shared/buffer.js`);

const files = new Files(async (path) => new Response(readFileSync(path)));
const { loaded } = await loadModel(files, info, () => {});
const answering = new Answering(loaded);
const found = [];
for (const { reference, text } of cases) {
  const bytes = readFileSync(reference);
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  const { weights, ids, compared } = await verify(answering, new TensorFile(file, reference));
  const said = { sentences: [], written: "" };
  if (text !== null) {
    const request = { kind: "show", model: info.name, input: { text }, views: ["grid"], layer: 0, head: 0, off: "" };
    const shown = await show(answering, request, texts);
    Object.assign(said, { sentences: parse(shown.views.grid).header.sentences.flat(), written: shown.said.text });
  }
  found.push({ weights, ids, compared, ...said });
}
writeFileSync(1, JSON.stringify(found));
