// The contract as componentize-qjs shows it to JavaScript (`wit/pinhole-op.wit`). `pinhole-guest` wraps all of it.

declare module "pinhole:op/http@1.0.0" {
  export type Method = "get" | "head" | "post" | "put" | "patch" | "delete";
  export interface Request {
    method: Method;
    /** The path alone, its segments percent-encoded. */
    path: string;
    /** Pairs, not encoded. */
    query: [string, string][];
    headers: [string, string][];
    /** JSON. */
    body: string | null;
  }
  export interface Response {
    status: number;
    /** Names in lower case. */
    headers: [string, string][];
    body: Uint8Array;
  }
  export interface Failure {
    code: string;
    message: string;
  }
  export type Result = { tag: "ok"; val: Response } | { tag: "err"; val: Failure };
  /** Throws an `Error` whose `payload` is the `Failure`. */
  export function send(request: Request): Response;
  export function sendAll(requests: Request[]): Result[];
}

declare module "pinhole:op/log@1.0.0" {
  export type Level = "debug" | "info" | "warn" | "error";
  export function write(level: Level, message: string): void;
}

declare module "pinhole:op/clock@1.0.0" {
  /** Seconds since 1970, when the call began. */
  export function now(): number;
}
