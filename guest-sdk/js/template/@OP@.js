// Computes the op `@OP@`. What it asks for must match a line of `requests` in op.json, and only what `pick` names of
// its result goes back.

/**
 * @param {Record<string, any>} args the op's args, checked and with their defaults
 * @param {import("./pinhole-guest/index.js").Host} host
 */
export function @OP@(args, host) {
  const answer = host.get("@PATH@", args).send().expectOk().json();
  const names = Object.keys(answer);
  return { members: names.length, names };
}
