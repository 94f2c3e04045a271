// @ts-check
// Words on the canvases of a row: its film, and the picture that the film plays in.

/** A number as low digits. */
export function subscript(/** @type {number} */ number) {
  return String(number).replace(/\d/g, (digit) => "₀₁₂₃₄₅₆₇₈₉"[Number(digit)]);
}

/**
 * A word in the middle of a line.
 * @param {CanvasRenderingContext2D} ctx
 * @param {string} label
 * @param {{x: number, y: number, font: string, colour: string, align?: CanvasTextAlign, room?: number}} opts
 */
export function text(ctx, label, { x, y, font, colour, align = "left", room }) {
  ctx.font = font;
  ctx.fillStyle = colour;
  ctx.textAlign = align;
  ctx.textBaseline = "middle";
  ctx.direction = "ltr";
  ctx.fillText(label, x, y, room);
}
