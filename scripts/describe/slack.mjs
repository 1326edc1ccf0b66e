#!/usr/bin/env node
// Makes an OpenAPI description of Slack's own Node client, so that `pinhole manifest verify` can hold a manifest against it.
//
//   node scripts/describe/slack.mjs NODE_MODULES > DESCRIPTION.json
//
// Slack's published description ends in 2021. Its client (npm `@slack/web-api` 8.2.0) has a type for the arguments and the
// answer of every method of today. Each method is one path; GET takes its arguments in the query, POST in a JSON body: both
// are in Slack's guide to the Web API. What the types leave out is listed below, each with where it is said.
// Refuses a client that it cannot read. Exit status: 0 done; 1 not.

import { print, run, Types } from "./types.mjs";

const METHODS = "@slack/web-api/dist/methods.d.ts";
/** The largest page: some comments of the client say it so. */
const LARGEST = /max value of `(\d+)`/;
/** And these are in the reference of the methods alone. */
const LARGEST_ELSEWHERE = { "search.messages count": 100, "search.messages page": 100 };
/** The reference of users.profile.set lists the fields; the types leave them open. */
const PROFILE = {
  type: "object",
  properties: { status_text: { type: "string" }, status_emoji: { type: "string" }, status_expiration: { type: "number" } },
};
/** Every failure has this form, with a 200 or, past the limits, a 429. */
const FAILURE = { type: "object", properties: { ok: { type: "boolean" }, error: { type: "string" } } };

const json = (schema) => ({ content: { "application/json": { schema } } });

function operations(name, types, call) {
  const [signature] = call.getCallSignatures();
  const [options] = signature.getParameters();
  const given = types.checker.getNonNullableType(types.checker.getTypeOfSymbol(options));
  const [answer] = types.checker.getTypeArguments(signature.getReturnType());
  const members = types.members(given).filter((one) => one.name !== "token");
  for (const one of members) {
    const bound = LARGEST.exec(one.says)?.[1] ?? LARGEST_ELSEWHERE[`${name} ${one.name}`];
    if (bound !== undefined) one.schema = { ...one.schema, maximum: Number(bound) };
    if (name === "users.profile.set" && one.name === "profile") one.schema = PROFILE;
  }
  const properties = Object.fromEntries(members.map((one) => [one.name, one.schema]));
  const required = members.filter((one) => one.required).map((one) => one.name);
  const responses = { 200: json(types.schema(answer)), 429: json(FAILURE) };
  const parameters = members.map((one) => ({ name: one.name, in: "query", required: one.required, schema: one.schema }));
  const requestBody = { required: required.length > 0, ...json({ type: "object", properties, required }) };
  return { get: { parameters, responses }, post: { requestBody, responses } };
}

/** Every method below a member of the client, by its dotted name. */
function walk(type, prefix, types, paths) {
  for (const symbol of types.checker.getPropertiesOfType(type)) {
    const its = types.checker.getTypeOfSymbol(symbol);
    const name = [...prefix, symbol.name].join(".");
    const isMethod = its.aliasSymbol?.name.startsWith("MethodWith");
    if (isMethod) paths[`/api/${name}`] = operations(name, types, its);
    else if (its.getCallSignatures().length === 0) walk(its, [...prefix, symbol.name], types, paths);
  }
}

run("slack", () => {
  const types = new Types(process.argv[2], [METHODS]);
  const client = types.exported(types.sources[0], "Methods");
  const paths = {};
  for (const family of types.checker.getPropertiesOfType(client)) {
    const isOwn = family.declarations?.some((one) => one.getSourceFile() === types.sources[0]);
    if (isOwn && family.name !== "admin") walk(types.checker.getTypeOfSymbol(family), [family.name], types, paths);
  }
  print("slack.com", paths, types, 100);
});
