import type { Ops } from "./index.js";

/** A module's `run`: `export const run = defineOps({ stale_issues });` */
export function defineOps(ops: Ops): (op: string, args: string) => string;
