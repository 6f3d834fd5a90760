// JSON: a value is the piece of text that it stands in. Nothing is built, so a large input costs a walk over it and nothing more,
// and depth costs nothing at all.

import { digitsOf, double } from './double';

export enum Kind { Nothing, Null, Boolean, Number, String, List, Object }

const QUOTE = 0x22, COMMA = 0x2c, COLON = 0x3a, LIST = 0x5b, BACKSLASH = 0x5c, LIST_END = 0x5d, OBJECT = 0x7b, OBJECT_END = 0x7d;

export class Json {
  /** Only for `Json` itself: `Json.parse` looks whether a text is one. */
  constructor(private source: string, private from: i32, private end: i32) {}

  /** Reads a text; nothing where it is no JSON. */
  static parse(text: string): Json {
    const from = blanks(text, 0);
    const end = behindJson(text, from);
    return end < 0 ? Json.nothing : new Json(text, from, end);
  }

  /** A text, number, boolean, `JsonObject`, or a list of these, as JSON; a text or a list may be null. */
  static of<T>(value: T): Json {
    const text = written<T>(value);
    return new Json(text, 0, text.length);
  }

  /** What is not there; written, it is `null`. */
  static get nothing(): Json {
    return new Json('', 0, 0);
  }

  get kind(): Kind {
    switch (this.source.charCodeAt(this.from)) {
      case -1: return Kind.Nothing;
      case OBJECT: return Kind.Object;
      case LIST: return Kind.List;
      case QUOTE: return Kind.String;
      case 0x6e: return Kind.Null;
      case 0x74: case 0x66: return Kind.Boolean;
      default: return Kind.Number;
    }
  }

  /** Whether it is there: `null` is. */
  get exists(): bool {
    return this.kind != Kind.Nothing;
  }

  get isTrue(): bool {
    return this.source.charCodeAt(this.from) == 0x74;
  }

  /** The characters of a string; null where it is none. Half a pair of surrogates is U+FFFD. */
  get text(): string | null {
    return this.kind == Kind.String ? unescaped(this.source, this.from + 1, this.end - 1) : null;
  }

  /** The texts in a list; null where it is none, or has something else in it. */
  get texts(): string[] | null {
    if (this.kind != Kind.List) return null;
    const items = this.items();
    const texts: string[] = [];
    for (let i = 0; i < items.length; i++) {
      const text = items[i].text;
      if (text == null) return null;
      texts.push(text);
    }
    return texts;
  }

  /** A number; NaN where it is none. */
  get number(): f64 {
    return this.kind == Kind.Number ? double(this.raw) : NaN;
  }

  /** Whether it is a whole number of 64 bits, written without point and exponent. */
  get isInteger(): bool {
    return this.kind == Kind.Number && fits(this.raw);
  }

  /** That number; 0 where it is none. */
  get integer(): i64 {
    return this.isInteger ? i64.parse(this.raw) : 0;
  }

  /** The value under a key, of several the last; nothing where there is none, or where this is no object. */
  get(key: string): Json {
    let found = Json.nothing;
    if (this.kind != Kind.Object) return found;
    const walk = new Walk(this.source, this.from, true);
    while (walk.next()) {
      if (walk.isAt(key)) found = new Json(this.source, walk.from, walk.end);
    }
    return found;
  }

  /** The nth element of a list, from 0. */
  at(n: i32): Json {
    if (this.kind != Kind.List || n < 0) return Json.nothing;
    const walk = new Walk(this.source, this.from, false);
    while (walk.next()) {
      if (n-- == 0) return new Json(this.source, walk.from, walk.end);
    }
    return Json.nothing;
  }

  /** The elements of a list; none where it is no list. */
  items(): Json[] {
    const items: Json[] = [];
    if (this.kind != Kind.List) return items;
    const walk = new Walk(this.source, this.from, false);
    while (walk.next()) items.push(new Json(this.source, walk.from, walk.end));
    return items;
  }

