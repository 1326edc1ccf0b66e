// What a module in TypeScript may write, and what it may not: `tsc --noEmit --strict`. Never run.

import { send } from "pinhole:op/http@1.0.0";
import { OpError, RequestError, type Host, type Op, type Ops } from "../pinhole-guest/index.js";
import { defineOps } from "../pinhole-guest/module.js";
import { casesOf, playCase, Recorded } from "../pinhole-guest/testing.js";

const stale: Op<{ owner: string; repo: string; days: number }> = (args, host) => {
  const request = host.get("/repos/{owner}/{repo}/issues", args).query("per_page", 100).query("labels", ["a", "b"]);
  let issues = 0;
  for (const page of host.pages.link(request, { limit: 5 })) issues += page.json({ exact: true }).length;
  for (const page of host.pages.page(request, { query: "page", items: (body) => body.items })) issues += page.status;
  for (const _ of host.pages.cursor(request, { query: "after", next: (body) => body.paging?.next?.after })) issues++;
  const options = { connection: (data: any) => data.issues };
  for (const data of host.pages.relay("/graphql", "query", { first: 1 }, options)) issues += data.issues.nodes.length;
  for (const answer of host.sendAll([request, request])) {
    if (answer instanceof RequestError) host.log.warn(answer.code);
    else issues += answer.expectOk().header("etag")?.length ?? 0;
  }
  if (issues > 1000) throw new OpError("too many");
  return { issues, now: host.now() };
};

const ops: Ops = { stale };
export const run: (op: string, args: string) => string = defineOps(ops);

for (const file of casesOf("cases", ops)) playCase(file, ops, { declared: {}, whole: true }).result;
const host: Host = new Recorded([{ request: { method: "GET", path: "/" }, response: { status: 200, body: {} } }]).host();

// @ts-expect-error: a request is an object with all of its parts
send({ method: "get", path: "/" });
// @ts-expect-error: an object is not a value of a path
host.get("/{a}", { a: {} });
// @ts-expect-error: a request has no answer before it is sent
host.get("/").json();
// @ts-expect-error: a cursor has to be found
host.pages.cursor(host.get("/"), { query: "after" });
