// The entry of the module: what the host calls. Only this file imports what the sandbox alone has, so that `node --test`
// can load the op.

import { defineOps } from "./pinhole-guest/module.js";
import { release_rhythm } from "./release_rhythm.js";

export const run = defineOps({ release_rhythm });