  /** What is in an object, in its order; nothing where it is none. To look for many keys, this is faster than `get`. */
  members(): Map<string, Json> {
    const members = new Map<string, Json>();
    if (this.kind != Kind.Object) return members;
    const walk = new Walk(this.source, this.from, true);
    while (walk.next()) members.set(walk.key, new Json(this.source, walk.from, walk.end));
    return members;
  }

  /** The first key that is none of these: a misspelt rule of a guard should not go unseen. */
  keyBeside(known: string[]): string | null {
    const keys = this.members().keys();
    for (let i = 0; i < keys.length; i++) {
      if (!known.includes(keys[i])) return keys[i];
    }
    return null;
  }

  /** The piece of text, to be copied as it is. */
  get raw(): string {
    return this.source.substring(this.from, this.end);
  }
}

/** An object that is written. A key that is set again has the later value. */
export class JsonObject {
  private members: Map<string, string> = new Map();

  /** Sets a text, number, boolean, `Json`, `JsonObject`, or a list of these; a text or a list may be null. */
  set<T>(key: string, value: T): JsonObject {
    this.members.set(key, written<T>(value));
    return this;
  }

  toString(): string {
    const keys = this.members.keys();
    const parts = new Array<string>(keys.length);
    for (let i = 0; i < keys.length; i++) parts[i] = quoted(keys[i]) + ':' + this.members.get(keys[i]);
    return '{' + parts.join(',') + '}';
  }
}

/** The same in JSON. What JSON has not, like an infinite number, is `null`. */
export function written<T>(value: T): string {
  if (isNullable<T>()) return value == null ? 'null' : written<NonNullable<T>>(value);
  // @ts-ignore: by its type
  if (isString<T>()) return quoted(value);
  if (isBoolean<T>()) return value ? 'true' : 'false';
  // @ts-ignore: by its type
  if (isInteger<T>()) return value.toString();
  // @ts-ignore: by its type
  if (isFloat<T>()) return isFinite(value) ? digitsOf(value) : 'null';
  if (isArray<T>()) {
    // @ts-ignore: by its type
    const parts = new Array<string>(value.length);
    // @ts-ignore: by its type
    for (let i = 0; i < parts.length; i++) parts[i] = written<valueof<T>>(value[i]);
    return '[' + parts.join(',') + ']';
  }
  if (value instanceof Json) return value.exists ? value.raw : 'null';
  if (value instanceof JsonObject) return value.toString();
  ERROR('this can not be written as JSON');
}

/** A text with quotes and escapes. */
export function quoted(text: string): string {
  let more = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x20) more += 5;
    else if (code == QUOTE || code == BACKSLASH) more++;
  }
  if (more == 0) return '"' + text + '"';
  const out = new Units(text.length + more + 2);
  out.add(QUOTE);
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x20) {
      out.add(BACKSLASH);
      out.add(0x75);
      for (let shift = 12; shift >= 0; shift -= 4) out.add('0123456789abcdef'.charCodeAt((code >> shift) & 15));
      continue;
    }
    if (code == QUOTE || code == BACKSLASH) out.add(BACKSLASH);
    out.add(code);
  }
  out.add(QUOTE);
  return out.toString();
}

// A text that is being written, of no more than so many units.
class Units {
  private units: StaticArray<u16>;
  private count: i32 = 0;

  constructor(most: i32) {
    this.units = new StaticArray<u16>(most);
  }

  add(unit: i32): void {
    this.units[this.count++] = u16(unit);
  }

  toString(): string {
    return String.UTF16.decodeUnsafe(changetype<usize>(this.units), usize(this.count) << 1);
  }
}

// ---- reading, in texts that are known to be JSON

// From one member of a list or an object to the next.
class Walk {
  from: i32 = 0;
  end: i32 = 0;
  private keyFrom: i32 = 0;
  private keyEnd: i32 = 0;

  constructor(private source: string, private at: i32, private isObject: bool) {}

