// Proves that the check can fail: spoils a copy of the manifest or its cases one way at a time and asks for the one fault.
//
// Each spoiler names every place that it could spoil, and one of them must be caught: not every fixed value or every arg is
// held to something. One that is caught nowhere is itself a failure, unless the manifest is listed as having nothing of it.

/** What only a manifest with a module has. */
const OF_MODULES = [
  "an unknown path in a module's line", "a method that a module's path does not have", "an unknown query key in a module's line",
  "an arg of the wrong type in a module's path", "a request in a case that no line declares", "a value in a module's query that is not listed",
  "an unknown member in what a module posts",
];

/** What a manifest has nothing of that is described. When it comes to have some, the list is out of date, which is a failure. */
const WITHOUT = {
  cloudflare: [
    ...OF_MODULES, "a date that is any text", "an unknown member inside a body", "an unknown member of an arg", "an unknown page path",
  ],
  pagerduty: [
    ...OF_MODULES, "an unknown member inside a body", "an unknown member of an arg", "an unknown page parameter", "an unknown page path",
    "an unknown place for the next page",
  ],
  sendgrid: [
    ...OF_MODULES, "a date that is any text", "an unknown member of an arg", "an unknown page parameter", "an unknown page path",
    "an unknown place for the next page",
  ],
  todoist: [
    ...OF_MODULES, "a fixed value of the wrong type", "an unknown field in an array", "an unknown member inside a body", "an unknown member of an arg",
    "an unknown page path",
  ],
  github: ["an arg of the wrong type in a module's path", "an unknown member in what a module posts", "an unknown member inside a body", "an unknown member of an arg", "an unknown page parameter", "an unknown place for the next page"],
  dnsimple: [
    "a date that is any text", "a fixed value of the wrong type", "an unknown field in an array", "an unknown member inside a body",
    "an unknown member in what a module posts", "an unknown member of an arg", "an unknown page path", "an unknown place for the next page",
  ],
  hubspot: [
    "a date that is any text", "a value in a module's query that is not listed", "an arg of the wrong type in a module's path", "an unknown page path",
    "an unknown requirement",
  ],
  gitlab: [
    ...OF_MODULES, "a date that is any text", "a fixed value of the wrong type", "an unknown member inside a body", "an unknown member of an arg",
    "a field that is not there when the root is", "an unknown root", "an unknown page path", "an unknown page parameter", "an unknown place for the next page",
  ],
  notion: [...OF_MODULES, "a date that is any text", "an unknown page path"],
  sentry: [
    ...OF_MODULES, "a date that is any text", "a fixed value of the wrong type", "an unknown member inside a body", "an unknown member of an arg",
    "an unknown page path", "an unknown page parameter", "an unknown place for the next page",
  ],
  slack: [...OF_MODULES, "a date that is any text", "an unknown member inside a body", "an unknown member of an arg", "an unknown page path"],
};

