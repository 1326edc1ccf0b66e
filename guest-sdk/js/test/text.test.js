// Bytes to text and JSON with its digits, each held against what Node has or against the identity.

import assert from "node:assert";
import { test } from "node:test";
import { fromJson, toJson } from "../pinhole-guest/json.js";
import { fromUtf8 } from "../pinhole-guest/text.js";

/** The same bytes in every run. */
function* numbers(seed) {
  for (let state = seed; ; ) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    yield state >>> 8;
  }
}

test("bytes are read as Node reads them, whatever they are", () => {
  const random = numbers(7);
  const next = () => random.next().value;
  // Leads and continuations more often than chance has them.
  const likely = [0x41, 0xc2, 0xc3, 0xe0, 0xe2, 0xed, 0xef, 0xf0, 0xf4, 0xf5, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xbb];
  for (let round = 0; round < 20000; round++) {
    const bytes = Uint8Array.from({ length: next() % 12 }, () => (next() % 4 ? likely[next() % likely.length] : next() & 255));
    assert.strictEqual(fromUtf8(bytes), new TextDecoder().decode(bytes), `${bytes}`);
  }
});

test("bytes at the edge of a piece are read as Node reads them, whatever they are", () => {
  const random = numbers(11);
  const next = () => random.next().value;
  const likely = [0x41, 0xc3, 0xe2, 0xed, 0xf0, 0xf4, 0x80, 0x90, 0x9f, 0xa0, 0xbf];
  for (let round = 0; round < 2000; round++) {
    const bytes = Uint8Array.from({ length: 8186 + (next() % 4) }, () => 0x61);
    const tail = Uint8Array.from({ length: next() % 16 }, () => likely[next() % likely.length]);
    const all = Uint8Array.of(...bytes, ...tail, 0x62);
    assert.strictEqual(fromUtf8(all), new TextDecoder().decode(all), `${bytes.length} ${tail}`);
  }
});

test("a character across the edge of a piece stays whole", () => {
  for (let before = 8188; before < 8194; before++) {
    const text = `${"a".repeat(before)}😀ü${"b".repeat(9000)}€`;
    assert.strictEqual(fromUtf8(new TextEncoder().encode(text)), text);
  }
});

test("whole numbers keep their digits through reading and writing", () => {
  const text = '{"id":12345678901234567890,"n":[-9007199254740993,9007199254740991,0],"s":"12345678901234567890"}';
  const value = fromJson(text);
  assert.strictEqual(value.id, 12345678901234567890n);
  assert.strictEqual(value.n[1], 9007199254740991);
  assert.strictEqual(value.s, "12345678901234567890");
  assert.strictEqual(toJson(value), text);
});

test("a text that looks like the mark of a number stays a text", () => {
  for (const text of ["\u0001", "\u000112345678901234567890", "\u0001\u00017", 'a"\u00011', "\\\u00011", "\u00011\\"]) {
    for (const value of [text, [text], { [text]: text }, { a: { [text]: 12345678901234567890n } }]) {
      assert.deepStrictEqual(fromJson(toJson(value)), value, JSON.stringify(text));
    }
    assert.deepStrictEqual(fromJson(JSON.stringify({ [text]: [text] })), { [text]: [text] });
    assert.strictEqual(toJson({ [text]: text }), JSON.stringify({ [text]: text }));
  }
});

test("what is no json is refused as JSON.parse refuses it", () => {
  for (const text of ["", "{", "01", "1.", "[12345678901234567890", '"\\x"', "12345678901234567890 1", "- 1", '{"a" 1}']) {
    assert.throws(() => fromJson(text), SyntaxError, text);
  }
});

test("fractions and exponents are doubles", () => {
  assert.deepStrictEqual(fromJson("[1.10, 1e400, 12345678901234567890.5]"), [1.1, Infinity, 12345678901234567890.5]);
});
