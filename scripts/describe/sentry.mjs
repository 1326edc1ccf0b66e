#!/usr/bin/env node
// Makes an OpenAPI description of Sentry's own client, so that `pinhole manifest verify` can hold a manifest against it.
//
//   node scripts/describe/sentry.mjs NODE_MODULES > DESCRIPTION.json
//
// Sentry's client (npm `@sentry/api` 0.1.0) is generated from Sentry's description. Each function of its code asks for one
// path by one method; types of the same name are its parameters, its body and its answers by status. They are read with the
// `typescript` package, never run. What the types leave out is listed below, each with where it is said.
// Refuses a function that it cannot read. Exit status: 0 done; 1 not.

import { print, run, Types } from "./types.mjs";

const CODE = "@sentry/api/dist/index.js";
const TYPES = "@sentry/api/dist/types.gen.d.ts";
/** Placeholders by the names that they have in the manifest; only their place counts in a request. */
const NAMES = { organization_id_or_slug: "organization", project_id_or_slug: "project" };
/** The most that a page may hold; comments of the client say it in these words. */
const LARGEST = /(?:maximum(?: (?:is|of|allowed))?|max(?: of)?|up to) (\d+)/i;
/** What a failure holds: the reference shows `detail`, and texts by the names of parameters where one is wrong. */
const FAILURE = { type: "object", properties: { detail: { type: "string" } }, additionalProperties: true };
/** Types that are left open: an assignee is in the list of issues, an entry in the answer that the reference shows for an event. */
const text = { type: ["string", "null"] };
const number = { type: ["number", "null"] };
const object = (properties) => ({ type: ["object", "null"], properties });
const list = (items) => ({ type: ["array", "null"], items });
const FRAME = object({
  filename: text, absPath: text, module: text, function: text, lineNo: number, colNo: number, inApp: { type: ["boolean", "null"] }, platform: text,
  vars: { type: ["object", "null"], additionalProperties: true }, context: { type: ["array", "null"], items: {} },
});
const OPEN = {
  assignedTo: object({ type: text, id: text, name: text, email: text }),
  entries: list(object({
    type: text,
    data: object({
      formatted: text,
      values: list(object({
        type: text, value: text, module: text, message: text, category: text, level: text, timestamp: text, stacktrace: object({ frames: list(FRAME) }),
      })),
    }),
  })),
};
const FAILED = ["400", "401", "403", "404", "429", "500"];

const json = (schema) => ({ content: { "application/json": { schema } } });

/** `name`, the method and the path of every function that asks for something. */
function functions(source, ts) {
  const found = [];
  for (const { declarationList } of source.statements.filter(ts.isVariableStatement)) {
    for (const { name, initializer } of declarationList.declarations) {
      const call = initializer !== undefined && ts.isArrowFunction(initializer) ? initializer.body : undefined;
      if (call === undefined || !ts.isCallExpression(call) || !ts.isObjectLiteralExpression(call.arguments[0] ?? call)) continue;
      const url = call.arguments[0].properties.find((one) => one.name?.text === "url")?.initializer.text;
      if (url !== undefined) found.push({ name: name.text, method: call.expression.name.text, path: url });
    }
  }
  return found;
}

/** A number is sent as text in a path, and the same id is a number here and a text there. */
const inPath = (schema) => (schema.type === "number" ? { anyOf: [schema, { type: "string" }] } : schema);

function parameters(given, place, types) {
  const members = types.member(given, place);
  if (members === undefined) return [];
  return types.members(members).map((one) => {
    const bound = /^(limit|per_?page)$/i.test(one.name) ? LARGEST.exec(one.says)?.[1] : undefined;
    const schema = bound === undefined ? one.schema : { ...one.schema, maximum: Number(bound) };
    if (place === "path") return { name: NAMES[one.name] ?? one.name, in: place, required: true, schema: inPath(schema) };
    return { name: one.name, in: place, required: one.required, schema };
  });
}

/** The types by their names without underscores and capitals, in which the code and the types differ. */
function named(types) {
  const [source] = types.sources;
  const said = source.statements.filter(types.ts.isTypeAliasDeclaration).map((one) => one.name.text);
  const known = new Map(said.map((name) => [name.toLowerCase(), name]));
  return (name) => types.exported(source, known.get(name.replaceAll("_", "").toLowerCase()) ?? name);
}

function operation({ name, path }, types, find) {
  const given = find(`${name}Data`);
  const answers = find(`${name}Responses`);
  if (given === undefined) throw new Error(`${name} of ${path} has no types`);
  const responses = Object.fromEntries(FAILED.map((status) => [status, json(FAILURE)]));
  for (const symbol of answers === undefined ? [] : types.checker.getPropertiesOfType(answers)) {
    const type = types.checker.getTypeOfSymbol(symbol);
    const isEmpty = (type.flags & (types.ts.TypeFlags.Void | types.ts.TypeFlags.Unknown)) !== 0;
    responses[symbol.name] = isEmpty ? {} : json(types.schema(type));
  }
  const described = { parameters: ["path", "query"].flatMap((place) => parameters(given, place, types)), responses };
  const body = types.member(given, "body");
  if (body === undefined || (body.flags & types.ts.TypeFlags.Never) !== 0) return described;
  const members = types.members(body);
  const properties = Object.fromEntries(members.map((one) => [one.name, one.schema]));
  const required = members.filter((one) => one.required).map((one) => one.name);
  return { ...described, requestBody: { required: required.length > 0, ...json({ type: "object", properties, required }) } };
}

/** Fills in what the types leave open. */
function amend(components) {
  for (const { properties } of Object.values(components)) {
    for (const name of Object.keys(properties)) if (Object.hasOwn(OPEN, name)) properties[name] = OPEN[name];
  }
}

run("sentry", () => {
  const types = new Types(process.argv[2], [TYPES]);
  const find = named(types);
  const paths = {};
  for (const one of functions(types.source(CODE), types.ts)) {
    const path = one.path.replaceAll(/\{(\w+)\}/g, (_, name) => `{${NAMES[name] ?? name}}`);
    (paths[path] ??= {})[one.method] = operation(one, types, find);
  }
  print("sentry.io", paths, types, 100, amend);
});