/** The fault to ask for, the spoiler's name, and the places: each spoils the manifest and cases that it is given. */
const SPOILERS = [
  ["operation", "an unknown path", () => [(m) => (ops(m)[0].request.path += "/nowhere")]],
  ["operation", "an unknown method", (m) => each(m, (op) => op.request.method === "GET", (op) => (op.request.method = "PUT"))],
  ["host", "another host", () => [(m) => (m.host = "api.example.com")]],
  ["parameter", "an unknown query parameter", (m) => each(m, (op) => op.request.query, (op) => (op.request.query.colour = "blue"))],
  ["required", "an optional arg for a required value", (m) => args(m, (_, name, op) => op.args.required?.includes(name), (_, name, op) => {
    op.args.required = op.args.required.filter((one) => one !== name);
  })],
  ["required", "a required query parameter or body member left out", (m) => values(m, () => true, (holder, name) => delete holder[name])],
  ["enum", "a wrong value in an enum", (m) => args(m, (one) => one.enum, (one) => one.enum.push("sideways"))],
  ["enum", "an open arg for a closed parameter", (m) => args(m, (one) => one.enum, (one) => delete one.enum)],
  ["type", "a wrong type", (m) => args(m, (one) => one.type === "integer", (one) => (one.type = "boolean"))],
  ["maximum", "a page that is too large", (m) => args(m, (one) => one.maximum !== undefined, (one) => (one.maximum += 1))],
  ["format", "a date that is any text", (m) => args(m, (one) => one.format === "date-time", (one) => delete one.format)],
  ["literal", "a fixed value of the wrong type", (m) => values(m, (value) => !String(value).includes("{"), (holder, name) => (holder[name] = "maybe"))],
  ["arg", "a placeholder without an arg", (m) => each(m, (op) => op.request.query, (op) => (op.request.query[Object.keys(op.request.query)[0]] = "{nobody}"))],
  ["body", "an unknown body member", (m) => each(m, (op) => op.request.json, (op) => (op.request.json.colour = "blue"))],
  ["body", "an unknown member inside a body", (m) => values(m, (value) => Array.isArray(value) && typeof value[0] === "object", (holder, name) => {
    holder[name][0].colour = "blue";
  })],
  ["body", "an unknown member of an arg", (m) => args(m, (one) => one.items?.properties, (one) => (one.items.properties.colour = { type: "string" }))],
  ["field", "an unknown field", (m) => picks(m, () => true, (pick) => pick.fields.push("colour"))],
  ["field", "an unknown field in an array", (m) => picks(m, inArray, (pick) => pick.fields.push(`${inArray(pick)}.weight`))],
  ["field", "a field that is not there when the root is", (m) => picks(m, (pick) => pick.root, (pick) => pick.fields.push("total_count"))],
  ["leaf", "an object as a leaf", (m) => picks(m, inObject, (pick) => pick.fields.push(inObject(pick)))],
  ["root", "an unknown root", (m) => picks(m, (pick) => pick.root, (pick) => (pick.root = "$.nothing"))],
  ["page", "an unknown page path", (m) => each(m, (op) => op.page?.paths, (op) => op.page.paths.push("/elsewhere/{*}"))],
  ["page", "an unknown page parameter", (m) => each(m, (op) => op.page?.query, (op) => (op.page.query = "colour"))],
  ["page", "an unknown place for the next page", (m) => each(m, (op) => op.page?.next, (op) => (op.page.next = "$.colour"))],
  ["require", "an unknown requirement", (m) => each(m, (op) => op.require, (op) => (op.require[0].path = "$.colour"))],
  ["error", "an unknown place for errors", () => [(m) => (m.error.message = "$.colour")]],
  ["account", "an account that is not picked", () => [(m) => (m.auth.account = "$.colour")]],
  ["case_member", "an invented member in a case", (m, cases) => answers(cases, (one) => (one.colour = "blue"))],
  ["case_type", "a wrong type in a case", (m, cases) => answers(cases, (one) => (one.id = ["one"]))],
  ["operation", "an unknown path in a module's line", (m) => lines(m, () => true, (line) => (line.path += "/no/where/at/all"))],
  ["operation", "a method that a module's path does not have", (m) => lines(m, () => true, (line) => (line.method = "HEAD"))],
  ["parameter", "an unknown query key in a module's line", (m) => lines(m, () => true, (line) => (line.query = [...(line.query ?? []), "colour"]))],
  ["type", "an arg of the wrong type in a module's path", (m) => modules(m, (op) => Object.values(op.args.properties).some((one) => one.type === "integer"), (op) => {
    Object.values(op.args.properties).filter((one) => one.type === "integer").forEach((one) => (one.type = "boolean"));
  })],
  ["case", "a request in a case that no line declares", (m, cases) => asked(m, cases, () => true, (request) => (request.path += "/nowhere"))],
  ["case_query", "a value in a module's query that is not listed", (m, cases) => asked(m, cases, ({ query }) => query?.sort, ({ query }) => (query.sort = "sideways"))],
  ["case_member", "an unknown member in what a module posts", (m, cases) => asked(m, cases, ({ body }) => body, ({ body }) => (body.colour = "blue"))],
  ["case_coverage", "an op without a case", () => [(m, cases) => cases.splice(0, cases.length)]],
];

