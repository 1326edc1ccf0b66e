// Requests, answers, pages and errors of `pinhole-guest`, over a host that is a few lines of test.

import assert from "node:assert";
import { test } from "node:test";
import { Host, OpError, RequestError, ServiceError } from "../pinhole-guest/index.js";
import { runner } from "../pinhole-guest/runner.js";

/** A host that answers each request with what `answer` makes of it, and remembers what was asked. */
function hosting(answer) {
  const asked = [];
  const logged = [];
  const send = (request) => {
    asked.push(request);
    const { status = 200, headers = [], body = null, failure } = answer(request, asked.length);
    if (failure) throw Object.assign(new Error("[object Object]"), { payload: failure });
    return { status, headers, body: new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body)) };
  };
  const result = (request) => {
    try {
      return { tag: "ok", val: send(request) };
    } catch (error) {
      return { tag: "err", val: error.payload };
    }
  };
  const raw = { send, sendAll: (requests) => requests.map(result), write: (...line) => logged.push(line), now: () => 7 };
  return { host: new Host(raw), asked, logged };
}

test("a value of a path is one encoded segment", () => {
  const { host, asked } = hosting(() => ({}));
  host.get("/repos/{owner}/{repo}/issues", { owner: "a/../b", repo: "ü?#" }).send();
  assert.strictEqual(asked[0].path, "/repos/a%2F..%2Fb/%C3%BC%3F%23/issues");
});

test("a value that cannot stand in a path is refused before it is sent", () => {
  const { host, asked } = hosting(() => ({}));
  for (const owner of ["", ".", "..", "a\0b", "a\nb", "\ud800", null]) {
    assert.throws(() => host.get("/repos/{owner}", { owner }), OpError, JSON.stringify(owner));
  }
  assert.throws(() => host.get("/repos/{owner}", {}), /no value for `\{owner\}`/);
  assert.strictEqual(asked.length, 0);
});

test("what is absent is left out of the query, and an array repeats its key", () => {
  const { host, asked } = hosting(() => ({}));
  const request = host.get("/x").query("a", null).query("b", undefined).query("c", [1, "zwei"]).query("d", false);
  request.setQuery("c", 3).send();
  request.send();
  assert.deepStrictEqual(asked[0].query, [["d", "false"], ["c", "3"]]);
  assert.deepStrictEqual(asked[1].query, [["c", "1"], ["c", "zwei"], ["d", "false"]], "a step changed the request");
});

test("a body keeps the digits of a bigint", () => {
  const { host, asked } = hosting(() => ({}));
  host.post("/x").json({ id: 12345678901234567890n }).send();
  assert.strictEqual(asked[0].body, '{"id":12345678901234567890}');
});

test("a failure of the host has its code", () => {
  const { host } = hosting(() => ({ failure: { code: "timed_out", message: "too slow" } }));
  assert.throws(() => host.get("/x").send(), (error) => error instanceof RequestError && error.code === "timed_out");
});

test("an error of the host that is no failure stays what it is", () => {
  const { host } = hosting(() => {
    throw new TypeError("a fault of the test");
  });
  assert.throws(() => host.get("/x").send(), TypeError);
});

test("many requests have their answers in their order, failures among them", () => {
  const { host } = hosting((_, n) => (n === 2 ? { failure: { code: "timed_out", message: "" } } : { status: 200 + n }));
  const answers = host.sendAll([host.get("/1"), host.get("/2"), host.get("/3")]);
  assert.deepStrictEqual(answers.map((one) => one.status ?? one.code), [201, "timed_out", 203]);
});

test("a status that is no success and an answer that is no json are errors that say so", () => {
  const { host } = hosting(() => ({ status: 502, body: "<html>" }));
  const response = host.get("/x").send();
  assert.throws(() => response.expectOk(), (error) => error instanceof ServiceError && /GET \/x.* 502/.test(error.message));
  assert.throws(() => response.json(), /not JSON/);
  assert.strictEqual(response.text(), "<html>");
  response.text = () => {
    throw new RangeError("out of memory");
  };
  assert.throws(() => response.json(), RangeError);
});

test("headers of one name are joined, in whatever case they are asked for", () => {
  const { host } = hosting(() => ({ headers: [["link", "a"], ["etag", "x"], ["link", "b"]] }));
  const response = host.get("/x").send();
  assert.strictEqual(response.header("Link"), "a, b");
  assert.strictEqual(response.header("age"), undefined);
});

test("errors of graphql are errors, whatever the status", () => {
  const answer = { errors: [{ message: "no such team" }], data: null };
  for (const status of [200, 400]) {
    const { host } = hosting(() => ({ status, headers: [["content-type", "application/json"]], body: answer }));
    assert.throws(() => host.graphql("/graphql", "query"), /no such team/);
  }
  const { host } = hosting(() => ({ body: { data: null } }));
  assert.throws(() => host.graphql("/graphql", "query"), /without `data`/);
  const html = hosting(() => ({ status: 502, body: "<html>" }));
  assert.throws(() => html.host.graphql("/graphql", "query"), /502/);
});

test("a document and its variables are posted as they are", () => {
  const { host, asked } = hosting(() => ({ body: { data: { a: 1 } } }));
  assert.deepStrictEqual(host.graphql("/graphql", "query Q { a }", { b: 2 }), { a: 1 });
  assert.deepStrictEqual(asked[0], {
    method: "post", path: "/graphql", query: [], headers: [], body: '{"query":"query Q { a }","variables":{"b":2}}',
  });
});

