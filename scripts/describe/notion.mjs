#!/usr/bin/env node
// Makes an OpenAPI description of Notion's own client, so that `pinhole manifest verify` can hold a manifest against it.
//
//   node scripts/describe/notion.mjs NODE_MODULES > DESCRIPTION.json
//
// Notion's client (npm `@notionhq/client` 5.26.0) is generated from Notion's description. Each endpoint is an object with
// its method, its path and the names of its parameters; types of the same name are its parameters and its answer. They are
// read with the `typescript` package, never run. What the types leave out is listed below, each with where it is said.
// Refuses an endpoint that it cannot read. Exit status: 0 done; 1 not.

import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";

import { print, run, Types } from "./types.mjs";

const FOLDER = "@notionhq/client/build/src/api-endpoints";
/** The client puts this before each path. */
const BASE = "/v1/";
/** The guide to pagination says so. */
const LARGEST = { page_size: 100 };
const FAILED = ["400", "401", "403", "404", "409", "429", "500", "503"];
/** What the client reads of a failure, and what the page on status codes shows. */
const FAILURE = {
  type: "object",
  properties: {
    object: { type: "string" }, status: { type: "number" }, code: { type: "string" }, message: { type: "string" }, request_id: { type: "string" },
  },
};
/** Every answer has it, says the guide to requests. */
const ALWAYS = { request_id: { type: "string" } };

const json = (schema) => ({ content: { "application/json": { schema } } });

/** The objects that a file exports, by their names. */
function endpoints(source, ts) {
  const found = [];
  for (const { expression } of source.statements.filter(ts.isExpressionStatement)) {
    if (!ts.isBinaryExpression(expression) || !ts.isObjectLiteralExpression(expression.right)) continue;
    const members = expression.right.properties.map((one) => [one.name.text, one.initializer]);
    found.push([expression.left.name.text, Object.fromEntries(members)]);
  }
  return found;
}

/** `` (p) => `pages/${p.page_id}` `` as a path. */
function template(body, ts) {
  if (ts.isNoSubstitutionTemplateLiteral(body)) return BASE + body.text;
  if (!ts.isTemplateExpression(body)) throw new Error(`cannot read \`${body.getText()}\``);
  return BASE + body.head.text + body.templateSpans.map((span) => `{${span.expression.name.text}}${span.literal.text}`).join("");
}

function operation(name, members, types, declared) {
  const own = name[0].toUpperCase() + name.slice(1);
  const given = types.exported(declared, `${own}Parameters`);
  const answer = types.exported(declared, `${own}Response`);
  if (given === undefined || answer === undefined) throw new Error(`${name} has no types`);
  const known = new Map(types.members(given).map((one) => [one.name, one]));
  const bounded = (one) => (LARGEST[one.name] === undefined ? one.schema : { ...one.schema, maximum: LARGEST[one.name] });
  const listed = (place) => members[place].elements.map((element) => {
    const its = known.get(element.text);
    if (its === undefined) throw new Error(`${name} has no type of \`${element.text}\``);
    return { name: its.name, required: its.required, schema: bounded(its) };
  });
  const placed = [["path", listed("pathParams")], ["query", listed("queryParams")]];
  const parameters = placed.flatMap(([place, list]) => list.map((one) => ({ in: place, ...one, required: place === "path" || one.required })));
  const done = { allOf: [types.schema(answer), { type: "object", properties: ALWAYS }] };
  const responses = { 200: json(done), ...Object.fromEntries(FAILED.map((status) => [status, json(FAILURE)])) };
  const body = listed("bodyParams");
  if (body.length === 0) return { parameters, responses };
  const properties = Object.fromEntries(body.map((one) => [one.name, one.schema]));
  const required = body.filter((one) => one.required).map((one) => one.name);
  return { parameters, requestBody: { required: required.length > 0, ...json({ type: "object", properties, required }) }, responses };
}

run("notion", () => {
  const folder = join(resolve(process.argv[2] ?? "."), FOLDER);
  const names = readdirSync(folder).filter((name) => name.endsWith(".d.ts") && name !== "common.d.ts");
  const types = new Types(process.argv[2], names.map((name) => join(FOLDER, name)));
  const paths = {};
  names.forEach((name, at) => {
    const source = types.source(join(FOLDER, name.replace(/\.d\.ts$/, ".js")));
    for (const [id, members] of endpoints(source, types.ts)) {
      const path = template(members.path.body, types.ts);
      (paths[path] ??= {})[members.method.text] = operation(id, members, types, types.sources[at]);
    }
  });
  print("api.notion.com", paths, types, 25);
});
