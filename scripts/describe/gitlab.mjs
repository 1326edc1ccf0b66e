#!/usr/bin/env node
// Makes an OpenAPI description of a GitLab client, so that `pinhole manifest verify` can hold a manifest against it.
//
//   node scripts/describe/gitlab.mjs NODE_MODULES > DESCRIPTION.json
//
// GitLab's own description is in no package. Gitbeaker (npm `@gitbeaker/core` 43.8.0), which others write by hand, has a
// method for each endpoint: the path and the verb stand in its code, the types of arguments and answer in its declarations.
// Both are read with the `typescript` package, never run. Names of options are GitLab's in camel case. What the types leave
// out is listed below, each with where it is said. Refuses an endpoint that the client has not. Exit status: 0 done; 1 not.

import { print, run, Types } from "./types.mjs";

const CODE = "@gitbeaker/core/dist/index.mjs";
const TYPES = "@gitbeaker/core/dist/index.d.ts";
const BASE = "/api/v4/";
/** The endpoints that are described: the verb, the path, and the class and method of the client that ask for it. */
const ENDPOINTS = [
  ["get", "user", "Users", "showCurrentUser"],
  ["get", "projects", "Projects", "all"],
  ["get", "projects/{project}", "Projects", "show"],
  ["get", "issues", "Issues", "all"],
  ["get", "projects/{project}/issues", "Issues", "all"],
  ["post", "projects/{project}/issues", "Issues", "create"],
  ["get", "projects/{project}/issues/{issue_iid}", "Issues", "show"],
  ["put", "projects/{project}/issues/{issue_iid}", "Issues", "edit"],
  ["get", "projects/{project}/issues/{issue_iid}/notes", "IssueNotes", "all"],
  ["post", "projects/{project}/issues/{issue_iid}/notes", "IssueNotes", "create"],
  ["get", "projects/{project}/labels", "ProjectLabels", "all"],
  ["get", "merge_requests", "MergeRequests", "all"],
  ["get", "projects/{project}/merge_requests", "MergeRequests", "all"],
  ["post", "projects/{project}/merge_requests", "MergeRequests", "create"],
  ["get", "projects/{project}/merge_requests/{merge_request_iid}", "MergeRequests", "show"],
  ["put", "projects/{project}/merge_requests/{merge_request_iid}", "MergeRequests", "edit"],
  ["get", "projects/{project}/merge_requests/{merge_request_iid}/diffs", "MergeRequests", "allDiffs"],
  ["put", "projects/{project}/merge_requests/{merge_request_iid}/merge", "MergeRequests", "merge"],
  ["get", "projects/{project}/merge_requests/{merge_request_iid}/notes", "MergeRequestNotes", "all"],
  ["post", "projects/{project}/merge_requests/{merge_request_iid}/notes", "MergeRequestNotes", "create"],
  ["get", "projects/{project}/pipelines", "Pipelines", "all"],
  ["get", "projects/{project}/pipelines/{pipeline_id}/jobs", "Jobs", "all"],
  ["get", "projects/{project}/repository/commits", "Commits", "all"],
  ["get", "projects/{project}/repository/files/{file_path}", "RepositoryFiles", "show"],
  ["get", "todos", "TodoLists", "all"],
  ["post", "todos/{todo_id}/mark_as_done", "TodoLists", "done"],
];
/** Lists of a project or group, and the flag that gives everything at once, are the client's own options. */
const OWN = new Set(["project_id", "group_id", "pipeline_id", "todo_id", "show_expanded", "sudo", "max_pages", "pagination"]);
/** The guide to pagination. */
const PAGE = [
  { name: "page", in: "query", schema: { type: "integer" } },
  { name: "per_page", in: "query", schema: { type: "integer", maximum: 100 } },
];
/** Where the reference shows `null` and the types do not. */
const NULLS = new Set([
  "assignee", "attachment", "avatar_url", "closed_at", "closed_by", "coverage", "description", "due_date", "duration", "erased_at", "finished_at",
  "health_status", "last_activity_at", "milestone", "moved_to_id", "priority", "public_email", "queued_duration", "started_at", "weight",
]);
/** What a to-do is about may be one of several things; the reference shows these of each. */
const TARGET = {
  type: "object", properties: { iid: { type: "number" }, title: { type: "string" }, state: { type: "string" } }, additionalProperties: true,
};
const DONE = { get: "200", put: "200", post: "201" };
/** These posts make nothing new, and say 200. */
const NOTHING_NEW = /mark_as_done$/;
const FAILED = ["400", "401", "403", "404", "405", "409", "422", "429", "500"];
/** The guide to status codes: `message` is a text, texts, or texts by the names of parameters; `error` stands alone. */
const FAILURE = {
  type: "object",
  properties: {
    message: { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }, { type: "object", additionalProperties: true }] },
    error: { type: "string" }, error_description: { type: "string" }, scope: { type: "string" },
  },
};

const json = (schema) => ({ content: { "application/json": { schema } } });
const snake = (name) => name.replaceAll(/(?<=[a-z0-9])([A-Z])/g, "_$1").toLowerCase();

/** The methods of every class of the code, its parents' included, by `Class.method`. */
function methods(source, ts) {
  const classes = new Map();
  for (const { declarationList } of source.statements.filter(ts.isVariableStatement)) {
    for (const { name, initializer } of declarationList.declarations) {
      if (initializer !== undefined && ts.isClassExpression(initializer)) classes.set(name.text, initializer);
    }
  }
  return (owner, method) => {
    for (let at = classes.get(owner); at !== undefined; at = classes.get(at.heritageClauses?.[0]?.types[0].expression.text)) {
      const found = at.members.find((one) => ts.isMethodDeclaration(one) && one.name.text === method);
      if (found !== undefined) return found;
    }
    return undefined;
  };
}

