// Holds what a module may ask for against the description: the method, path and query keys of each line of its op, and in
// cases what it did ask for. What it computes is its own: no description has it.

import { listed } from "./description.mjs";
import { checkError, checkSchema } from "./manifest.mjs";

/** Query keys that the service puts into its links and its description does not list, each with the reason. */
const LINK_KEYS = new Map([["/repos/{owner}/{repo}/issues after", "GitHub's links of long lists have a cursor; its guide to pagination shows it"]]);

export function checkModule(context) {
  const { id, op, description, check } = context;
  op.module.requests.forEach((line, place) => {
    const where = `${id}: line ${place}`;
    const path = description.pathOf(line.method, line.path);
    if (!check(path, "operation", where, `\`${line.method} ${line.path}\` is not described`)) return;
    const described = description.operation(line.method, path);
    checkPlaces(context, where, line.path.split("/"), path.split("/"), described);
    const known = new Map(described.parameters.filter((one) => one.in === "query").map((one) => [one.name, one]));
    const keys = line.query ?? [];
    for (const key of keys) {
      const there = known.has(key) || LINK_KEYS.has(`${line.path} ${key}`);
      check(there, "parameter", `${where}: query parameter ${key}`, "is not described");
    }
    const missing = [...known.values()].filter((one) => one.required && !keys.includes(one.name)).map((one) => one.name);
    check(missing.length === 0, "required", `${where}: query`, `lacks ${missing.join(", ")}`);
    check(line.reads !== true || described.body, "body", where, "has no body that could say what is searched for");
    checkError(context, described);
  });
}

/** The args of a path are what is described in their place. */
function checkPlaces({ op, description, check }, where, segments, described, { parameters }) {
  segments.forEach((segment, at) => {
    const arg = /^\{([a-z][a-z0-9_]*)\}$/.exec(segment)?.[1];
    const name = /^\{(.*)\}$/.exec(described[at])?.[1];
    const parameter = parameters.find((one) => one.in === "path" && one.name === name);
    if (arg === undefined || parameter === undefined) return;
    checkSchema(op.args.properties[arg], description.variants(parameter.schema), { where: `${where}: ${segment}`, check, description, op });
  });
}

/** The described operation of a request in a case, and what the request holds that is not described there. */
export function askedOf(op, request, { description, check, checkValue, where }) {
  const fits = (line) => {
    const parts = line.path.split("/");
    const sent = request.path.split("/");
    const same = (part, at) => part.startsWith("{") || part === sent[at];
    return line.method === request.method && parts.length === sent.length && parts.every(same);
  };
  const line = op.module.requests.find(fits);
  if (!check(line, "case", where, `no line declares \`${request.method} ${request.path}\``)) return undefined;
  const described = description.operation(line.method, description.pathOf(line.method, line.path) ?? "");
  if (described === undefined) return undefined;
  for (const [key, value] of Object.entries(request.query ?? {})) {
    const parameter = described.parameters.find((one) => one.in === "query" && one.name === key);
    const closed = parameter && listed(description.variants(parameter.schema));
    check(!closed || closed.has(value), "case_query", `${where}: ${key}`, `\`${value}\` is not in ${[...(closed ?? [])].join(", ")}`);
  }
  if (request.body !== undefined) {
    checkValue(request.body, described.body?.variants ?? [], { description, check, where: `${where}: body` });
  }
  return described;
}
