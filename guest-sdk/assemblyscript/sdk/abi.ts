// The canonical ABI, by hand: texts and bytes between this memory and the host, and the functions of the host as they are.
//
// A component is made with `--encoding utf16`, so a text of the host's is a string as it lies there, and the other way round.
// @ts-nocheck: no file of types has the runtime's functions

// ---- memory

// What goes out, until the host has read it.
let kept: ArrayBuffer[] = [];
let texts: string[] = [];

/** Room that stays until the answer was read. All of it is zero. */
export function area(size: i32): usize {
  const room = new ArrayBuffer(size);
  kept.push(room);
  return changetype<usize>(room);
}

/** The answer was read. */
export function forget(): void {
  kept = [];
  texts = [];
}

/**
 * Memory for what the host hands over. By its alignment it is a string, or else bytes, and nobody's until `textAt`, `bytesAt` or
 * `release` took it.
 */
export function cabi_realloc(former: usize, formerSize: usize, alignment: usize, size: usize): usize {
  if (size == 0) return alignment;
  if (former == 0 || formerSize == 0) return __pin(__new(size, alignment == 2 ? idof<string>() : idof<ArrayBuffer>()));
  __unpin(former);
  return __pin(__renew(former, size));
}

/** What was handed over is the collector's from now on. */
export function release(at: usize): void {
  __unpin(at);
}

// ---- what came

/** The text that is told of at this place. */
export function textAt(at: usize): string {
  if (load<u32>(at, 4) == 0) return '';
  const text = changetype<string>(load<usize>(at));
  __unpin(changetype<usize>(text));
  return text;
}

export function textIfAt(at: usize): string | null {
  return load<u8>(at) == 0 ? null : textAt(at + 4);
}

export function textsAt(at: usize): string[] {
  const count = load<i32>(at, 4);
  const list = new Array<string>(count);
  if (count == 0) return list;
  const from = load<usize>(at);
  for (let i = 0; i < count; i++) list[i] = textAt(from + 8 * i);
  __unpin(from);
  return list;
}

export function bytesAt(at: usize): Uint8Array {
  if (load<u32>(at, 4) == 0) return new Uint8Array(0);
  const bytes = changetype<ArrayBuffer>(load<usize>(at));
  __unpin(changetype<usize>(bytes));
  return Uint8Array.wrap(bytes);
}

// ---- what goes out

/** What stands in an option for nothing. */
export const none: i32 = -1;

/** Tells of this text at this place. */
export function put(at: usize, text: string): void {
  const whole = wellFormed(text);
  texts.push(whole);
  store<usize>(at, changetype<usize>(whole));
  store<i32>(at, whole.length, 4);
}

export function putIf(at: usize, text: string | null): void {
  if (text == null) return;
  store<u8>(at, 1);
  put(at + 4, text);
}

/** The same text, where half a character, which AssemblyScript allows and the host does not, is U+FFFD. */
export function wellFormed(text: string): string {
  const length = text.length;
  for (let i = 0; i < length; i++) {
    const unit = text.charCodeAt(i);
    if ((unit & 0xf800) != 0xd800) continue;
    if (!isPair(text, i)) return repaired(text);
    i++;
  }
  return text;
}

function isPair(text: string, at: i32): bool {
  return (text.charCodeAt(at) & 0xfc00) == 0xd800 && (text.charCodeAt(at + 1) & 0xfffffc00) == 0xdc00;
}

function repaired(text: string): string {
  const units = new StaticArray<u16>(text.length);
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if ((unit & 0xf800) != 0xd800) units[i] = u16(unit);
    else if (!isPair(text, i)) units[i] = 0xfffd;
    else {
      units[i] = u16(unit);
      units[++i] = u16(text.charCodeAt(i));
    }
  }
  return String.UTF16.decodeUnsafe(changetype<usize>(units), usize(text.length) << 1);
}

// ---- the host's functions

// @ts-ignore: decorator
@external('tacklebox:hooks/log@0.1.0', 'write')
export declare function log_write(level: i32, text: usize, length: i32): void;

// @ts-ignore: decorator
@external('tacklebox:hooks/config@0.1.0', 'get')
export declare function config_get(to: usize): void;

// @ts-ignore: decorator
@external('tacklebox:hooks/state@0.1.0', 'get')
export declare function state_get(key: usize, length: i32, to: usize): void;

// @ts-ignore: decorator
@external('tacklebox:hooks/state@0.1.0', 'set')
export declare function state_set(key: usize, length: i32, bytes: usize, count: i32, to: usize): void;

// @ts-ignore: decorator
@external('tacklebox:hooks/state@0.1.0', 'remove')
export declare function state_remove(key: usize, length: i32): void;

// @ts-ignore: decorator
@external('tacklebox:hooks/state@0.1.0', 'add')
export declare function state_add(key: usize, length: i32, delta: i64, to: usize): void;

// @ts-ignore: decorator
@external('tacklebox:hooks/process@0.1.0', 'available')
export declare function process_available(program: usize, length: i32): i32;

// @ts-ignore: decorator
@external('tacklebox:hooks/process@0.1.0', 'run')
export declare function process_run(
  program: usize, length: i32, args: usize, count: i32, stdin: usize, size: i32, to: usize,
): void;
