// Types of the double for `node --test`.

import type { Host, Ops } from "./index.js";

/** The time of every case: 2026-01-01T00:00:00Z. */
export const CASE_TIME: number;

/** What a request or a result should have been. */
export class Difference extends Error {}

/** A recorded request and its answer, as in a case; or the host's failure in the answer's place. */
export interface Exchange {
  request: {
    method: string;
    path: string;
    query?: Record<string, string | string[]>;
    headers?: Record<string, string>;
    body?: unknown;
  };
  response:
    | { status: number; headers?: Record<string, string>; body?: unknown; body_text?: string }
    | { failure: { code: string; message: string } };
}

/** Answers recorded requests in their order. */
export class Recorded {
  /** With `loose`, what a recorded request leaves out is not held. */
  constructor(exchanges: Exchange[], options?: { now?: number; loose?: boolean });
  host(): Host;
  /** Each line that was written to the log. */
  readonly logged: [level: string, message: string][];
  /** How many recorded requests were not sent. */
  readonly unsent: number;
  /** What was not as recorded, if anything was. */
  readonly difference?: Difference;
}

/** How a case is played. */
export interface Playing {
  /** `op.json` or a manifest, parsed: from it args get their defaults. */
  declared?: object;
  /** The op, where the file's name does not say it. */
  op?: string;
  now?: number;
  /** Whether the result is all that the case expects and not more. */
  whole?: boolean;
}

/** A file as a `URL` names it. */
export interface Address {
  readonly href: string;
}

/** Plays a case through these ops; throws a `Difference` where something is not as the case has it. */
export function playCase(file: string | Address, ops: Ops, playing?: Playing): { result?: any; message?: string };

/** The cases of these ops in a folder. */
export function casesOf(folder: string | Address, ops: Ops): Address[];
