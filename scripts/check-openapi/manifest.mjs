// Holds every op of a manifest against the description: path, method, parameters, body and every picked field.
//
// A fault is `{code, where, what}`. It refuses to guess: a field that no variant describes is a fault, an arg that leaves
// open what the description closes is a fault, and an op that is neither one plain request nor a module is a fault too.

import { largest, listed, types } from "./description.mjs";
import { checkModule } from "./module.mjs";

/** Paths of `Link` headers that the service follows and its description does not list, each with the reason. */
const PAGE_PATHS = new Map([
  ["/organizations/{*}/repos", "GitHub names the organisation by its number in the links of /orgs/{org}/repos"],
  ["/repositories/{*}/issues", "GitHub names the repository by its number in links; its guide to pagination shows it"],
  ["/repositories/{*}/pulls", "as for issues"],
  ["/repositories/{*}/releases", "as for issues"],
  ["/repositories/{*}/actions/runs", "as for issues"],
]);

const SOLE = /^\{([a-z][a-z0-9_]*)\}$/;
const SCALARS = ["string", "integer", "number", "boolean"];

export function checkManifest(manifest, description) {
  const report = { faults: [], checked: 0 };
  const check = (good, code, where, what) => {
    report.checked += 1;
    if (!good) report.faults.push({ code, where, what });
    return good;
  };
  const hosts = description.hosts();
  check(hosts.includes(manifest.host), "host", "host", `\`${manifest.host}\` is not one of ${hosts.join(", ")}`);
  for (const [id, op] of Object.entries(manifest.ops)) {
    checkOp({ id, op, manifest, description, check });
  }
  const { viewer, account } = manifest.auth ?? {};
  if (account !== undefined) {
    const fields = manifest.ops[viewer]?.pick?.fields ?? [];
    check(fields.includes(account.replace(/^\$\./, "")), "account", "auth.account", `${viewer} does not pick \`${account}\``);
  }
  return report;
}

function checkOp(context) {
  const { id, op, description, check } = context;
  if (op.module !== undefined) return checkModule(context);
  const { method, path } = op.request ?? {};
  const described = path && description.operation(method, path);
  if (!check(described, "operation", id, `\`${method} ${path}\` is not described`)) return;
  checkParameters(context, described);
  checkBody(context, described);
  checkPick(context, described);
  checkPage(context, described);
  checkRequire(context);
  checkError(context, described);
}

function checkParameters({ id, op, description, check }, described) {
  const inPath = [...op.request.path.matchAll(/\{([^{}]+)\}/g)].map(([, name]) => [name, `{${name}}`]);
  const query = Object.entries(op.request.query ?? {});
  for (const [place, entries] of [["path", inPath], ["query", query]]) {
    const known = new Map(described.parameters.filter((one) => one.in === place).map((one) => [one.name, one]));
    for (const [name, value] of entries) {
      const where = `${id}: ${place} parameter ${name}`;
      const parameter = known.get(name);
      if (!check(parameter, "parameter", where, "is not described")) continue;
      const variants = description.variants(parameter.schema);
      const joined = value?.join !== undefined;
      const { description: prose, required } = parameter;
      checkTemplate(joined ? value.value : value, variants, { op, where, check, description, joined, prose, required });
    }
    const given = new Set(entries.map(([name]) => name));
    const missing = [...known.values()].filter((one) => one.required && !given.has(one.name)).map((one) => one.name);
    check(missing.length === 0, "required", `${id}: ${place}`, `lacks ${missing.join(", ")}`);
  }
}

