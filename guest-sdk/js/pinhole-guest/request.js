// A request of an op, built step by step. It must match a line of the op's `requests`: the host holds it to that.
//
// Refuses a value that is not one segment of a path before the host would. INVARIANT: a request is never changed; each
// step gives a new one, so that a page can be asked for again and again.

import { OpError, RequestError } from "./errors.js";
import { toJson } from "./json.js";
import { Response } from "./response.js";

/** A request. */
export class Request {
  #host;
  #parts;

  constructor(host, parts) {
    this.#host = host;
    this.#parts = parts;
  }

  /** A request to a path whose `{name}`s are filled with these values, each as one segment, encoded. */
  static to(host, method, path, values) {
    return new Request(host, { method, path: filled(path, values), query: [], headers: [], body: null });
  }

  #with(parts) {
    return new Request(this.#host, { ...this.#parts, ...parts });
  }

  /** Adds to the query. `null` and `undefined` add nothing, an array adds its key once for each element. */
  query(name, value) {
    const values = (Array.isArray(value) ? value : [value]).filter((value) => value !== null && value !== undefined);
    return this.#with({ query: [...this.#parts.query, ...values.map((value) => [name, String(value)])] });
  }

  /** Puts a value into the query in the place of those of the same name. */
  setQuery(name, value) {
    return this.#with({ query: this.#parts.query.filter(([other]) => other !== name) }).query(name, value);
  }

  /** The same path with another query, as pairs. */
  withQuery(pairs) {
    return this.#with({ query: pairs.map(([name, value]) => [name, value]) });
  }

  /** The same with another path, as it is sent. */
  withPath(path) {
    return this.#with({ path });
  }

  /** Adds a header; the line lists its name. */
  header(name, value) {
    return this.#with({ headers: [...this.#parts.headers, [name, String(value)]] });
  }

  /** Gives it a body of JSON. */
  json(value) {
    return this.#with({ body: toJson(value) });
  }

  /** As the contract has it. */
  get raw() {
    return this.#parts;
  }

  /** Sends it and waits for the answer, whatever its status. Throws a `RequestError` where there is none. */
  send() {
    try {
      return new Response(`${this}`, this.#host.raw.send(this.#parts));
    } catch (error) {
      throw failure(error?.payload) ?? error;
    }
  }

  toString() {
    return `${this.#parts.method.toUpperCase()} ${this.#parts.path}`;
  }
}

/** What the host says of a request without an answer, as an error. */
export function failure(said) {
  return said?.code === undefined ? undefined : new RequestError(said.code, said.message);
}

function filled(path, values) {
  return path.replace(/\{([^{}]*)\}/g, (_, name) => {
    if (!Object.hasOwn(values, name)) throw new OpError(`the path \`${path}\` has no value for \`{${name}}\``);
    return segment(name, values[name]);
  });
}

function segment(name, value) {
  const text = String(value ?? "");
  if (text === "" || text === "." || text === ".." || /[\0-\x1f\x7f]/.test(text)) {
    throw new OpError(`\`${name}\` cannot stand in a path: it is empty, \`.\`, \`..\` or holds a control character`);
  }
  try {
    return encodeURIComponent(text);
  } catch {
    throw new OpError(`\`${name}\` is not valid Unicode`);
  }
}
