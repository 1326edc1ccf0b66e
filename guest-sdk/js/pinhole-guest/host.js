// What an op is given: requests to the manifest's service, their pages, the log, the time. Nothing else is to be had.
//
// INVARIANT: whatever is sent goes through `raw`, which the sandbox gives or a test.

import { ServiceError } from "./errors.js";
import { byCursor, byLink, byPage, byRelay } from "./pages.js";
import { Request, failure } from "./request.js";
import { Response } from "./response.js";

/** What an op is given. */
export class Host {
  constructor(raw) {
    /** The contract's own functions. */
    this.raw = raw;
    const write = (level) => (message) => raw.write(level, String(message));
    /** Lines for the host's log. */
    this.log = { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
  }

  /** Seconds since 1970 at which the call began. */
  now() {
    return Number(this.raw.now());
  }

  /** A GET; `{name}`s of the path are filled with these values. */
  get(path, values = {}) {
    return Request.to(this, "get", path, values);
  }

  /** A HEAD. */
  head(path, values = {}) {
    return Request.to(this, "head", path, values);
  }

  /** A POST, on a line that says it reads. */
  post(path, values = {}) {
    return Request.to(this, "post", path, values);
  }

  /** The `data` of a GraphQL document, which must be the line's letter by letter. Throws on `errors` and other statuses. */
  graphql(path, query, variables = {}) {
    const response = this.post(path).json({ query, variables }).send();
    // Some services send `errors` with a status of 400: they say more than the status does.
    const answer = response.ok || /json/.test(response.header("content-type") ?? "") ? response.json() : {};
    if (answer?.errors?.length > 0) {
      throw new ServiceError(`the service answered with an error: ${answer.errors[0]?.message ?? "without a message"}`, response);
    }
    response.expectOk();
    if (typeof answer?.data !== "object" || answer.data === null) {
      throw new ServiceError("the service answered without `data`", response);
    }
    return answer.data;
  }

  /** Sends all, up to eight at once. Gives for each, in their order, its answer or the `RequestError` that came of it. */
  sendAll(requests) {
    const results = this.raw.sendAll(requests.map((request) => request.raw));
    return results.map(({ tag, val }, at) => (tag === "ok" ? new Response(`${requests[at]}`, val) : failure(val)));
  }

  /**
   * The pages of a list, one after the other. Each is asked for when the one before it is done with. More than `limit`
   * pages are an error, never a list that is silently short.
   */
  pages = {
    /** Follows `Link: <…>; rel="next"`. Gives answers. */
    link: (request, options) => byLink(request, options),
    /** Counts `query` up from `first` until `items` of an answer gives none, or fewer than `size`. Gives answers. */
    page: (request, options) => byPage(request, options),
    /** Puts what `next` finds in an answer into `query` until it finds none. Gives answers. */
    cursor: (request, options) => byCursor(request, options),
    /** Follows a GraphQL connection, which `connection` finds in `data`. Gives `data`. */
    relay: (path, query, variables, options) => byRelay(this, path, query, variables, options),
  };
}
