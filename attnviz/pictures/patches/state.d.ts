// The data of the picture view, which always has a picture.

import type { Patches } from "../shared/heads.js";
import type { Header as HeadsHeader } from "./types.js";

export type Header = HeadsHeader & { patches: Patches };
