// @ts-check
// Elements of drawings. Text reaches them as text nodes only, as in dom.js.

/**
 * A new element of a drawing.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, string | number>} attributes
 * @param {...Node} children
 * @returns {SVGElementTagNameMap[Tag]}
 */
export function svg(tag, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  node.append(...children);
  return node;
}

/** A line of text in a drawing; `name` is its class. */
export function svgText(
  /** @type {string} */ name,
  /** @type {string} */ text,
  /** @type {number} */ x,
  /** @type {number} */ y,
) {
  return svg("text", { class: name, x, y }, document.createTextNode(text));
}
