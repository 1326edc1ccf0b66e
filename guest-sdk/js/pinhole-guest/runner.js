// From the text that the host hands over to an op, and from what the op gives to the text that goes back.
//
// INVARIANT: whatever is thrown becomes the `op-error` of the contract, so that the caller is told why. A fault of the module's
// own code, a `TypeError` and the like, is written to the log with its place first.

import { OpError } from "./errors.js";
import { toJson } from "./json.js";

/** `run` over these ops; `host` makes what each call is given. */
export function runner(ops, host) {
  return (op, args) => {
    const given = host();
    try {
      if (!Object.hasOwn(ops, op)) throw new OpError(`this module has no op \`${op}\``);
      const result = ops[op](JSON.parse(args), given);
      if (typeof result?.then === "function") {
        throw new OpError(`the op \`${op}\` is async: every request waits by itself, so write it without \`async\``);
      }
      if (result === undefined) throw new OpError(`the op \`${op}\` gave no result: let it return one`);
      return toJson(result);
    } catch (error) {
      // The contract's error is a record. An instance of `Error` would be a trap, without a word.
      throw { message: said(error, given) };
    }
  };
}

function said(error, host) {
  if (!(error instanceof Error)) return String(error?.message ?? error);
  if (error instanceof OpError || error.name === "Error") return error.message;
  host.log.error(`${error}\n${error.stack ?? ""}`);
  return `${error}`;
}