/** Runs `check(manifest, cases)` over spoiled copies; gives a line for each spoiler that was not caught. */
export function selfTest(manifest, cases, check) {
  const missed = [];
  const without = WITHOUT[manifest.id] ?? [];
  const unknown = without.filter((name) => !SPOILERS.some(([, one]) => one === name));
  missed.push(...unknown.map((name) => `${name}: there is no such spoiler`));
  for (const [code, name, places] of SPOILERS) {
    const caught = (place) => {
      const copy = structuredClone({ manifest, cases });
      places(copy.manifest, copy.cases)[place](copy.manifest, copy.cases);
      return check(copy.manifest, copy.cases).faults.some((fault) => fault.code === code);
    };
    const count = places(manifest, cases).length;
    const any = Array.from({ length: count }, (_, place) => place).some(caught);
    if (any === without.includes(name)) missed.push(`${name}: ${any ? "caught, and listed as absent" : `no ${code} in any of ${count} places`}`);
  }
  return { missed, tried: SPOILERS.length - without.length };
}

/** The ops that are one request each. */
const ops = (manifest) => Object.values(manifest.ops).filter((op) => op.request);
const modulesOf = (manifest) => Object.values(manifest.ops).filter((op) => op.module);

/** The last object, or the last array's elements, that a field goes through. */
const through = (pick, pattern) => pick.fields.map((field) => pattern.exec(field.path ?? field)?.[1]).find((one) => one !== undefined);
const inArray = (pick) => through(pick, /^(.*\[\*\])\.[^.[\]]+$/);
const inObject = (pick) => through(pick, /^(.*[^\]])\.[^.[\]]+$/);

function each(manifest, wanted, spoil) {
  return ops(manifest).filter(wanted).map((op) => () => spoil(op));
}

function picks(manifest, wanted, spoil) {
  return ops(manifest).filter(({ pick }) => pick !== "none" && wanted(pick)).map(({ pick }) => () => spoil(pick));
}

function modules(manifest, wanted, spoil) {
  return modulesOf(manifest).filter(wanted).map((op) => () => spoil(op));
}

/** Every line of a module. */
function lines(manifest, wanted, spoil) {
  return modulesOf(manifest).flatMap((op) => op.module.requests).filter(wanted).map((line) => () => spoil(line));
}

/** Every request of a module in a case. */
function asked(manifest, cases, wanted, spoil) {
  const shown = cases.filter(({ name }) => manifest.ops[name.split(".")[0]]?.module && !name.includes(".malformed_"));
  const requests = shown.flatMap(({ content }) => content.exchanges.map(({ request }) => request));
  return requests.filter(wanted).map((request) => () => spoil(request));
}

/** Every arg, and every element and member of one. */
function args(manifest, wanted, spoil) {
  const inner = (one) => [one, ...[one.items ?? [], Object.values(one.items?.properties ?? {})].flat()];
  const named = (op) => Object.entries(op.args.properties).flatMap(([name, one]) => inner(one).map((part) => [part, name, op]));
  const all = ops(manifest).flatMap(named);
  return all.filter((one) => wanted(...one)).map((one) => () => spoil(...one));
}

/** Every value of a query or of the top of a body, as the object that holds it and its name. */
function values(manifest, wanted, spoil) {
  const holders = ops(manifest).flatMap(({ request }) => [request.query, request.json].filter((one) => one !== undefined));
  const all = holders.flatMap((holder) => Object.keys(holder).map((name) => [holder, name]));
  return all.filter(([holder, name]) => wanted(holder[name])).map(([holder, name]) => () => spoil(holder, name));
}

/** Every object in an answer that has an id. */
function answers(cases, spoil) {
  const shown = cases.filter(({ name }) => !name.includes(".malformed_"));
  const within = (value) => {
    if (value === null || typeof value !== "object") return [];
    return [...(Object.hasOwn(value, "id") ? [value] : []), ...Object.values(value).flatMap(within)];
  };
  const named = shown.flatMap(({ content }) => content.exchanges.flatMap(({ response }) => within(response.body)));
  return named.map((one) => () => spoil(one));
}