  next(): bool {
    // It stands on the mark before the next member, if there is one.
    const source = this.source;
    let at = blanks(source, this.at + 1);
    if (source.charCodeAt(this.at) == (this.isObject ? OBJECT_END : LIST_END)) return false;
    if (source.charCodeAt(at) == (this.isObject ? OBJECT_END : LIST_END)) return false;
    if (this.isObject) {
      this.keyFrom = at + 1;
      at = endOf(source, at);
      this.keyEnd = at - 1;
      at = blanks(source, blanks(source, at) + 1);
    }
    this.from = at;
    this.end = endOf(source, at);
    this.at = blanks(source, this.end);
    return true;
  }

  get key(): string {
    return unescaped(this.source, this.keyFrom, this.keyEnd);
  }

  // Most keys are written as they are, and then none has to be made.
  isAt(key: string): bool {
    const source = this.source;
    const length = this.keyEnd - this.keyFrom;
    for (let i = 0; i < length; i++) {
      const code = source.charCodeAt(this.keyFrom + i);
      if (code == BACKSLASH) return this.key == key;
      if (code != key.charCodeAt(i)) return false;
    }
    return length == key.length;
  }
}

function blanks(text: string, at: i32): i32 {
  while (isBlank(text.charCodeAt(at))) at++;
  return at;
}

function isBlank(code: i32): bool {
  return code == 0x20 || code == 0x0a || code == 0x0d || code == 0x09;
}

// Where the value ends that begins here. Brackets are counted.
function endOf(text: string, at: i32): i32 {
  let depth = 0;
  do {
    const code = text.charCodeAt(at);
    if (code == QUOTE) {
      at = endOfString(text, at);
    } else if (code == OBJECT || code == LIST) {
      depth++, at++;
    } else if (code == OBJECT_END || code == LIST_END) {
      depth--, at++;
    } else if (depth > 0) {
      at++;
    } else {
      at = endOfWord(text, at);
    }
  } while (depth > 0);
  return at;
}

// Most of a large input is strings, so these two read memory where others call `charCodeAt`.

function endOfString(text: string, at: i32): i32 {
  const start = changetype<usize>(text);
  while (true) {
    const code = load<u16>(start + (usize(++at) << 1));
    if (code == QUOTE) return at + 1;
    if (code == BACKSLASH) at++;
  }
}

// Where its characters have all been looked at; -1 where it is no string.
function behindString(text: string, at: i32): i32 {
  if (text.charCodeAt(at) != QUOTE) return -1;
  const start = changetype<usize>(text), length = text.length;
  while (++at < length) {
    const code = load<u16>(start + (usize(at) << 1));
    if (code == QUOTE) return at + 1;
    if (code < 0x20) return -1;
    if (code != BACKSLASH) continue;
    const escape = text.charCodeAt(++at);
    if (escape == 0x75) {
      if (digits(text, at + 1) < 0) return -1;
      at += 4;
    } else if (escape != QUOTE && escape != BACKSLASH && escape != 0x2f && meant(escape) == escape) {
      return -1;
    }
  }
  return -1;
}

// Of a number, or of what is written in letters.
function endOfWord(text: string, at: i32): i32 {
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code == COMMA || code == LIST_END || code == OBJECT_END || isBlank(code)) break;
  }
  return at;
}

function unescaped(text: string, from: i32, end: i32): string {
  let at = from;
  while (at < end && text.charCodeAt(at) != BACKSLASH) at++;
  if (at == end) return text.substring(from, end);
  const out = new Units(end - from);
  for (at = from; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code != BACKSLASH) {
      out.add(code);
      continue;
    }
    const escape = text.charCodeAt(++at);
    if (escape != 0x75) {
      out.add(meant(escape));
      continue;
    }
    const unit = digits(text, at + 1);
    at += 4;
    if ((unit & 0xf800) != 0xd800) {
      out.add(unit);
      continue;
    }
    const low = unit < 0xdc00 && text.charCodeAt(at + 1) == BACKSLASH && text.charCodeAt(at + 2) == 0x75 ? digits(text, at + 3) : 0;
    if ((low & 0xfc00) == 0xdc00) {
      out.add(unit);
      out.add(low);
      at += 6;
    } else {
      out.add(0xfffd);
    }
  }
  return out.toString();
}