test("links are followed by their path and query alone", () => {
  const next = '<https://elsewhere.example/repositories/7/issues?state=open+now&page=2%261>; rel="next"';
  const link = [["link", `<https://x/y>; rel="prev", ${next}, </z>; rel=last`]];
  const { host, asked } = hosting((_, n) => ({ headers: n === 1 ? link : [] }));
  const pages = [...host.pages.link(host.get("/repos/a/b/issues").query("state", "open now"))];
  assert.strictEqual(pages.length, 2);
  assert.strictEqual(asked[1].path, "/repositories/7/issues");
  assert.deepStrictEqual(asked[1].query, [["state", "open now"], ["page", "2&1"]]);
});

test("a list of more pages than the limit is an error and no short list", () => {
  const link = (n) => [["link", `</x?page=${n + 1}>; rel="next"`]];
  const { host, asked } = hosting((_, n) => ({ headers: link(n), body: [1] }));
  assert.throws(() => [...host.pages.link(host.get("/x"), { limit: 3 })], /more than 3 pages/);
  assert.strictEqual(asked.length, 3);
  assert.throws(() => [...host.pages.page(host.get("/x"), { limit: 3 })], /more than 3 pages/);
});

test("a page that leads back to itself is an error", () => {
  const { host } = hosting(() => ({ headers: [["link", '</x?page=2>; rel="next"']], body: { after: "c" } }));
  assert.throws(() => [...host.pages.link(host.get("/x"))], /same one/);
  assert.throws(() => [...host.pages.cursor(host.get("/x"), { query: "after", next: (body) => body.after })], /same one/);
});

test("pages are counted until one is empty, or short where the size is known", () => {
  const rows = [[1, 2], [3, 4], [5], []];
  const { host, asked } = hosting(({ query }) => ({ body: { items: rows[Number(query[0][1]) - 1] } }));
  const items = (body) => body.items;
  assert.strictEqual([...host.pages.page(host.get("/x"), { items })].length, 3);
  assert.strictEqual(asked.length, 4);
  assert.strictEqual([...host.pages.page(host.get("/x"), { items, size: 2 })].length, 3);
  assert.strictEqual(asked.length, 7);
  assert.throws(() => [...host.pages.page(host.get("/x"))], /not a list/);
});

test("a cursor is taken from each answer to the next request", () => {
  const { host, asked } = hosting((_, n) => ({ body: { after: n < 3 ? `c${n}` : null } }));
  const pages = [...host.pages.cursor(host.get("/x"), { query: "after", next: (body) => body.after })];
  assert.strictEqual(pages.length, 3);
  assert.deepStrictEqual(asked.map(({ query }) => query), [[], [["after", "c1"]], [["after", "c2"]]]);
});

test("a connection is followed by its pageInfo", () => {
  const info = [{ hasNextPage: true, endCursor: "c1" }, { hasNextPage: false, endCursor: null }];
  const { host, asked } = hosting((_, n) => ({ body: { data: { all: { nodes: [n], pageInfo: info[n - 1] } } } }));
  const options = { connection: (data) => data.all };
  const nodes = [...host.pages.relay("/graphql", "query", { first: 1 }, options)].flatMap((data) => data.all.nodes);
  assert.deepStrictEqual(nodes, [1, 2]);
  assert.deepStrictEqual(asked.map(({ body }) => JSON.parse(body).variables), [{ first: 1 }, { first: 1, after: "c1" }]);
  const blind = hosting(() => ({ body: { data: { all: { nodes: [], pageInfo: { hasNextPage: true, endCursor: null } } } } }));
  assert.throws(() => [...blind.host.pages.relay("/graphql", "query", {}, options)], /no `endCursor`/);
  const bare = hosting(() => ({ body: { data: { all: { nodes: [] } } } }));
  assert.throws(() => [...bare.host.pages.relay("/graphql", "query", {}, options)], /no `pageInfo`/);
});

test("whatever an op throws is the contract's error, a plain record", () => {
  const { host, logged } = hosting(() => ({}));
  const run = runner(
    {
      tells: () => { throw new OpError("no such team"); },
      tells_plainly: () => { throw new Error("no such cycle"); },
      breaks: () => undefined.length,
      throws_text: () => { throw "text"; },
      gives_nothing: () => {},
      waits: async () => 1,
      gives_nan: () => ({ mean: 0 / 0 }),
    },
    () => host,
  );
  const said = (op) => {
    try {
      return run(op, "{}");
    } catch (error) {
      assert.ok(!(error instanceof Error), `${op}: an Error is a trap in the sandbox`);
      assert.deepStrictEqual(Object.keys(error), ["message"]);
      return error.message;
    }
  };
  assert.strictEqual(said("tells"), "no such team");
  assert.strictEqual(said("tells_plainly"), "no such cycle");
  assert.deepStrictEqual(logged, []);
  assert.match(said("breaks"), /^TypeError: /);
  assert.match(logged[0].join(), /^error,TypeError: .*\n.*host\.test/s);
  assert.strictEqual(said("throws_text"), "text");
  assert.match(said("gives_nothing"), /gave no result/);
  assert.match(said("waits"), /without `async`/);
  assert.match(said("gives_nan"), /NaN is not a number of JSON/);
  assert.match(said("toString"), /no op `toString`/);
});

test("the time is the call's beginning", () => {
  assert.strictEqual(hosting(() => ({})).host.now(), 7);
});
