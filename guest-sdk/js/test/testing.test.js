// The double itself: what it must not let pass.

import assert from "node:assert";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Difference, Recorded, casesOf, playCase } from "../pinhole-guest/testing.js";

const exchange = (parts = {}, response = { status: 200, body: { id: 12345678901234567890n } }) => ({
  request: { method: "POST", path: "/x", query: { a: ["1", "2"], b: "3" }, headers: { "x-a": "1" }, body: { n: 1 }, ...parts },
  response,
});

const op = (args, host) => {
  const request = host.post("/x").query("a", [1, 2]).query("b", args.b).header("x-a", 1).json({ n: 1 });
  return { id: request.send().json({ exact: true }).id, more: true };
};

/** A file with a case of the op `op`. */
function written(parts) {
  const folder = mkdtempSync(join(tmpdir(), "pinhole-guest-"));
  const file = join(folder, "op.some.json");
  const whole = { args: { b: 3 }, access: "read", exchanges: [exchange()], expect: { result: { id: 0 } }, ...parts };
  const text = JSON.stringify(whole, (_, value) => (typeof value === "bigint" ? `#${value}` : value));
  writeFileSync(file, text.replace(/"#(\d+)"/g, "$1"));
  return file;
}

const right = { result: { id: 12345678901234567890n } };

test("a case holds whose requests and result are as recorded, to the last digit", () => {
  assert.deepStrictEqual(playCase(written({ expect: right }), { op }).result, { ...right.result, more: true });
  assert.throws(() => playCase(written({ expect: { result: { id: 12345678901234567891n } } }), { op }), Difference);
});

test("each part of a request is held", () => {
  const others = [
    { method: "GET" }, { path: "/y" }, { query: { a: ["2", "1"], b: "3" } }, { query: {} }, { headers: { "x-a": "2" } },
    { headers: {} }, { body: { n: 2 } }, { body: undefined },
  ];
  for (const other of others) {
    const file = written({ exchanges: [exchange(other)], expect: right });
    assert.throws(() => playCase(file, { op }), Difference, JSON.stringify(other));
  }
});

test("a request too many and one too few are differences, and an op cannot swallow them", () => {
  const file = written({ exchanges: [], expect: right });
  const swallows = (args, host) => {
    try {
      return op(args, host);
    } catch {
      return { id: 12345678901234567890n };
    }
  };
  assert.throws(() => playCase(file, { op: swallows }), /no more is recorded/);
  const again = (args, host) => {
    swallows(args, host);
    return op(args, host);
  };
  const other = written({ exchanges: [exchange({ path: "/y" }), exchange()], expect: right });
  assert.throws(() => playCase(other, { op: again }), /^Difference: request 1, /);
  assert.throws(() => playCase(written({ exchanges: [exchange(), exchange()], expect: right }), { op }), /were not sent/);
});

test("an error where a result is expected is a difference, and the other way round", () => {
  const breaks = () => {
    throw new Error("no such thing");
  };
  const none = { exchanges: [] };
  assert.throws(() => playCase(written(none), { op: breaks }), /the op gave: no such thing/);
  const refused = { expect: { refusal: "module_failed" } };
  assert.strictEqual(playCase(written({ ...none, ...refused }), { op: breaks }).message, "no such thing");
  assert.throws(() => playCase(written(refused), { op }), /expects an error/);
});

test("what a case expects may be part of the result, and with whole must be all", () => {
  const file = written({ expect: right });
  assert.throws(() => playCase(file, { op }, { whole: true }), Difference);
  for (const result of [{ id: right.result.id, other: 1 }, [], null, { more: [true] }]) {
    assert.throws(() => playCase(written({ expect: { result } }), { op }), Difference, JSON.stringify(Object.keys(result ?? {})));
  }
});

test("a list of another length is another list", () => {
  const lists = () => ({ rows: [1, 2] });
  const play = (rows) => playCase(written({ exchanges: [], expect: { result: { rows } } }), { op: lists });
  assert.deepStrictEqual(play([1, 2]).result, { rows: [1, 2] });
  for (const rows of [[1], [1, 2, 3], [2, 1], []]) assert.throws(() => play(rows), Difference, `${rows}`);
});

test("absent args have their defaults and null is absent", () => {
  const seen = [];
  const schema = { properties: { b: { default: 3 }, c: { default: [] }, d: {} } };
  const declared = { op: { op: { args: schema } } };
  const file = written({ args: { b: null, d: null, e: 0 }, exchanges: [], expect: { result: {} } });
  playCase(file, { op: (args) => (seen.push(args), {}) }, { declared });
  assert.deepStrictEqual(seen, [{ b: 3, c: [], e: 0 }]);
});

test("a case that expects nothing yet is loose, and is still held to what it has", () => {
  const bare = { request: { method: "POST", path: "/x" }, response: { status: 200, body: { id: 1 } } };
  const file = written({ exchanges: [bare], expect: undefined });
  assert.throws(() => playCase(file, { op }), /query/);
  const plain = (_, host) => host.post("/x").json({ n: 1 }).send().json();
  assert.deepStrictEqual(playCase(file, { op: plain }), { result: { id: 1 } });
  const other = { ...bare, request: { ...bare.request, path: "/y" } };
  assert.throws(() => playCase(written({ exchanges: [other], expect: undefined }), { op: plain }), /path/);
});

test("a recorded failure reaches the op, alone and among many", () => {
  const failure = { code: "timed_out", message: "too slow" };
  const failed = { request: { method: "GET", path: "/x" }, response: { failure } };
  const host = new Recorded([failed, failed]).host();
  assert.throws(() => host.get("/x").send(), /timed_out/);
  assert.strictEqual(host.sendAll([host.get("/x")])[0].code, "timed_out");
});

test("cases that end before the module are left to the host", () => {
  const folder = (parts) => written(parts).replace(/op\.some\.json$/, "");
  const found = (parts) => casesOf(folder(parts), { op }).length;
  assert.deepStrictEqual([found({}), found({ exchanges: [], expect: { refusal: "invalid_args" } })], [1, 0]);
  assert.deepStrictEqual([found({ exchanges: [], expect: { refusal: "module_failed" } }), found({ expect: undefined })], [1, 1]);
  assert.strictEqual(casesOf(folder({}), { other: op }).length, 0);
});