/** One value of a request: a fixed one, an object or a list of values, or an arg that must be no wider than what is described. */
function checkTemplate(value, variants, at) {
  if (Array.isArray(value)) return checkList(value, variants, at);
  if (value !== null && typeof value === "object") return checkMembers(value, variants, at);
  const sole = typeof value === "string" && SOLE.exec(value);
  if (!sole) {
    const closed = listed(variants);
    const bare = typeof value !== "string" || !value.includes("{");
    const boolean = types(variants).has("boolean") && ["true", "false"].includes(String(value));
    const fits = closed ? closed.has(value) : boolean || types(variants).has(typeof value);
    at.check(bare && fits, "literal", at.where, `\`${value}\` does not fit`);
    return;
  }
  const name = sole[1];
  const arg = at.op.args.properties[name];
  if (!at.check(arg, "arg", at.where, `there is no arg \`${name}\``)) return;
  const present = at.op.args.required?.includes(name) || arg.default !== undefined;
  at.check(!at.required || present, "required", at.where, `must always be there, \`${name}\` may be absent`);
  if (at.joined) {
    at.check(arg.type === "array" && types(variants).has("string"), "type", at.where, "only an array is joined, into a string");
  } else {
    checkSchema(arg, variants, at);
  }
}

function checkList(values, variants, at) {
  if (!at.check(types(variants).has("array"), "literal", at.where, "is no list")) return;
  const items = at.description.walk(variants, ["*"]);
  values.forEach((value, place) => checkTemplate(value, items, { ...at, where: `${at.where}[${place}]`, required: true, prose: "" }));
}

/** The members of a body, or of an object in it: each is described, and none that must be there is left out. */
function checkMembers(members, variants, at) {
  const required = new Set(variants.flatMap((schema) => schema.required ?? []));
  for (const [name, value] of Object.entries(members)) {
    const member = at.description.walk(variants, [name]);
    const where = `${at.where} member ${name}`;
    if (!at.check(member.length > 0, "body", where, "is not described")) continue;
    checkTemplate(value, member, { ...at, where, required: required.has(name), prose: "" });
  }
  const missing = [...required].filter((name) => !Object.hasOwn(members, name));
  at.check(missing.length === 0, "required", at.where, `lacks ${missing.join(", ")}`);
}

export function checkSchema(arg, variants, at) {
  const allowed = types(variants);
  const fits = allowed.size === 0 || allowed.has(arg.type) || (arg.type === "integer" && allowed.has("number"));
  at.check(fits, "type", at.where, `is ${[...allowed].join(" or ")}, not ${arg.type}`);
  const closed = listed(variants.filter((schema) => schema.type === arg.type || schema.type === undefined));
  if (closed && arg.type !== "array") {
    const values = arg.enum ?? [];
    const wrong = values.filter((value) => !closed.has(value));
    const what = `${wrong.join(", ") || "an open arg"} is not in ${[...closed].join(", ")}`;
    at.check(values.length > 0 && wrong.length === 0, "enum", at.where, what);
  }
  if (variants.some((schema) => schema.format === "date-time")) {
    at.check(arg.format === "date-time", "format", at.where, "is a date-time");
  }
  const bound = largest(variants, at.prose);
  if (bound < Infinity) {
    at.check(arg.maximum <= bound, "maximum", at.where, `is at most ${bound}, not ${arg.maximum}`);
  }
  if (arg.type === "array") {
    checkSchema(arg.items, at.description.walk(variants, ["*"]), { ...at, where: `${at.where}[*]`, prose: "" });
  }
  for (const [name, inner] of Object.entries(arg.properties ?? {})) {
    const where = `${at.where}.${name}`;
    const member = at.description.walk(variants, [name]);
    if (at.check(member.length > 0, "body", where, "is not described")) checkSchema(inner, member, { ...at, where, prose: "" });
  }
}

function checkBody({ id, op, description, check }, described) {
  const { json, form } = op.request;
  const body = json ?? form;
  if (body === undefined) {
    check(!described.body?.required, "required", `${id}: body`, "is required");
    return;
  }
  const variants = described.body?.variants ?? [];
  const where = `${id}: body`;
  if (!check(variants.length > 0, "body", where, "is not described")) return;
  checkMembers(body, variants, { op, where, check, description });
}

