// Proves that the check can fail: spoils a copy of the manifest or its cases one way at a time and asks for the one fault.
//
// Each spoiler looks for the first op that it can spoil; one that finds none is itself a failure.

const SPOILERS = [
  ["operation", "an unknown path", (m) => (find(m, () => true).request.path += "/nowhere")],
  ["operation", "an unknown method", (m) => (find(m, (op) => op.request.method === "GET").request.method = "PUT")],
  ["host", "another host", (m) => (m.host = "api.example.com")],
  ["parameter", "an unknown query parameter", (m) => (find(m, query).request.query.colour = "blue")],
  ["required", "an optional arg for a required parameter", (m) => {
    const op = find(m, (one) => one.request.query?.q === "{q}");
    op.args.required = op.args.required.filter((name) => name !== "q");
  }],
  ["required", "a required parameter left out", (m) => delete find(m, (op) => op.request.query?.q !== undefined).request.query.q],
  ["enum", "a wrong value in an enum", (m) => arg(m, (one) => one.enum).enum.push("sideways")],
  ["enum", "an open arg for a closed parameter", (m) => delete arg(m, (one) => one.enum).enum],
  ["type", "a wrong type", (m) => (arg(m, (one) => one.type === "integer").type = "boolean")],
  ["maximum", "a page that is too large", (m) => (arg(m, (one) => one.maximum === 100).maximum = 101)],
  ["format", "a date that is any text", (m) => delete arg(m, (one) => one.format === "date-time").format],
  ["literal", "a fixed value of the wrong type", (m) => {
    find(m, (op) => op.request.query?.exclude_pull_requests).request.query.exclude_pull_requests = "maybe";
  }],
  ["arg", "a placeholder without an arg", (m) => (find(m, query).request.query.per_page = "{nobody}")],
  ["body", "an unknown body member", (m) => (find(m, (op) => op.request.json).request.json.colour = "blue")],
  ["required", "a required body member left out", (m) => delete find(m, (op) => op.request.json?.title).request.json.title],
  ["field", "an unknown field", (m) => find(m, () => true).pick.fields.push("colour")],
  ["field", "an unknown field in an array", (m) => {
    find(m, (op) => op.pick.fields.includes("labels[*].name")).pick.fields.push("labels[*].weight");
  }],
  ["field", "a field that is not there when the root is", (m) => find(m, (op) => op.pick.root).pick.fields.push("total_count")],
  ["leaf", "an object as a leaf", (m) => find(m, (op) => op.pick.fields.includes("user.login")).pick.fields.push("user")],
  ["root", "an unknown root", (m) => (find(m, (op) => op.pick.root).pick.root = "$.nothing")],
  ["page", "an unknown page path", (m) => find(m, (op) => op.page?.paths).page.paths.push("/elsewhere/{*}")],
  ["require", "an unknown requirement", (m) => (find(m, (op) => op.require).require[0].path = "$.colour")],
  ["error", "an unknown place for errors", (m) => (m.error.message = "$.colour")],
  ["account", "an account that is not picked", (m) => (m.auth.account = "$.colour")],
  ["case_member", "an invented member in a case", (m, cases) => (answer(cases).colour = "blue")],
  ["case_type", "a wrong type in a case", (m, cases) => (answer(cases).id = "one")],
  ["case_coverage", "an op without a case", (m, cases) => cases.splice(0, cases.length)],
];

/** Runs `check(manifest, cases)` over each spoiled copy; gives a line for each spoiler that was not caught. */
export function selfTest(manifest, cases, check) {
  const missed = [];
  for (const [code, name, spoil] of SPOILERS) {
    const copy = structuredClone({ manifest, cases });
    try {
      spoil(copy.manifest, copy.cases);
    } catch (error) {
      missed.push(`${name}: nothing to spoil (${error.message})`);
      continue;
    }
    const codes = check(copy.manifest, copy.cases).faults.map((fault) => fault.code);
    if (!codes.includes(code)) missed.push(`${name}: wanted ${code}, got ${codes.join(", ") || "no fault"}`);
  }
  return { missed, tried: SPOILERS.length };
}

const query = (op) => op.request.query?.per_page !== undefined;

function find(manifest, wanted) {
  const op = Object.values(manifest.ops).find(wanted);
  if (op === undefined) throw new Error("no op fits");
  return op;
}

function arg(manifest, wanted) {
  const found = Object.values(manifest.ops).flatMap((op) => Object.values(op.args.properties)).find(wanted);
  if (found === undefined) throw new Error("no arg fits");
  return found;
}

function answer(cases) {
  const shown = cases.find(({ name, content }) => content.exchanges[0]?.response.body?.id !== undefined && !name.includes(".malformed_"));
  if (shown === undefined) throw new Error("no case fits");
  return shown.content.exchanges[0].response.body;
}
