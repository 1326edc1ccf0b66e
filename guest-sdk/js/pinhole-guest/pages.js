// Four ways of services to cut a list into pages, each a generator.
//
// INVARIANT: a list is followed to its end or ends in an error: at most `limit` pages, and never the same one twice.

import { OpError } from "./errors.js";

/** Most pages where nothing else is said. */
const LIMIT = 20;

export function* byLink(request, { limit = LIMIT } = {}) {
  const seen = new Visits(limit);
  for (let next = request; next; ) {
    seen.visit(next.raw);
    const response = next.send().expectOk();
    yield response;
    next = linked(next, response.header("link"));
  }
}

export function* byPage(request, { query = "page", first = 1, size, items = (body) => body, limit = LIMIT } = {}) {
  const seen = new Visits(limit);
  for (let page = first; ; page++) {
    seen.visit(page);
    const response = request.setQuery(query, page).send().expectOk();
    const found = items(response.json());
    if (!Array.isArray(found)) throw new OpError(`${request}: page ${page} is not a list`);
    if (found.length > 0) yield response;
    // With the size known, a short page is the last; without it an empty one.
    if (found.length < (size ?? 1)) return;
  }
}

export function* byCursor(request, { query, next, limit = LIMIT }) {
  const seen = new Visits(limit);
  for (let cursor; ; ) {
    seen.visit(cursor);
    const asked = cursor === undefined ? request : request.setQuery(query, cursor);
    const response = asked.send().expectOk();
    yield response;
    cursor = next(response.json()) ?? undefined;
    if (cursor === undefined || cursor === "") return;
  }
}

export function* byRelay(host, path, query, variables, { connection, variable = "after", limit = LIMIT }) {
  const seen = new Visits(limit);
  for (let after; ; ) {
    seen.visit(after);
    const data = host.graphql(path, query, after === undefined ? variables : { ...variables, [variable]: after });
    const info = connection(data)?.pageInfo;
    if (typeof info?.hasNextPage !== "boolean") throw new OpError("the answer has no `pageInfo`");
    yield data;
    if (!info.hasNextPage) return;
    if (typeof info.endCursor !== "string") throw new OpError("there is a next page, and no `endCursor` to it");
    after = info.endCursor;
  }
}

class Visits {
  #limit;
  #seen = new Set();

  constructor(limit) {
    this.#limit = limit;
  }

  visit(place) {
    const text = JSON.stringify(place) ?? "";
    if (this.#seen.has(text)) throw new OpError("the service leads from a page back to the same one");
    if (this.#seen.size >= this.#limit) {
      throw new OpError(`there are more than ${this.#limit} pages: narrow what is asked for`);
    }
    this.#seen.add(text);
  }
}

/** The request that a `Link` header leads to. Of the address only path and query count: the host is the manifest's. */
function linked(request, header) {
  for (const [, address, params] of (header ?? "").matchAll(/<([^>]*)>([^<]*)/g)) {
    if (!/;\s*rel\s*=\s*(?:"(?:[^"]*\s)?next(?:\s[^"]*)?"|next\b)/i.test(params)) continue;
    const [, path, query = ""] = /^(?:https?:\/\/[^/?#]*)?(\/[^?#]*)?(?:\?([^#]*))?/.exec(address) ?? [];
    const pairs = query.split("&").filter((pair) => pair !== "").map(pair);
    return (path ? request.withPath(path) : request).withQuery(pairs);
  }
  return undefined;
}

function pair(text) {
  const at = text.indexOf("=");
  const [name, value] = at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
  return [plain(name), plain(value)];
}

function plain(text) {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw new OpError("the `Link` to the next page is not an address");
  }
}
