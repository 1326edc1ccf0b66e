// A service's own OpenAPI description (3.0 or 3.1, JSON), asked one question at a time.
//
// Schemas are looked at as a set of variants: `$ref` is followed and `allOf`, `anyOf` and `oneOf` are laid side by side.
// Something counts as described when any variant describes it; nothing is ever taken from examples or prose, except the
// `(max N)` of a page size, which some descriptions say in words only.

const METHODS = ["get", "head", "post", "put", "patch", "delete"];

export class Description {
  #document;

  constructor(document) {
    if (typeof document?.openapi !== "string" || typeof document.paths !== "object") {
      throw new Error("not an OpenAPI description: no `openapi` or no `paths`");
    }
    this.#document = document;
  }

  /** The host names of its servers. */
  hosts() {
    return (this.#document.servers ?? []).map((server) => new URL(server.url).hostname);
  }

  hasPath(path) {
    return Object.hasOwn(this.#document.paths, path);
  }

  /** The operation's parameters, body schema and answers; nothing if it is not described. */
  operation(method, path) {
    const key = method.toLowerCase();
    if (!this.hasPath(path) || !METHODS.includes(key)) return undefined;
    const item = this.#document.paths[path];
    if (!Object.hasOwn(item, key)) return undefined;
    const operation = item[key];
    const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map((one) => this.#follow(one));
    const body = this.#follow(operation.requestBody);
    return {
      parameters,
      body: body && { required: body.required === true, variants: this.variants(jsonSchema(body)) },
      statuses: Object.keys(operation.responses),
      answer: (status) => this.variants(jsonSchema(this.#follow(operation.responses[status]))),
    };
  }

  /** The described path that a request to this one goes to: `{…}` and `{*}` may be any segment, a fixed segment itself. */
  pathOf(method, path) {
    const wanted = path.split("/");
    const open = (segment) => /^\{.*\}$/.test(segment);
    // Of several the one with the most fixed segments in common, as servers route.
    const fixed = (known) => {
      const parts = known.split("/");
      const fits = parts.length === wanted.length && parts.every((part, at) => part === wanted[at] || open(part));
      return fits ? parts.filter((part) => !open(part)).length : -1;
    };
    const served = Object.keys(this.#document.paths).filter((known) => this.operation(method, known));
    const best = served.reduce((found, known) => (fixed(known) > fixed(found ?? "") ? known : found), undefined);
    return best !== undefined && fixed(best) >= 0 ? best : undefined;
  }

  /** Every concrete schema that a schema may stand for. */
  variants(schema, seen = new Set()) {
    const found = this.#follow(schema);
    if (found === undefined || seen.has(found)) return [];
    seen.add(found);
    const parts = ["allOf", "anyOf", "oneOf"].flatMap((word) => found[word] ?? []);
    return [found, ...parts.flatMap((part) => this.variants(part, seen))];
  }

  /** The variants of a member, of an element (`*`), or of the element at a place (a number). */
  step(variants, step) {
    return variants.flatMap((schema) => {
      if (step === "*" || typeof step === "number") return this.variants(schema.items);
      if (Object.hasOwn(schema.properties ?? {}, step)) return this.variants(schema.properties[step]);
      return typeof schema.additionalProperties === "object" ? this.variants(schema.additionalProperties) : [];
    });
  }

  walk(variants, steps) {
    return steps.reduce((now, step) => this.step(now, step), variants);
  }

  #follow(node) {
    let found = node;
    for (let hops = 0; found !== undefined && found !== null && found.$ref !== undefined; hops += 1) {
      if (hops > 32 || !found.$ref.startsWith("#/")) throw new Error(`cannot follow ${found.$ref}`);
      const names = found.$ref.slice(2).split("/").map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
      found = names.reduce((at, name) => at?.[name], this.#document);
      if (found === undefined) throw new Error("a $ref leads nowhere");
    }
    return found ?? undefined;
  }
}

function jsonSchema(holder) {
  const content = holder?.content ?? {};
  const type = Object.keys(content).find((name) => /^application\/(.+\+)?json\b/.test(name));
  return type && content[type].schema;
}

/** The types that the variants allow; empty when none says. */
export function types(variants) {
  const named = variants.flatMap((schema) => [schema.type ?? (schema.properties ? "object" : [])].flat());
  return new Set(variants.some((schema) => schema.nullable) ? [...named, "null"] : named);
}

/** The values that the variants list, or nothing when they leave it open. */
export function listed(variants) {
  const closed = variants.filter((schema) => Array.isArray(schema.enum));
  return closed.length > 0 ? new Set(closed.flatMap((schema) => schema.enum)) : undefined;
}

/** The largest number that is allowed, said as a bound or as `(max N)`. */
export function largest(variants, prose = "") {
  const bounds = variants.map((schema) => schema.maximum).filter((bound) => typeof bound === "number");
  const said = /\(max (\d+)\)/.exec(prose);
  return Math.min(...bounds, said ? Number(said[1]) : Infinity);
}
