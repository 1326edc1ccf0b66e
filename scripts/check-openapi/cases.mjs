// Holds the answers in a manifest's cases against the description, so that an invented answer has the shape of a real one.
//
// A member or a type that no variant describes is a fault. A case named `<op>.malformed_….json` shows what happens to an
// answer that the service should never give, and is let off. Every picked field must come back in some case.

import { types } from "./description.mjs";
import { steps } from "./manifest.mjs";
import { askedOf } from "./module.mjs";

/** `cases` is a list of `{name, content}`, the content already parsed. */
export function checkCases(manifest, description, cases) {
  const report = { faults: [], checked: 0 };
  const check = (good, code, where, what) => {
    report.checked += 1;
    if (!good) report.faults.push({ code, where, what });
    return good;
  };
  for (const { name, content } of cases) {
    const [id, title] = name.split(".");
    const op = manifest.ops[id];
    if (!check(op, "case", name, `there is no op \`${id}\``) || title.startsWith("malformed_")) continue;
    content.exchanges.forEach(({ request, response }, place) => {
      const asked = manifest.ops[op.require?.[place]?.op] ?? op;
      const described = asked.module
        ? askedOf(asked, request, { description, check, checkValue, where: `${name}: request ${place}` })
        : description.operation(asked.request.method, asked.request.path);
      const status = String(response.status);
      const variants = described?.statuses.includes(status) ? described.answer(status) : [];
      if (response.status < 300) {
        const empty = response.body === undefined && described?.statuses.includes(status);
        check(variants.length > 0 || empty, "case", name, `${status} is not described`);
      }
      if (variants.length === 0 || response.body_text !== undefined) return;
      checkValue(response.body, variants, { description, check, where: `${name}: exchange ${place}` });
    });
  }
  checkCoverage(manifest, cases, check);
  return report;
}

function checkValue(value, variants, at) {
  const { description, check, where } = at;
  const allowed = types(variants);
  const type = value === null ? "null" : Array.isArray(value) ? "array" : Number.isInteger(value) ? "integer" : typeof value;
  const fits = allowed.size === 0 || allowed.has(type) || (type === "integer" && allowed.has("number"));
  if (!check(fits, "case_type", where, `is ${[...allowed].join(" or ")}, not ${type}`)) return;
  if (type === "array") {
    const items = description.walk(variants, ["*"]);
    value.forEach((element, place) => checkValue(element, items, { ...at, where: `${where}[${place}]` }));
  }
  if (type === "object") {
    const open = variants.some((schema) => schema.additionalProperties === true);
    for (const [name, member] of Object.entries(value)) {
      const inner = description.walk(variants, [name]);
      if (open && inner.length === 0) continue;
      if (check(inner.length > 0, "case_member", `${where}.${name}`, "is not described")) {
        checkValue(member, inner, { ...at, where: `${where}.${name}` });
      }
    }
  }
}

function checkCoverage(manifest, cases, check) {
  for (const [id, op] of Object.entries(manifest.ops)) {
    const results = cases.filter(({ name }) => name.split(".")[0] === id).map(({ content }) => content.expect.result);
    const shown = results.filter((result) => result !== undefined);
    if (!check(shown.length > 0, "case_coverage", id, "has no case with a result")) continue;
    for (const field of op.pick?.fields ?? []) {
      const way = field.as === undefined ? steps(field) : [field.as];
      const seen = shown.flatMap((result) => (Array.isArray(result) ? result : [result])).some((one) => reaches(one, way));
      check(seen, "case_coverage", id, `no case shows \`${field.path ?? field}\``);
    }
  }
}

function reaches(value, [step, ...rest]) {
  if (step === undefined) return true;
  if (value === null || typeof value !== "object") return false;
  if (step === "*") return Object.values(value).some((element) => reaches(element, rest));
  return Object.hasOwn(value, step) && reaches(value[step], rest);
}
