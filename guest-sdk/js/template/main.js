// The entry of the module: what the host calls. Only this file imports what the sandbox alone has, so that `node --test`
// can load the ops.

import { defineOps } from "./pinhole-guest/module.js";
import { @OP@ } from "./@OP@.js";

export const run = defineOps({ @OP@ });
