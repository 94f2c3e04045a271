// @ts-check
// Reads the compressed parts of a page out of its script elements.

/** The bytes of a part; its text is let go. @returns {Promise<Uint8Array<ArrayBuffer>>} */
export async function unpackPart(/** @type {string} */ name) {
  const node = document.querySelector(`script[data-part="${name}"]`);
  if (!node) throw new Error(`the page has no part ${name}`);
  const text = node.textContent ?? "";
  node.textContent = "";
  const stream = new Blob([decoded(text)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** The bytes that a text in base64 stands for, by the browser's own decoder where it has one: that takes a fifth. */
function decoded(/** @type {string} */ base64) {
  const native = /** @type {{fromBase64?: (text: string) => Uint8Array<ArrayBuffer>}} */ (
    /** @type {unknown} */ (Uint8Array)
  );
  if (native.fromBase64) return native.fromBase64(base64);
  const text = atob(base64.trim());
  const bytes = new Uint8Array(text.length); // `Uint8Array.from` would walk the text as an iterator, ten times slower
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}
