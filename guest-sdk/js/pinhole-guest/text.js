// Bytes to text. QuickJS has no `TextDecoder`; this is its UTF-8, with U+FFFD for what is none.
//
// What is ASCII is left to the engine, which is fast at it; only the characters between are put together here.

const PIECE = 8192;

/** The text of these bytes, read as UTF-8. */
export function fromUtf8(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    let end = at + PIECE;
    // A character has at most three bytes after its first, and is not cut.
    for (let more = 0; more < 3 && (bytes[end] & 0xc0) === 0x80; more++) end++;
    const piece = String.fromCharCode.apply(null, bytes.subarray(at, end));
    text += piece.replace(/[\x80-\xff]+/g, decoded);
    at = end;
  }
  return text[0] === "\ufeff" ? text.slice(1) : text;
}

/** The characters of a run of bytes beyond ASCII, each byte a unit of the text. Unicode, table 3-7. */
function decoded(run) {
  let text = "";
  for (let at = 0; at < run.length; ) {
    const first = run.charCodeAt(at++);
    const more = first < 0xc2 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : first < 0xf5 ? 3 : 0;
    let point = first & (0x3f >> more);
    let read = 0;
    for (; read < more; read++) {
      const low = read > 0 ? 0x80 : first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
      const high = read > 0 ? 0xbf : first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
      const next = run.charCodeAt(at);
      // Past the end it is not a number, and not within.
      if (!(next >= low && next <= high)) break;
      point = (point << 6) | (next & 0x3f);
      at++;
    }
    text += more > 0 && read === more ? String.fromCodePoint(point) : "\ufffd";
  }
  return text;
}
