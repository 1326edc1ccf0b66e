// Plays every case of `cases/` through the op, in Node and without Wasm: `node --test`.

import assert from "node:assert";
import { readFileSync } from "node:fs";
import { test } from "node:test";
// In a project of your own: "./pinhole-guest/testing.js".
import { casesOf, playCase, Recorded } from "../pinhole-guest/testing.js";
import { release_rhythm } from "./release_rhythm.js";

const declared = JSON.parse(readFileSync(new URL("op.json", import.meta.url), "utf8"));
const cases = casesOf(new URL("cases/", import.meta.url), { release_rhythm });

for (const file of cases) {
  test(`the case ${file.href.split("/").at(-1)} holds`, () => {
    playCase(file, { release_rhythm }, { declared });
  });
}

test("there are cases", () => assert.ok(cases.length >= 3));

test("what is written to the log is how many there were", () => {
  const request = { method: "GET", path: "/repos/o/r/releases", query: { per_page: "100" } };
  const recorded = new Recorded([{ request, response: { status: 200, body: [] } }]);
  release_rhythm({ owner: "o", repo: "r" }, recorded.host());
  assert.deepStrictEqual(recorded.logged, [["debug", "0 releases"]]);
});
