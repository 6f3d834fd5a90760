// The number that decimal digits mean, to the last bit, and the digits of a number that are nearest to it. What AssemblyScript brings
// reads a little beside now and then, and writes digits that only a reader as strict as this one takes for the same number.

// Of more digits none decides, apart from whether one of them is not zero.
const MOST_DIGITS = 770;

// What a whole number holds, and the powers of ten that are whole.
const WHOLE = u64(1) << 53;
const TENS: f64[] = [
  1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/** The number that this text is, as JSON writes it; infinite where it is too large. */
export function double(text: string): f64 {
  let at = 0;
  const negative = text.charCodeAt(0) == 0x2d;
  if (negative) at++;
  const digits: u8[] = [];
  let exponent: i32 = 0;
  let behind = false, more = false;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code == 0x2e) behind = true;
    else if (code < 0x30 || code > 0x39) break;
    else {
      if (behind) exponent--;
      if (code == 0x30 && digits.length == 0) continue;
      if (digits.length < MOST_DIGITS) digits.push(u8(code - 0x30));
      else {
        exponent++;
        if (code != 0x30) more = true;
      }
    }
  }
  if (at < text.length) exponent += power(text, at + 1);
  if (more) {
    digits.push(1);
    exponent--;
  }
  const size = magnitude(digits, exponent);
  return negative ? -size : size;
}

// What stands behind an `e`, within bounds that no number of digits in a text comes near.
function power(text: string, at: i32): i32 {
  const sign = text.charCodeAt(at);
  if (sign == 0x2d || sign == 0x2b) at++;
  let value = 0;
  for (; at < text.length; at++) value = min(value * 10 + text.charCodeAt(at) - 0x30, 100_000_000);
  return sign == 0x2d ? -value : value;
}

function magnitude(digits: u8[], exponent: i32): f64 {
  const count = digits.length;
  if (count == 0 || count + exponent < -330) return 0;
  if (count + exponent > 310) return Infinity;
  if (count <= 16) {
    let whole: u64 = 0;
    for (let i = 0; i < count; i++) whole = whole * 10 + digits[i];
    if (whole <= WHOLE && exponent >= -22 && exponent <= 22) {
      return exponent < 0 ? f64(whole) / TENS[-exponent] : f64(whole) * TENS[exponent];
    }
  }
  const above = new Large(0), below = new Large(1);
  for (let i = 0; i < count; i++) above.times(10, digits[i]);
  for (let i = 0; i < exponent; i++) above.times(10, 0);
  for (let i = 0; i > exponent; i--) below.times(10, 0);
  return quotient(above, below);
}

// The nearest to a fraction; of two, the even one.
function quotient(above: Large, below: Large): f64 {
  // So that the whole part has 55 or 56 bits, two at least beyond what a number holds.
  const shift = 55 - (above.bits() - below.bits());
  if (shift > 0) above.shift(shift);
  else below.shift(-shift);
  let whole = divided(above, below, 56);
  const rest = !above.isZero();
  let drop = 64 - i32(clz(whole)) - 53;
  let unit = drop - shift;
  if (unit < -1074) {
    drop += -1074 - unit;
    unit = -1074;
  }
  if (drop > 63) return 0;
  const half = u64(1) << (drop - 1);
  const behind = whole & ((half << 1) - 1);
  whole >>= drop;
  if (behind > half || (behind == half && (rest || (whole & 1) != 0))) whole++;
  if (whole == WHOLE) {
    whole >>= 1;
    unit++;
  }
  if (unit > 971) return Infinity;
  const isSmall = whole < WHOLE >> 1;
  return reinterpret<f64>(isSmall ? whole : (whole & ((WHOLE >> 1) - 1)) | (u64(unit + 1075) << 52));
}

// The whole part of a fraction, which has so many bits at most; what is left of it is in `above`, as it was in parts of `below`.
function divided(above: Large, below: Large, bits: i32): u64 {
  let whole: u64 = 0;
  below.shift(bits);
  for (let i = 0; i < bits; i++) {
    below.halve();
    whole <<= 1;
    if (above.reaches(below)) {
      above.less(below);
      whole |= 1;
    }
  }
  return whole;
}

