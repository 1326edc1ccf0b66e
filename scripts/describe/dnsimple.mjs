#!/usr/bin/env node
// Makes an OpenAPI description of DNSimple's own Node client, so that `pinhole manifest verify` can hold a manifest against it.
//
//   node scripts/describe/dnsimple.mjs NODE_MODULES > DESCRIPTION.json
//
// DNSimple's published description is in no package. Its client (npm `dnsimple`, made from that description) says the same:
// above each method stands the method and path, and its types are those of parameters, body and answer. They are read with
// the `typescript` package, never run. What the types leave out is listed below, each with where it is said.
// Refuses a type or a comment that it cannot read. Exit status: 0 done; 1 not.

import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

const HOST = "https://api.dnsimple.com";
/** The client puts this before each path. */
const VERSION = "/v2";
/** Placeholders by the names that they have in the manifest; only their place counts in a request. */
const NAMES = { zonerecord: "record", domainregistration: "registration" };
/** Statuses of a success: the guide to each endpoint says them. A registration may be pending, which is a 202. */
const DONE = { get: ["200"], post: ["201"], patch: ["200"], put: ["200"], delete: ["204"] };
const PENDING = /\/registrations$/;
const FAILED = ["400", "401", "402", "403", "404", "429"];
/** What a failure holds: the client reads both members. */
const FAILURE = { type: "object", properties: { message: { type: "string" }, errors: { type: "object", additionalProperties: true } } };
/** A paginated method's comment says so; these are the parameters, and the largest page, of the guide to pagination. */
const PAGED = /This API is paginated/;
const PAGE = [
  { name: "page", in: "query", schema: { type: "integer" } },
  { name: "per_page", in: "query", schema: { type: "integer", maximum: 100 } },
];
/** Where recorded answers have `null` and the types do not. */
const NULLS = [
  ["whoami", "account"],
  ["whoami", "user"],
  ["Domain", "expires_on"],
  ["Zone", "last_transferred_at"],
  ["Certificate", "csr"],
  ["Certificate", "expires_at"],
  ["Certificate", "expires_on"],
];
/** Members that a body must have: the guide to each endpoint says so, and the types make all of them optional. */
const REQUIRED = {
  registerDomain: ["registrant_id"],
  createZoneRecord: ["name", "type", "content"],
};

const modules = resolve(process.argv[2] ?? ".");
const ts = createRequire(join(modules, "noop.js"))("typescript");
const folder = join(modules, "dnsimple", "dist", "lib");
const { SyntaxKind } = ts;

function fail(what) {
  throw new Error(what);
}

const parse = (file) => ts.createSourceFile(file, readFileSync(join(folder, file), "utf8"), ts.ScriptTarget.Latest, true);

/** The JSON Schema of a type. */
function schema(node) {
  switch (node.kind) {
    case SyntaxKind.StringKeyword: return { type: "string" };
    case SyntaxKind.NumberKeyword: return { type: "number" };
    case SyntaxKind.BooleanKeyword: return { type: "boolean" };
    case SyntaxKind.AnyKeyword: return {};
    case SyntaxKind.ArrayType: return { type: "array", items: schema(node.elementType) };
    case SyntaxKind.TypeLiteral: return object(node.members);
    case SyntaxKind.LiteralType: return literal(node.literal);
    case SyntaxKind.UnionType: return union(node.types.map(schema));
    case SyntaxKind.TypeReference: return reference(node);
    default: return fail(`cannot read the type \`${node.getText()}\``);
  }
}

function object(members) {
  const named = members.filter((member) => member.kind === SyntaxKind.PropertySignature);
  const properties = Object.fromEntries(named.map((member) => [member.name.text, schema(member.type)]));
  return { type: "object", properties };
}

function literal(node) {
  if (node.kind === SyntaxKind.NullKeyword) return { type: "null" };
  if (node.kind === SyntaxKind.NumericLiteral) return { type: "number", enum: [Number(node.text)] };
  return node.kind === SyntaxKind.StringLiteral ? { type: "string", enum: [node.text] } : fail(`cannot read \`${node.getText()}\``);
}

function union(parts) {
  const closed = parts.every((part) => part.enum !== undefined && part.type === "string");
  return closed ? { type: "string", enum: parts.flatMap((part) => part.enum) } : { anyOf: parts };
}

