// Computes the op `@OP@`. What it asks for must match a line of `requests` in op.json, and only what `pick` names of
// its result goes back.

/** The document: the same text as in op.json. */
export const DOCUMENT = @DOCUMENT@;

/**
 * @param {Record<string, any>} args the op's args, checked and with their defaults
 * @param {import("./pinhole-guest/index.js").Host} host
 */
export function @OP@(args, host) {
  const data = host.graphql("@PATH@", DOCUMENT);
  const names = Object.keys(data);
  return { members: names.length, names };
}