// What a letter means behind a backslash.
function meant(escape: i32): i32 {
  switch (escape) {
    case 0x62: return 0x08;
    case 0x66: return 0x0c;
    case 0x6e: return 0x0a;
    case 0x72: return 0x0d;
    case 0x74: return 0x09;
    default: return escape;
  }
}

// The value of four hexadecimal digits; -1 where they are none.
function digits(text: string, at: i32): i32 {
  let value = 0;
  for (let i = 0; i < 4; i++) {
    const code = text.charCodeAt(at + i), letter = code | 0x20;
    if (isDigit(code)) value = (value << 4) | (code - 0x30);
    else if (letter >= 0x61 && letter <= 0x66) value = (value << 4) | (letter - 0x57);
    else return -1;
  }
  return value;
}

function isDigit(code: i32): bool {
  return code >= 0x30 && code <= 0x39;
}

// Whether these digits are within 64 bits.
function fits(number: string): bool {
  const negative = number.charCodeAt(0) == 0x2d;
  const count = number.length - i32(negative);
  for (let i = i32(negative); i < number.length; i++) if (!isDigit(number.charCodeAt(i))) return false;
  if (count != 19) return count < 19;
  return number.substring(i32(negative)) <= (negative ? '9223372036854775808' : '9223372036854775807');
}

// ---- whether a text is JSON at all: where what begins here ends; -1 where it is none

// A value, with nothing but blanks behind it.
function behindJson(text: string, at: i32): i32 {
  // The closing brackets that are due.
  const due: u8[] = [];
  while (true) {
    // A value begins here.
    const code = text.charCodeAt(at);
    if (code == OBJECT || code == LIST) {
      const close = code == OBJECT ? OBJECT_END : LIST_END;
      at = blanks(text, at + 1);
      if (text.charCodeAt(at) != close) {
        due.push(u8(close));
        if (code == OBJECT) {
          at = behindKey(text, at);
          if (at < 0) return -1;
        }
        continue;
      }
      at++;
    } else {
      at = behindPlain(text, at);
      if (at < 0) return -1;
    }
    // And has ended, with all that it was the last of.
    while (true) {
      const end = at;
      at = blanks(text, at);
      if (due.length == 0) return at == text.length ? end : -1;
      const mark = text.charCodeAt(at);
      if (mark == COMMA) break;
      if (mark != due.pop()) return -1;
      at++;
    }
    at = blanks(text, at + 1);
    if (due[due.length - 1] == OBJECT_END) {
      at = behindKey(text, at);
      if (at < 0) return -1;
    }
  }
}

// Up to where its value begins.
function behindKey(text: string, at: i32): i32 {
  at = behindString(text, at);
  if (at < 0) return -1;
  at = blanks(text, at);
  return text.charCodeAt(at) == COLON ? blanks(text, at + 1) : -1;
}

function behindPlain(text: string, at: i32): i32 {
  const code = text.charCodeAt(at);
  if (code == QUOTE) return behindString(text, at);
  if (code == 0x2d || isDigit(code)) return behindNumber(text, at);
  const word = code == 0x74 ? 'true' : code == 0x66 ? 'false' : 'null';
  return text.substr(at, word.length) == word ? at + word.length : -1;
}

function behindNumber(text: string, at: i32): i32 {
  if (text.charCodeAt(at) == 0x2d) at++;
  if (text.charCodeAt(at) == 0x30) at++;
  else at = behindDigits(text, at);
  if (at > 0 && text.charCodeAt(at) == 0x2e) at = behindDigits(text, at + 1);
  if (at > 0 && (text.charCodeAt(at) | 0x20) == 0x65) {
    const sign = text.charCodeAt(at + 1);
    at = behindDigits(text, sign == 0x2d || sign == 0x2b ? at + 2 : at + 1);
  }
  return at;
}

function behindDigits(text: string, at: i32): i32 {
  if (!isDigit(text.charCodeAt(at))) return -1;
  while (isDigit(text.charCodeAt(at))) at++;
  return at;
}
