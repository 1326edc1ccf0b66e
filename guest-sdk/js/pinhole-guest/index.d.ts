/// <reference path="./pinhole-op.d.ts" />
// What a module's op is given, in types.

type Raw = typeof import("pinhole:op/http@1.0.0") &
  typeof import("pinhole:op/log@1.0.0") &
  typeof import("pinhole:op/clock@1.0.0");

/** A value of JSON; a `bigint` is a whole number that keeps its digits. */
export type Json = null | boolean | number | bigint | string | Json[] | { [name: string]: Json | undefined };

/** Computes an op: its args, checked and in their normal form, to a JSON document of which the manifest picks. */
export type Op<Args = any> = (args: Args, host: Host) => unknown;

/** The ops of a module, by the names that they have in the manifest. */
export type Ops = Record<string, Op>;

/** Why there is no result, in words for the person or the bot. */
export class OpError extends Error {}

/** A request has no answer: it timed out, was redirected, or the like. */
export class RequestError extends OpError {
  constructor(code: string, message: string);
  /** The host's name for it, such as `timed_out`. */
  readonly code: string;
}

/** The service answered, and not with what was asked for: another status than 2xx, or `errors` of GraphQL. */
export class ServiceError extends OpError {
  constructor(message: string, response: Response);
  readonly response: Response;
}

/** A value of a path or a query. */
export type Scalar = string | number | bigint | boolean;

/** A request. It is never changed: each step gives a new one. */
export interface Request {
  /** Adds to the query. `null` and `undefined` add nothing, an array adds its key once for each element. */
  query(name: string, value: Scalar | readonly Scalar[] | null | undefined): Request;
  /** Puts a value into the query in the place of those of the same name. */
  setQuery(name: string, value: Scalar | readonly Scalar[] | null | undefined): Request;
  withQuery(pairs: readonly (readonly [string, string])[]): Request;
  withPath(path: string): Request;
  header(name: string, value: Scalar): Request;
  json(value: unknown): Request;
  /** Sends it and waits for the answer, whatever its status. Throws a `RequestError` where there is none. */
  send(): Response;
}

/** An answer, whatever its status. */
export class Response {
  private constructor();
  readonly status: number;
  /** Whether the status is 2xx. */
  readonly ok: boolean;
  readonly body: Uint8Array;
  /** The values of a header, joined by `, `. */
  header(name: string): string | undefined;
  text(): string;
  /** The body as JSON. With `exact`, whole numbers beyond 2^53 are `bigint`s and keep their digits. */
  json(options?: { exact?: boolean }): any;
  /** This answer, if its status is 2xx; throws a `ServiceError` if not. */
  expectOk(): Response;
}

/** Values of the `{name}`s of a path, each one segment. */
export type Values = Record<string, Scalar>;

/** Most pages; one more is an error. 20 where nothing is said. */
interface Limit {
  limit?: number;
}

/** The pages of a list, each asked for when the one before it is done with. */
export interface Pages {
  /** Follows `Link: <…>; rel="next"`. */
  link(request: Request, options?: Limit): Generator<Response, void>;
  /** Counts `query` up from `first` until `items` of an answer gives none, or fewer than `size`. */
  page(
    request: Request,
    options?: Limit & { query?: string; first?: number; size?: number; items?: (body: any) => unknown[] },
  ): Generator<Response, void>;
  /** Puts what `next` finds in an answer into `query` until it finds none. */
  cursor(
    request: Request,
    options: Limit & { query: string; next: (body: any) => Scalar | null | undefined },
  ): Generator<Response, void>;
  /** Follows a GraphQL connection, which `connection` finds in `data`. */
  relay(
    path: string,
    query: string,
    variables: Record<string, unknown>,
    options: Limit & { connection: (data: any) => any; variable?: string },
  ): Generator<any, void>;
}

/** What an op is given: requests to the manifest's service, their pages, the log, the time. */
export class Host {
  constructor(raw: Raw | Pick<Raw, keyof Raw>);
  readonly raw: Raw;
  readonly log: Record<"debug" | "info" | "warn" | "error", (message: unknown) => void>;
  readonly pages: Pages;
  /** Seconds since 1970 at which the call began. */
  now(): number;
  get(path: string, values?: Values): Request;
  head(path: string, values?: Values): Request;
  post(path: string, values?: Values): Request;
  /** The `data` of a GraphQL document, which must be the line's letter by letter. */
  graphql(path: string, query: string, variables?: Record<string, unknown>): any;
  /** Gives for each request, in their order, its answer or the `RequestError` that came of it. */
  sendAll(requests: readonly Request[]): (Response | RequestError)[];
}

/** Reads JSON; whole numbers that a double cannot hold become `bigint`s. */
export function fromJson(text: string): any;

/** Writes JSON; a `bigint` becomes its digits. */
export function toJson(value: unknown): string;
