// Keeps files that a tool generates from being written by hand.
//
// What happens stands in the environment. To exit with 0 lets it pass, with 2 blocks it for the reason on stderr. Every other
// exit code blocks as well, and so does a trap: what goes wrong here lets nothing through.

// What settings may say in `config` is `endings`. Another key is a mistake, and a guard does not overlook it.
function isGenerated(path: string, config: Json): bool {
  const keys = config.keys();
  for (let i = 0; i < keys.length; i++) {
    if (keys[i] != 'endings') fail('the config has an unknown key: ' + keys[i]);
  }
  const endings = config.get('endings');
  if (endings == null) return path.endsWith('.lock');
  const list = endings.items();
  let found = false;
  for (let i = 0; i < list.length; i++) {
    if (path.endsWith(list[i].text())) found = true;
  }
  return found;
}

function main(): i32 {
  const path = variable('HOOK_FILE_PATH');
  const config = variable('HOOK_CONFIG');
  const generated = isGenerated(path == null ? '' : path, new Json(config == null ? '{}' : config));
  if (path == null || !generated) return 0;
  say('`' + path + '` is written by its tool alone');
  return 2;
}

// WASI, as far as a guard needs it.

// @ts-ignore: decorator
@external('wasi_snapshot_preview1', 'environ_sizes_get')
declare function environ_sizes_get(count: usize, size: usize): i32;
// @ts-ignore: decorator
@external('wasi_snapshot_preview1', 'environ_get')
declare function environ_get(pointers: usize, texts: usize): i32;
// @ts-ignore: decorator
@external('wasi_snapshot_preview1', 'fd_write')
declare function fd_write(file: i32, parts: usize, count: i32, written: usize): i32;
// @ts-ignore: decorator
@external('wasi_snapshot_preview1', 'proc_exit')
declare function proc_exit(code: i32): void;

// Where WASI puts numbers.
const numbers = memory.data(12);

// The value of a variable of the environment; null where there is none. A call may hold megabytes: no other becomes a string.
function variable(name: string): string | null {
  if (environ_sizes_get(numbers, numbers + 4) != 0) fail('there is no environment');
  const count = load<u32>(numbers);
  const pointers = heap.alloc(count * 4);
  const texts = heap.alloc(load<u32>(numbers, 4));
  if (environ_get(pointers, texts) != 0) fail('there is no environment');
  const start = String.UTF8.encode(name + '=');
  let value: string | null = null;
  for (let i: u32 = 0; i < count; i++) {
    const text = <usize>load<u32>(pointers + i * 4);
    if (memory.compare(text, changetype<usize>(start), start.byteLength) != 0) continue;
    const from = text + start.byteLength;
    let end = from;
    while (load<u8>(end) != 0) end++;
    value = String.UTF8.decodeUnsafe(from, end - from);
  }
  heap.free(texts);
  heap.free(pointers);
  return value;
}

// Writes a line to stderr.
function say(line: string): void {
  const bytes = String.UTF8.encode(line + '\n');
  store<usize>(numbers, changetype<usize>(bytes));
  store<usize>(numbers, bytes.byteLength, 4);
  fd_write(2, numbers, 1, numbers + 8);
}

function fail(why: string): void {
  say(why);
  proc_exit(1);
}

const QUOTE = 0x22, COMMA = 0x2c, COLON = 0x3a, LIST = 0x5b, BACKSLASH = 0x5c, LIST_END = 0x5d, OBJECT = 0x7b, OBJECT_END = 0x7d;

// A value in a text of compact JSON, as the host writes it: without blanks between values. It serves CLAUDE_TOOL_INPUT as well.
// Whatever is not as it is expected ends the program, and so blocks.
class Json {
  constructor(private source: string, private at: i32 = 0) {}

  // The value of a key of an object; null where there is none.
  get(key: string): Json | null {
    const names = this.elements(OBJECT);
    for (let i = 0; i < names.length; i++) {
      if (names[i].text() == key) return new Json(this.source, names[i].end() + 1);
    }
    return null;
  }

  // The keys of an object.
  keys(): string[] {
    return this.elements(OBJECT).map<string>(key => key.text());
  }

  // The elements of a list.
  items(): Json[] {
    return this.elements(LIST);
  }

  // A string without its escapes.
  text(): string {
    expect(this.code(this.at) == QUOTE, this.source);
    const end = this.end() - 1;
    let out = '';
    let from = this.at + 1;
    for (let at = from; at < end; at++) {
      if (this.code(at) != BACKSLASH) continue;
      out += this.source.substring(from, at);
      const escape = this.source.charAt(++at);
      if (escape == 'u') {
        out += String.fromCharCode(<i32>parseInt(this.source.substr(at + 1, 4), 16));
        at += 4;
      } else {
        const n = 'bfnrt'.indexOf(escape);
        out += n < 0 ? escape : '\b\f\n\r\t'.charAt(n);
      }
      from = at + 1;
    }
    return out + this.source.substring(from, end);
  }

  // The elements of a list, or the keys of an object.
  private elements(open: i32): Json[] {
    expect(this.code(this.at) == open, this.source);
    const all: Json[] = [];
    let at = this.at + 1;
    while (!this.closes(at)) {
      const element = new Json(this.source, at);
      all.push(element);
      at = element.end();
      if (this.code(at) == COLON) at = new Json(this.source, at + 1).end();
      expect(this.code(at) == COMMA || this.closes(at), this.source);
      if (this.code(at) == COMMA) at++;
    }
    return all;
  }

  // Where the value ends.
  private end(): i32 {
    let at = this.at;
    let depth = 0;
    do {
      expect(at < this.source.length, this.source);
      const c = this.code(at);
      if (c == QUOTE) at = this.endOfString(at);
      else if (c == OBJECT || c == LIST) depth++, at++;
      else if (this.closes(at)) depth--, at++;
      else if (depth > 0) at++;
      else while (at < this.source.length && !this.closes(at) && this.code(at) != COMMA) at++;
    } while (depth > 0);
    return at;
  }

  private endOfString(start: i32): i32 {
    for (let at = start + 1; at < this.source.length; at++) {
      if (this.code(at) == QUOTE) return at + 1;
      if (this.code(at) == BACKSLASH) at++;
    }
    expect(false, this.source);
    return 0;
  }

  private closes(at: i32): bool {
    return this.code(at) == OBJECT_END || this.code(at) == LIST_END;
  }

  // -1 behind the end.
  private code(at: i32): i32 {
    return this.source.charCodeAt(at);
  }
}

function expect(holds: bool, source: string): void {
  if (!holds) fail('the call or its config is not as expected: ' + source.substr(0, 60));
}

proc_exit(main());
