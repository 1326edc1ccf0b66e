// Bytes to text. QuickJS has no `TextDecoder`; this is its UTF-8, with U+FFFD for what is none.

const PIECE = 8192;

/** The text of these bytes, read as UTF-8. */
export function fromUtf8(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const piece = String.fromCharCode.apply(null, bytes.subarray(at, at + PIECE));
    if (/^[\0-\x7f]*$/.test(piece)) {
      text += piece;
      at += PIECE;
      continue;
    }
    const units = [];
    const end = Math.min(at + PIECE, bytes.length);
    // A character may reach beyond the piece.
    while (at < end) at = decode(bytes, at, units);
    text += String.fromCharCode.apply(null, units);
  }
  return text[0] === "\ufeff" ? text.slice(1) : text;
}

/** Reads one character from `at` on; gives where the next begins. Unicode, table 3-7. */
function decode(bytes, at, units) {
  const first = bytes[at++];
  if (first < 0x80) {
    units.push(first);
    return at;
  }
  const more = first < 0xc2 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : first < 0xf5 ? 3 : 0;
  let point = first & (0x3f >> more);
  for (let n = 0; n < more; n++) {
    const low = n > 0 ? 0x80 : first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
    const high = n > 0 ? 0xbf : first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
    if (!(bytes[at] >= low && bytes[at] <= high)) {
      units.push(0xfffd);
      return at;
    }
    point = (point << 6) | (bytes[at++] & 0x3f);
  }
  if (more === 0) units.push(0xfffd);
  else if (point < 0x10000) units.push(point);
  else units.push(0xd800 + ((point - 0x10000) >> 10), 0xdc00 + (point & 0x3ff));
  return at;
}
