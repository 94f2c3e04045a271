// @ts-check
// A drawing as a list of things done, in shares of the pad's side, so that it can be painted at any size and the last
// thing can be undone. Nothing is ever painted that is not in the list.

/** Lines and forms; "clear" hides all before it.
 * @typedef {{kind: "line", colour: string, width: number, points: [number, number][]} |
 *   {kind: "form", colour: string, size: number, at: [number, number], points: [number, number][]} | {kind: "clear"}} Deed */

export const GROUND = "#ffffff";

/**
 * Paints everything since the last "clear" on a white ground.
 * @param {CanvasRenderingContext2D} ctx
 * @param {readonly Deed[]} deeds
 * @param {number} side
 */
export function paintDeeds(ctx, deeds, side) {
  ctx.fillStyle = GROUND;
  ctx.fillRect(0, 0, side, side);
  const start = deeds.map((deed) => deed.kind).lastIndexOf("clear") + 1;
  for (const deed of deeds.slice(start)) paintDeed(ctx, deed, side);
}

/**
 * Paints one thing over what is there.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Deed} deed
 * @param {number} side
 */
export function paintDeed(ctx, deed, side) {
  if (deed.kind === "line") paintLine(ctx, deed, side);
  else if (deed.kind === "form") {
    ctx.fillStyle = deed.colour;
    tracePath(ctx, deed, side);
    ctx.fill();
  }
}

/**
 * The outline of a form as the current path.
 * @param {CanvasRenderingContext2D} ctx
 * @param {any} deed
 * @param {number} side
 */
export function tracePath(ctx, deed, side) {
  ctx.beginPath();
  for (const [x, y] of deed.points)
    ctx.lineTo((deed.at[0] + x * deed.size) * side, (deed.at[1] + y * deed.size) * side);
  ctx.closePath();
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {any} deed
 * @param {number} side
 */
function paintLine(ctx, deed, side) {
  const { points } = deed;
  ctx.strokeStyle = ctx.fillStyle = deed.colour;
  ctx.lineWidth = deed.width * side;
  ctx.lineCap = ctx.lineJoin = "round";
  ctx.beginPath();
  if (points.length === 1) {
    ctx.arc(points[0][0] * side, points[0][1] * side, (deed.width * side) / 2, 0, 2 * Math.PI);
    ctx.fill();
    return;
  }
  for (const [x, y] of points) ctx.lineTo(x * side, y * side);
  ctx.stroke();
}

/** The drawing as a PNG in a data URL. */
export function asPng(/** @type {readonly Deed[]} */ deeds, /** @type {number} */ side) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = side;
  paintDeeds(/** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d")), deeds, side);
  return canvas.toDataURL("image/png");
}
