// A double of the host, for tests of a module in Node: `node --test`, without Wasm.
//
// It answers each request with what a case of the manifest recorded, if the request is exactly the recorded one, and
// refuses everything after the first difference. The credential and the headers of the manifest are the host's, and no
// matter of the module. `pinhole module run` plays the same cases through the real host; only there the picks are held.

import { readFileSync, readdirSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { Host } from "./host.js";
import { fromJson, toJson } from "./json.js";
import { runner } from "./runner.js";

/** The time of every case: 2026-01-01T00:00:00Z, as `pinhole manifest test` and `pinhole module run` have it. */
export const CASE_TIME = 1767225600;

/** What a request or a result should have been. */
export class Difference extends Error {
  name = "Difference";
}

/** Answers recorded requests in their order. */
export class Recorded {
  /** Each line that was written to the log, as `[level, message]`. */
  logged = [];
  #exchanges;
  #now;
  #loose;
  #sent = 0;

  /** With `loose`, what a recorded request leaves out is not held. */
  constructor(exchanges, { now = CASE_TIME, loose = false } = {}) {
    this.#exchanges = exchanges;
    this.#now = now;
    this.#loose = loose;
  }

  /** What an op is given. */
  host() {
    return new Host({
      send: (request) => this.#answer(request),
      sendAll: (requests) => requests.map((request) => this.#result(request)),
      write: (level, message) => this.logged.push([level, message]),
      now: () => this.#now,
    });
  }

  /** How many recorded requests were not sent. */
  get unsent() {
    return this.#exchanges.length - this.#sent;
  }

  /** What was not as recorded, if anything was: an op cannot swallow it. */
  difference;

  #result(request) {
    try {
      return { tag: "ok", val: this.#answer(request) };
    } catch (error) {
      if (error.payload === undefined) throw error;
      return { tag: "err", val: error.payload };
    }
  }

  #answer(request) {
    if (this.difference) throw this.difference;
    const exchange = this.#exchanges[this.#sent++];
    const said = `request ${this.#sent}, ${request.method.toUpperCase()} ${request.path}`;
    const why = exchange ? differs(request, exchange.request, this.#loose) : "no more is recorded";
    if (why) throw (this.difference = new Difference(`${said}: ${why}`));
    const { failure, status, headers = {}, body, body_text } = exchange.response;
    if (failure) throw Object.assign(new Error("a recorded failure"), { payload: failure });
    const text = body_text ?? (body === undefined ? "" : toJson(body));
    const pairs = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
    return { status, headers: pairs, body: new TextEncoder().encode(text) };
  }
}

/**
 * Plays a case's file through these ops and gives what came of it: `{ result }`, or `{ message }` of the error. Throws a
 * `Difference` where a request is not the recorded one, is missing, or what came is not what the case expects. What the
 * case expects was picked, so it need only be part of the result; with `whole` it must be all.
 *
 * `declared` is the op's declaration (`op.json` or a manifest, parsed), from which args get their defaults.
 */
export function playCase(file, ops, { declared, op = opOf(file), now = CASE_TIME, whole = false } = {}) {
  const played = fromJson(readFileSync(file, "utf8"));
  // A case that expects nothing yet is one that `pinhole module run --rewrite` fills in.
  const recorded = new Recorded(played.exchanges, { now, loose: played.expect === undefined });
  const run = runner(ops, () => recorded.host());
  const args = normal(played.args, (declared?.ops ?? declared?.op)?.[op]?.args);
  let came;
  try {
    came = { result: fromJson(run(op, toJson(args))) };
  } catch (error) {
    came = { message: error.message };
  }
  if (recorded.difference) throw recorded.difference;
  if (recorded.unsent > 0) throw new Difference(`${recorded.unsent} recorded requests were not sent`);
  if (played.expect === undefined) return came;
  const { result, refusal } = played.expect;
  if (refusal === "module_failed" && came.message === undefined) throw new Difference("the case expects an error");
  if (refusal === undefined) {
    if (came.message !== undefined) throw new Difference(`the case expects a result, and the op gave: ${came.message}`);
    const fits = whole ? isDeepStrictEqual(result, came.result) : isPart(result, came.result);
    if (!fits) throw new Difference(`expected ${toJson(result)}, got ${toJson(came.result)}`);
  }
  return came;
}

/** The files of a folder that are cases of these ops and come to the module: those that end before it are the host's. */
export function casesOf(folder, ops) {
  const { href } = folder instanceof URL ? folder : pathToFileURL(folder);
  const base = new URL(href.replace(/\/*$/, "/"));
  const files = readdirSync(base).filter((name) => name.endsWith(".json") && Object.hasOwn(ops, opOf(name)));
  const urls = files.sort().map((name) => new URL(name, base));
  return urls.filter((url) => {
    const { exchanges, expect } = JSON.parse(readFileSync(url, "utf8"));
    return exchanges.length > 0 || expect?.refusal === undefined || expect.refusal === "module_failed";
  });
}

function opOf(file) {
  return String(file).split("/").at(-1).split(".")[0];
}

/** As the host hands args over: `null` as absent, defaults filled in. */
function normal(args, schema) {
  const given = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));
  for (const [name, { default: value }] of Object.entries(schema?.properties ?? {})) {
    if (value !== undefined && given[name] === undefined) given[name] = value;
  }
  return given;
}

function differs(request, wanted, loose) {
  const query = {};
  for (const [name, value] of request.query) (query[name] ??= []).push(value);
  const wantedQuery = Object.entries(wanted.query ?? {}).map(([name, value]) => [name, [value].flat()]);
  const pairs = [
    ["method", request.method.toUpperCase(), wanted.method],
    ["path", request.path, wanted.path],
    ["query", query, Object.fromEntries(wantedQuery)],
    ["body", request.body === null ? undefined : fromJson(request.body), wanted.body],
    ...request.headers.map(([name, value]) => [`header ${name}`, value, wanted.headers?.[name.toLowerCase()]]),
  ];
  const held = ([, sent, recorded]) => (loose && recorded === undefined) || isDeepStrictEqual(sent, recorded);
  const other = pairs.find((pair) => !held(pair));
  return other && `${other[0]}: recorded ${toJson(other[2])}, sent ${toJson(other[1])}`;
}

function isPart(part, whole) {
  if (Array.isArray(part)) {
    return Array.isArray(whole) && part.length === whole.length && part.every((one, at) => isPart(one, whole[at]));
  }
  if (typeof part === "object" && part !== null) {
    if (typeof whole !== "object" || whole === null) return false;
    return Object.entries(part).every(([name, one]) => Object.hasOwn(whole, name) && isPart(one, whole[name]));
  }
  return Object.is(part, whole);
}
