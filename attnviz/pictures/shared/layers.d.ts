// Layers of one attention may differ in tokens and patches: what canvases make of the header for one of them.

import type { HeadsView, LayerPatches, Patches } from "./heads.js";

/** [top, left, bottom, right] of the patches that a token stands for, the last two outside; null for none. */
export type PatchBox = [top: number, left: number, bottom: number, right: number] | null;

/** The patches of a picture, of all layers or of one. */
export type PatchGrid = Patches & Partial<LayerPatches>;

/** The header as one layer has it. */
export type LayeredHeader<Header extends HeadsView = HeadsView> = Omit<Header, "patches"> & {
  patches: PatchGrid | null;
};
