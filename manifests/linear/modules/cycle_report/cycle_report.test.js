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

/** A report on a cycle with these issues, each on a page of its own, at this time. */
function reported({ issues = [{}], cycle = {}, before = {}, left = [], now = CASE_TIME }) {
  const one = {
    id: "c", number: 1, name: null, startsAt: "2025-12-22T00:00:00.000Z", endsAt: "2026-01-05T00:00:00.000Z",
    completedAt: null, isActive: true, progress: 0,
  };
  const host = new Recorded([], { now }).host();
  const plain = { estimate: 1, state: { name: "Todo", type: "unstarted" }, assignee: null };
  const all = issues.map((issue, n) => ({ id: `i${n}`, ...plain, ...issue }));
  const answer = ({ query, variables }) => {
    if (query === documents.CYCLE) {
      const node = variables.filter.number ? { ...one, id: "before", ...before } : { ...one, ...cycle };
      return { team: { key: "ENG", name: "E", cycles: { nodes: [node] } } };
    }
    const nodes = query === documents.LEFT ? left : all.splice(0, 1);
    const pageInfo = { hasNextPage: query === documents.ISSUES && all.length > 0, endCursor: `${all.length}` };
    return { cycle: { [query === documents.LEFT ? "uncompletedIssuesUponClose" : "issues"]: { nodes, pageInfo } } };
  };
  host.raw.send = ({ body }) => {
    const data = answer(JSON.parse(body));
    return { status: 200, headers: [], body: new TextEncoder().encode(JSON.stringify({ data })) };
  };
  return cycle_report({ team_id: "t", which: "active" }, host);
}

test("a cycle of too many pages is an error and no part of a report", () => {
  const pages = (length) => reported({ issues: Array.from({ length }, () => ({})) });
  assert.strictEqual(pages(20).scope.issues, 20);
  assert.throws(() => pages(21), /more than 20 pages/);
});

test("a begun day counts whole, and none is left after the end or of a closed cycle", () => {
  const end = Date.parse("2026-01-05T00:00:00.000Z") / 1000;
  const left = (now, cycle) => reported({ now, cycle }).days_left;
  assert.deepStrictEqual([left(end - 1), left(end - 86400), left(end - 86401), left(end), left(end + 1)], [1, 1, 2, 0, 0]);
  assert.strictEqual(left(end - 86400, { completedAt: "2026-01-01T00:00:00.000Z" }), 0);
});

test("an end that is no time is an error", () => {
  assert.throws(() => reported({ cycle: { endsAt: "soon" } }), /no time/);
});

test("nothing is carried in from a cycle that is not closed yet", () => {
  const cycle = { number: 2 };
  const left = [{ id: "i0", estimate: 1 }];
  const carried = (before) => reported({ cycle, left, before }).carried_in.issues;
  assert.deepStrictEqual([carried({}), carried({ completedAt: "2025-12-22T00:00:00.000Z" })], [0, 1]);
});

test("states come as a workflow runs, and one of a type that is not known comes last and is in the scope", () => {
  const types = ["parked", "duplicate", "started", "triage", "canceled", "backlog", "completed", "unstarted"];
  const report = reported({ issues: types.map((type) => ({ state: { name: type, type } })) });
  const order = ["triage", "backlog", "unstarted", "started", "completed", "canceled", "duplicate", "parked"];
  assert.deepStrictEqual(report.states.map(({ type }) => type), order);
  const sums = ["scope", "not_started", "started", "completed", "canceled"].map((name) => report[name].issues);
  assert.deepStrictEqual(sums, [6, 3, 1, 1, 2]);
});

test("nobody is the last of the assignees, however much is nobody's", () => {
  const wren = { id: "w", displayName: "wren" };
  const report = reported({ issues: [{ estimate: 9 }, { estimate: 1, assignee: wren }] });
  assert.deepStrictEqual(report.assignees.map(({ name }) => name), ["wren", null]);
});