/** The digits that mean this number, as JSON writes it; the number is finite. */
export function digitsOf(value: f64): string {
  // Up to fifteen digits no others are as near.
  const brief = value.toString();
  return brief.length <= 16 ? brief : nearestDigitsOf(value);
}

// Sixteen, or else seventeen, as a whole number with an exponent.
function nearestDigitsOf(value: f64): string {
  const bits = reinterpret<u64>(value);
  const field = i32((bits >> 52) & 0x7ff), fraction = bits & ((WHOLE >> 1) - 1);
  const whole = field == 0 ? fraction : fraction | (WHOLE >> 1);
  const unit = max(field, 1) - 1075;
  // So that there are eighteen digits before the point, or nineteen: the power of two below does not tell.
  const places = 17 - i32(floor((63 - f64(clz(whole)) + f64(unit)) * 0.30102999566398120));
  const above = new Large(u32(whole >> 32)), below = new Large(1);
  above.shift(32);
  above.times(1, u32(whole));
  for (let i = 0; i < places; i++) above.times(10, 0);
  for (let i = 0; i > places; i--) below.times(10, 0);
  if (unit > 0) above.shift(unit);
  else below.shift(-unit);
  const digits = divided(above, below, 64), rest = !above.isZero();
  const dropped = digits < 1_000_000_000_000_000_000 ? 2 : 3;
  const text = rounded(digits, rest, dropped, places, value < 0);
  return double(text) == value ? text : rounded(digits, rest, dropped - 1, places, value < 0);
}

// Without the last one to three digits.
function rounded(digits: u64, rest: bool, dropped: i32, places: i32, negative: bool): string {
  const unit: u64 = dropped == 1 ? 10 : dropped == 2 ? 100 : 1000;
  const left = digits % unit;
  let nearest = digits / unit;
  if (left * 2 > unit || (left * 2 == unit && (rest || (nearest & 1) != 0))) nearest++;
  return `${negative ? '-' : ''}${nearest}e${dropped - places}`;
}

// A whole number of any size, its lowest part first.
class Large {
  private parts: u32[];

  constructor(value: u32) {
    this.parts = [value];
  }

  bits(): i32 {
    let count = this.parts.length;
    while (count > 0 && this.parts[count - 1] == 0) count--;
    return count == 0 ? 0 : 32 * count - i32(clz(this.parts[count - 1]));
  }

  isZero(): bool {
    return this.bits() == 0;
  }

  times(factor: u32, plus: u32): void {
    let carry: u64 = plus;
    for (let i = 0; i < this.parts.length; i++) {
      carry += u64(this.parts[i]) * factor;
      this.parts[i] = u32(carry);
      carry >>= 32;
    }
    if (carry != 0) this.parts.push(u32(carry));
  }

  shift(bits: i32): void {
    const whole = bits >> 5;
    this.times(u32(1) << (bits & 31), 0);
    if (whole == 0) return;
    const shifted = new Array<u32>(whole);
    this.parts = shifted.concat(this.parts);
  }

  halve(): void {
    let carry: u32 = 0;
    for (let i = this.parts.length - 1; i >= 0; i--) {
      const part = this.parts[i];
      this.parts[i] = (part >> 1) | carry;
      carry = part << 31;
    }
  }

  reaches(other: Large): bool {
    for (let i = max(this.parts.length, other.parts.length) - 1; i >= 0; i--) {
      const mine = this.part(i), its = other.part(i);
      if (mine != its) return mine > its;
    }
    return true;
  }

  // Takes away what it reaches.
  less(other: Large): void {
    let borrow: i64 = 0;
    for (let i = 0; i < this.parts.length; i++) {
      borrow += i64(this.parts[i]) - i64(other.part(i));
      this.parts[i] = u32(borrow);
      borrow >>= 32;
    }
  }

  private part(n: i32): u32 {
    return n < this.parts.length ? this.parts[n] : 0;
  }
}
