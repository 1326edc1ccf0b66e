// Plays every case of `cases/` through the op, in Node and without Wasm: `node --test`.

import assert from "node:assert";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { casesOf, playCase, Recorded } from "./pinhole-guest/testing.js";
import { @OP@ } from "./@OP@.js";

const declared = JSON.parse(readFileSync(new URL("op.json", import.meta.url), "utf8"));
const cases = new URL("cases/", import.meta.url);

for (const file of existsSync(cases) ? casesOf(cases, { @OP@ }) : []) {
  test(`the case ${file.href.split("/").at(-1)} holds`, () => {
    playCase(file, { @OP@ }, { declared });
  });
}

test("a status that is no success is an error", () => {
  const host = new Recorded([]).host();
  host.raw.send = () => ({ status: 503, headers: [], body: new Uint8Array() });
  const names = Object.keys(declared.op.@OP@.args.properties ?? {});
  const args = Object.fromEntries(names.map((name) => [name, "1"]));
  assert.throws(() => @OP@(args, host), /the service answered 503/);
});