/** The steps of a path of names, places and `[*]`; a leading `$` or `$.` is dropped. */
export function steps(path) {
  const text = path.replace(/^\$\.?/, "");
  const found = [...text.matchAll(/\.?([^.[\]'"]+)|\[\*\]|\[(\d+)\]|\['([^'\\]*)'\]/gy)];
  if (found.map(([whole]) => whole).join("") !== text) throw new Error(`cannot read the path \`${path}\``);
  return found.map(([, name, place, quoted]) => (place !== undefined ? Number(place) : (name ?? quoted ?? "*")));
}

/** The variants that the fields of a pick start from: the root, or its elements where it is an array. */
export function rootOf(pick, answer, description) {
  const root = description.walk(answer, steps(pick.root ?? "$"));
  return types(root).has("array") ? description.walk(root, ["*"]) : root;
}

function checkPick({ id, op, description, check }, described) {
  const good = described.statuses.filter((status) => /^2\d\d$/.test(status));
  if (!check(good.length > 0, "answer", id, "has no successful answer")) return;
  for (const status of good) {
    const answer = described.answer(status);
    if (op.pick === "none") {
      check(answer.length === 0, "pick", `${id}: ${status}`, "answers with a body, and nothing is picked");
      continue;
    }
    const root = rootOf(op.pick, answer, description);
    if (!check(root.length > 0, "root", `${id}: ${status}`, `root \`${op.pick.root ?? "$"}\` is not described`)) continue;
    for (const field of op.pick.fields) {
      const path = field.path ?? field;
      const where = `${id}: ${status} field ${path}`;
      const leaf = description.walk(root, steps(path));
      if (!check(leaf.length > 0, "field", where, "is not described")) continue;
      const elements = description.walk(leaf, ["*"]);
      const scalar = SCALARS.some((type) => types(leaf).has(type) || types(elements).has(type));
      check(scalar, "leaf", where, "is neither a scalar nor an array of scalars");
    }
  }
}

function checkPage({ id, op, description, check }, described) {
  const { page } = op;
  if (page === undefined) return;
  for (const path of page.paths ?? []) {
    const shape = (text) => text.replaceAll(/\{[^{}]*\}/g, "{}");
    const known = PAGE_PATHS.has(path) || (description.hasPath(path) && shape(path) === shape(op.request.path));
    check(known, "page", `${id}: page path ${path}`, "is neither described nor on the list of exceptions");
  }
  const carrier = page.query ?? "page";
  const fed = Object.keys(op.request.query ?? {});
  check(!fed.includes(carrier), "page", `${id}: query`, `feeds \`${carrier}\`, which carries the page on`);
  if (page.query !== undefined) {
    const known = described.parameters.some((one) => one.in === "query" && one.name === page.query);
    check(known, "page", `${id}: page parameter ${page.query}`, "is not described");
  }
  if (page.next !== undefined) {
    const next = description.walk(described.answer("200"), steps(page.next));
    check(next.length > 0, "page", `${id}: next page`, `\`${page.next}\` is not described`);
  }
}

function checkRequire({ id, manifest, op, description, check }) {
  for (const { op: name, path } of op.require ?? []) {
    const where = `${id}: require ${name}`;
    const request = manifest.ops[name]?.request;
    const described = request && description.operation(request.method, request.path);
    if (!check(described, "require", where, "is no op whose request is described")) continue;
    check(description.walk(described.answer("200"), steps(path)).length > 0, "require", where, `\`${path}\` is not described`);
  }
}

export function checkError({ id, manifest, description, check }, described) {
  const path = manifest.error?.message;
  const failures = described.statuses.filter((status) => /^[45]\d\d$/.test(status));
  for (const status of path === undefined ? [] : failures) {
    const answer = described.answer(status);
    if (answer.length === 0) continue;
    check(description.walk(answer, steps(path)).length > 0, "error", `${id}: ${status}`, `\`${path}\` is not described`);
  }
}
