// The entry of the module: what the host calls.

import { defineOps } from "./pinhole-guest/module.js";
import { cycle_report } from "./cycle_report.js";

export const run = defineOps({ cycle_report });
