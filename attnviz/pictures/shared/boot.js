// @ts-check
// Starts the page: unpacks the script of the components and runs it as the text that the page's policy names by its hash.

import { unpackPart } from "./unpack.js";

/** Says so where the browser cannot unpack, instead of showing an empty page. */
export default async function boot() {
  try {
    const script = document.createElement("script");
    script.textContent = new TextDecoder().decode(await unpackPart("script"));
    document.head.append(script);
  } catch {
    const problem = document.getElementById("problem");
    if (problem) problem.hidden = false;
  }
}
