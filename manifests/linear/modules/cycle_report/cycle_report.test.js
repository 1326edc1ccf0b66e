// The cases of the manifest through the module, in Node and without Wasm, and what no case shows: `node --test`.

import assert from "node:assert";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { CASE_TIME, Recorded, casesOf, playCase } from "../../../../guest-sdk/js/pinhole-guest/testing.js";
import { cycle_report } from "./cycle_report.js";
import * as documents from "./documents.js";

const declared = JSON.parse(readFileSync(new URL("../../manifest.json", import.meta.url), "utf8"));
const cases = casesOf(new URL("../../cases/", import.meta.url), { cycle_report });

for (const file of cases) {
  // The manifest picks every field, so the case's result is all of the module's.
  test(`the case ${file.href.split("/").at(-1)} holds`, () => {
    playCase(file, { cycle_report }, { declared, whole: true });
  });
}

test("there are cases", () => assert.ok(cases.length >= 6));

test("the documents are those of the manifest", () => {
  const lines = declared.ops.cycle_report.module.requests.map(({ graphql }) => graphql);
  assert.deepStrictEqual(Object.values(documents).sort(), lines.sort());
});

test("the errors say what is wrong", () => {
  const said = (name) => playCase(cases.find(({ href }) => href.includes(name)), { cycle_report }, { declared }).message;
  assert.match(said("no_such_cycle"), /no cycle 99: list_cycles/);
  assert.match(said("no_such_team"), /Entity not found: Team/);
  assert.match(said("graphql_error"), /too complex/);
});

/** A report on a cycle whose issues come on so many pages, at this time. */
function reported({ pages = 1, cycle = {}, issue = {}, now = CASE_TIME }) {
  const one = {
    id: "c", number: 1, name: null, startsAt: "2025-12-22T00:00:00.000Z", endsAt: "2026-01-05T00:00:00.000Z",
    completedAt: null, isActive: true, progress: 0, ...cycle,
  };
  const host = new Recorded([], { now }).host();
  let page = 0;
  const answer = ({ query }) => {
    if (query === documents.CYCLE) return { team: { key: "ENG", name: "E", cycles: { nodes: [one] } } };
    const nodes = [{ id: `i${++page}`, estimate: 1, state: { name: "Todo", type: "unstarted" }, assignee: null, ...issue }];
    return { cycle: { issues: { nodes, pageInfo: { hasNextPage: page < pages, endCursor: `p${page}` } } } };
  };
  host.raw.send = ({ body }) => {
    const data = answer(JSON.parse(body));
    return { status: 200, headers: [], body: new TextEncoder().encode(JSON.stringify({ data })) };
  };
  return cycle_report({ team_id: "t", which: "active" }, host);
}

test("a cycle of too many pages is an error and no part of a report", () => {
  assert.strictEqual(reported({ pages: 20 }).scope.issues, 20);
  assert.throws(() => reported({ pages: 21 }), /more than 20 pages/);
});

test("a begun day counts whole, and none is left after the end", () => {
  const end = Date.parse("2026-01-05T00:00:00.000Z") / 1000;
  const left = (now) => reported({ now }).days_left;
  assert.deepStrictEqual([left(end - 1), left(end - 86400), left(end - 86401), left(end), left(end + 1)], [1, 1, 2, 0, 0]);
});

test("an end that is no time is an error", () => {
  assert.throws(() => reported({ cycle: { endsAt: "soon" } }), /no time/);
});

test("a state of a type that is not known is in the scope and comes last", () => {
  const report = reported({ issue: { state: { name: "Parked", type: "parked" } } });
  assert.deepStrictEqual([report.scope.issues, report.not_started.issues, report.states[0].type], [1, 0, "parked"]);
});