function reference(node) {
  const name = node.typeName.getText();
  const [inner] = node.typeArguments ?? [];
  if (name === "Array") return { type: "array", items: schema(inner) };
  if (name === "Partial" || name === "Promise") return schema(inner);
  return { $ref: `#/components/schemas/${name.replace(/^types\./, "")}` };
}

function schemas() {
  const found = {};
  for (const node of parse("types.d.ts").statements.filter(ts.isTypeAliasDeclaration)) found[node.name.text] = schema(node.type);
  return found;
}

/** The call of a method: the method itself, or the first of the ways in which a paginated one may be called. */
function call(type) {
  if (ts.isFunctionTypeNode(type)) return type;
  return type.members?.find(ts.isCallSignatureDeclaration) ?? fail(`cannot read \`${type.getText()}\``);
}

/** Query parameters, from `params?: QueryParams & { … }`. */
function query(parameter) {
  const parts = parameter?.type.types ?? [];
  const members = parts.filter(ts.isTypeLiteralNode).flatMap((part) => [...part.members]);
  return members.map((member) => ({ name: member.name.text, in: "query", schema: schema(member.type) }));
}

function operation(member, comment, method, path) {
  const { parameters, type } = call(member.type);
  const by = (name) => parameters.find((one) => one.name.text === name);
  const placed = [...path.matchAll(/\{([^{}]+)\}/g)].map(([, name]) => {
    const its = by(name) ?? fail(`${path} has no parameter \`${name}\``);
    return { name: NAMES[name] ?? name, in: "path", required: true, schema: schema(its.type) };
  });
  const described = { parameters: [...placed, ...query(by("params")), ...(PAGED.test(comment) ? PAGE : [])], responses: {} };
  const data = by("data");
  if (data !== undefined) {
    const content = { "application/json": { schema: { ...schema(data.type), required: REQUIRED[member.name.text] ?? [] } } };
    described.requestBody = { required: true, content };
  }
  const json = (body) => ({ content: { "application/json": { schema: body } } });
  const done = [...DONE[method], ...(method === "post" && PENDING.test(path) ? ["202"] : [])];
  for (const status of done) described.responses[status] = status === "204" ? {} : json(schema(type));
  for (const status of FAILED) described.responses[status] = json(FAILURE);
  return described;
}

function paths() {
  const found = {};
  const files = readdirSync(folder).filter((file) => file.endsWith(".d.ts") && file !== "types.d.ts");
  const classes = files.flatMap((file) => parse(file).statements.filter(ts.isClassDeclaration));
  for (const member of classes.flatMap((one) => [...one.members]).filter(ts.isPropertyDeclaration)) {
    const comment = (ts.getJSDocCommentsAndTags(member)[0] ?? member).getFullText();
    const line = /^\s*\* (GET|POST|PUT|PATCH|DELETE) (\/\S*)\s*$/m.exec(comment);
    if (line === null) continue;
    const [, verb, path] = line;
    const method = verb.toLowerCase();
    const renamed = path.replaceAll(/\{([^{}]+)\}/g, (whole, name) => `{${NAMES[name] ?? name}}`);
    (found[VERSION + renamed] ??= {})[method] = operation(member, comment, method, path);
  }
  return found;
}

function allowNulls(document) {
  for (const [owner, member] of NULLS) {
    const whoami = document.paths["/v2/whoami"]?.get.responses["200"].content["application/json"].schema.properties.data;
    const its = owner === "whoami" ? whoami : document.components.schemas[owner];
    if (its?.properties[member] === undefined) fail(`there is no ${owner}.${member}`);
    its.properties[member] = { anyOf: [its.properties[member], { type: "null" }] };
  }
}

try {
  const document = { openapi: "3.1.0", servers: [{ url: HOST }], paths: paths(), components: { schemas: schemas() } };
  allowNulls(document);
  if (Object.keys(document.paths).length < 50) fail("fewer than 50 paths were found");
  process.stdout.write(`${JSON.stringify(document, null, 1)}\n`);
} catch (error) {
  console.error(`describe-dnsimple: ${error.message}`);
  process.exitCode = 1;
}
