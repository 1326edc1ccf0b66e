// The one file that imports what the host offers: `defineOps` makes a module's `run` of its ops. Only a project's entry
// file imports it, so that Node can load everything else. Refuses an op that is not defined.
//
// The sandbox has no clock but the contract's. `Date` is tied to it here: a library that asks for the time would break the
// module off otherwise.

import { now } from "pinhole:op/clock@1.0.0";
import { send, sendAll } from "pinhole:op/http@1.0.0";
import { write } from "pinhole:op/log@1.0.0";
import { Host } from "./host.js";
import { runner } from "./runner.js";

globalThis.Date = class Date extends globalThis.Date {
  constructor(...parts) {
    super(...(parts.length > 0 ? parts : [Date.now()]));
  }

  static now() {
    return Number(now()) * 1000;
  }
};

/** A module's `run`: `export const run = defineOps({ stale_issues });` */
export function defineOps(ops) {
  return runner(ops, () => new Host({ send, sendAll, write, now }));
}
