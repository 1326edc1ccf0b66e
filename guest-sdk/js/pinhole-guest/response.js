// What the service answered. Refuses nothing by itself: `expectOk` and `json` throw where the answer is not as wanted.

import { OpError, ServiceError } from "./errors.js";
import { fromJson } from "./json.js";
import { fromUtf8 } from "./text.js";

/** An answer, whatever its status. */
export class Response {
  #request;
  #raw;
  #text;

  constructor(request, raw) {
    this.#request = request;
    this.#raw = raw;
  }

  get status() {
    return this.#raw.status;
  }

  /** Whether the status is 2xx. */
  get ok() {
    return this.status >= 200 && this.status < 300;
  }

  /** The body's bytes. */
  get body() {
    return this.#raw.body;
  }

  /** The values of a header, joined by `, `; `undefined` where there is none. */
  header(name) {
    const wanted = name.toLowerCase();
    const values = this.#raw.headers.filter(([name]) => name === wanted).map(([, value]) => value);
    return values.length > 0 ? values.join(", ") : undefined;
  }

  text() {
    return (this.#text ??= fromUtf8(this.#raw.body));
  }

  /** The body as JSON. With `exact`, whole numbers beyond 2^53 are BigInts and keep their digits. */
  json({ exact = false } = {}) {
    try {
      return exact ? fromJson(this.text()) : JSON.parse(this.text());
    } catch (error) {
      // That the engine came to its own end is no fault of the answer.
      if (!(error instanceof SyntaxError)) throw error;
      throw new OpError(`${this.#request}: the answer is not JSON`);
    }
  }

  /** This answer, if its status is 2xx. */
  expectOk() {
    if (this.ok) return this;
    throw new ServiceError(`${this.#request}: the service answered ${this.status}`, this);
  }
}
