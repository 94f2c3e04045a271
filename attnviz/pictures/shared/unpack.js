// @ts-check
// Reads what is compressed or in base64: the parts of a page in its script elements, the messages of a class.

/** The bytes of a part; its text is let go. @returns {Promise<Uint8Array<ArrayBuffer>>} */
export async function unpackPart(/** @type {string} */ name) {
  const node = document.querySelector(`script[data-part="${name}"]`);
  if (!node) throw new Error(`the page has no part ${name}`);
  const text = node.textContent ?? "";
  node.textContent = "";
  return unpacked(base64Bytes(text));
}

/** Bytes that were compressed, as they were. @returns {Promise<Uint8Array<ArrayBuffer>>} */
export async function unpacked(/** @type {Uint8Array<ArrayBuffer>} */ bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** The bytes that a text in base64 stands for, by the browser's own decoder where it has one: that takes a fifth. */
export function base64Bytes(/** @type {string} */ base64) {
  const native = /** @type {{fromBase64?: (text: string) => Uint8Array<ArrayBuffer>}} */ (
    /** @type {unknown} */ (Uint8Array)
  );
  if (native.fromBase64) return native.fromBase64(base64);
  const text = atob(base64.trim());
  const bytes = new Uint8Array(text.length); // `Uint8Array.from` would walk the text as an iterator, ten times slower
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}
