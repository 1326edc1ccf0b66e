// JSON whose whole numbers keep their digits. `JSON.parse` makes 12345678901234567890 into 12345678901234567000; here it
// becomes a BigInt, and a BigInt becomes its digits again.
//
// INVARIANT: what is marked on the way can be told from what the text held: a text that begins with the mark gets it twice.

const MARK = "\u0001";
// A text of JSON, or a number. Only a text that is a value is marked, never a member's name.
const TOKENS = /"(?:[^"\\]|\\.)*"(\s*:)?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const ESCAPED = "\\u0001";

/** Reads JSON; whole numbers that a double cannot hold become BigInts. */
export function fromJson(text) {
  const marked = text.replace(TOKENS, (token, name) => {
    if (token[0] === '"') return !name && token.startsWith(ESCAPED, 1) ? `"${ESCAPED}${token.slice(1)}` : token;
    return /^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token)) ? `"${ESCAPED}${token}"` : token;
  });
  return JSON.parse(marked, (_, value) => {
    if (typeof value !== "string" || value[0] !== MARK) return value;
    return value[1] === MARK ? value.slice(1) : BigInt(value.slice(1));
  });
}

/** Writes JSON; a BigInt becomes its digits. Refuses a number that JSON has no word for. */
export function toJson(value) {
  const marked = JSON.stringify(value, (_, value) => {
    if (typeof value === "number" && !Number.isFinite(value)) throw new TypeError(`${value} is not a number of JSON`);
    if (typeof value === "bigint") return `${MARK}${value}`;
    return typeof value === "string" && value[0] === MARK ? MARK + value : value;
  });
  return marked?.replace(TOKENS, (token, name) => {
    if (name || !token.startsWith(ESCAPED, 1)) return token;
    return token.startsWith(ESCAPED, 7) ? `"${token.slice(7)}` : token.slice(7, -1);
  });
}