/** Every path that a method's code writes: its pieces, and the names that stand between them. */
function written(method, ts) {
  const found = [];
  const visit = (node) => {
    if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) found.push({ text: node.text, names: [] });
    if (ts.isTemplateExpression(node)) {
      const names = node.templateSpans.map(({ expression }) => expression.name?.text ?? expression.text);
      found.push({ text: node.head.text + node.templateSpans.map((span) => `{}${span.literal.text}`).join(""), names });
    }
    ts.forEachChild(node, visit);
  };
  visit(method);
  return found;
}

/** The names for the placeholders of `path`, from its end; nothing if the code does not write it. What comes before may stand in a variable. */
function placed(path, { text, names }) {
  const isPrefixed = /^\{\}[^/]/.test(text);
  const wanted = path.split("/").reverse();
  const said = text.slice(isPrefixed ? 2 : 0).split("/").reverse();
  const fits = said.every((part, at) => (part === "{}" ? wanted[at] !== undefined : part === wanted[at]));
  if (!fits || (!isPrefixed && wanted.length - said.length > 1)) return undefined;
  const order = names.slice(isPrefixed ? 1 : 0).reverse();
  const pairs = said.flatMap((part, at) => (part === "{}" ? [[wanted[at], order.shift()]] : []));
  return new Map(pairs.filter(([part]) => part.startsWith("{")));
}

/** What one way of calling a method takes, by the names that the code has. */
function taken(signature, method, types) {
  const given = new Map();
  signature.getParameters().forEach((symbol, at) => {
    const type = types.checker.getNonNullableType(types.checker.getTypeOfSymbol(symbol));
    const isOptions = symbol.name === "options" || symbol.name.startsWith("__");
    const members = isOptions ? types.members(type) : [{ name: symbol.name, required: true, schema: types.schema(type) }];
    for (const one of members) {
      const key = isOptions ? one.name : (method.parameters[at]?.name.text ?? one.name);
      if (!given.has(key)) given.set(key, { ...one, name: snake(one.name) });
    }
  });
  return given;
}

function operation([verb, path, owner, id], method, types) {
  const { ts, checker } = types;
  const names = written(method, ts).map((one) => placed(path, one)).find((one) => one !== undefined);
  if (names === undefined || !method.getText().includes(`RequestHelper.${verb}(`)) throw new Error(`${owner}.${id} does not ask for ${path}`);
  const instance = types.declared(types.sources[0], owner);
  const signatures = types.member(instance, id).getCallSignatures();
  const ways = signatures.map((signature) => taken(signature, method, types));
  const given = new Map(ways.flatMap((way) => [...way]));
  for (const [name, one] of given) given.set(name, { ...one, required: ways.every((way) => way.get(name)?.required) });
  const answers = signatures.map((signature) => {
    const [promised] = checker.getTypeArguments(signature.getReturnType());
    return types.schema(promised.aliasTypeArguments[0]);
  });
  const inPath = [...path.matchAll(/\{([^{}]+)\}/g)].map(([whole, name]) => {
    const its = given.get(names.get(whole)) ?? { schema: { anyOf: [{ type: "string" }, { type: "number" }] } };
    given.delete(names.get(whole));
    return { name, in: "path", required: true, schema: its.schema };
  });
  const rest = [...given.values()].filter((one) => !OWN.has(one.name));
  const distinct = [...new Map(answers.map((one) => [JSON.stringify(one), one])).values()];
  const done = verb === "post" && NOTHING_NEW.test(path) ? "200" : DONE[verb];
  const responses = { [done]: json({ anyOf: distinct }), ...Object.fromEntries(FAILED.map((status) => [status, json(FAILURE)])) };
  if (verb === "get") {
    const query = rest.map((one) => ({ name: one.name, in: "query", required: one.required, schema: one.schema }));
    return { parameters: [...inPath, ...query, ...PAGE], responses };
  }
  const properties = Object.fromEntries(rest.map((one) => [one.name, one.schema]));
  const required = rest.filter((one) => one.required).map((one) => one.name);
  return { parameters: inPath, requestBody: { required: required.length > 0, ...json({ type: "object", properties, required }) }, responses };
}

/** Lets members be `null` that may be, and says what a to-do is about. */
function amend(components) {
  for (const { properties } of Object.values(components)) {
    for (const name of Object.keys(properties)) {
      const isNullable = properties[name].anyOf?.some(({ type }) => type === "null");
      if (NULLS.has(name) && !isNullable) properties[name] = { anyOf: [properties[name], { type: "null" }] };
      if (name === "target") properties[name] = TARGET;
    }
  }
}

run("gitlab", () => {
  // The client's answers are camelised when it is asked to.
  const bare = (type) => (type.aliasSymbol?.name === "CamelizedResponse" ? bare(type.aliasTypeArguments[0]) : type);
  const types = new Types(process.argv[2], [TYPES], bare);
  const found = methods(types.source(CODE), types.ts);
  const paths = {};
  for (const endpoint of ENDPOINTS) {
    const [verb, path, owner, id] = endpoint;
    const method = found(owner, id);
    if (method === undefined) throw new Error(`there is no ${owner}.${id}`);
    (paths[BASE + path] ??= {})[verb] = operation(endpoint, method, types);
  }
  print("gitlab.com", paths, types, 20, amend);
});
