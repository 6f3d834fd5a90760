// What makes a plugin in AssemblyScript short: what came, with its JSON read, the three answers, and the host's functions.
//
// A plugin is `hook.ts` with `describe` and `run`. What has to last goes through `state`, since an instance may live for one call.

import {
  bytesAt, config_get, log_write, none, process_available, process_run, state_add, state_get, state_remove, state_set, textAt,
  textIfAt, textsAt, wellFormed,
} from './abi';
import { Json, JsonObject, Kind } from './json';

export { Json, JsonObject, Kind, quoted } from './json';

// Where the host puts what a function gives back, until the next one is called.
const returned = memory.data(32, 8);

// ---- what a plugin says of itself

export class Info {
  hooks: Hook[] = [];

  constructor(public name: string, public version: string, public description: string) {}

  /** A hook that the plugin wants, with the host's defaults: its fields can be set. It has the plugin's name, if it gets no other. */
  hook(event: string, name: string = this.name): Hook {
    const hook = new Hook(event, name);
    this.hooks.push(hook);
    return hook;
  }
}

/** What it means on a gate that there is no answer. */
export enum OnError { Default, Block, Pass }

export class Hook {
  /** Over tools' names, as in settings: `write|edit`. */
  matcher: string | null = null;
  /** As `if` in settings: `bash(git *)`. */
  condition: string | null = null;
  /** 0: the host's own. */
  timeoutMs: u32 = 0;
  once: bool = false;
  onError: OnError = OnError.Default;

  /** The event's name as in settings: `PreToolUse`, `SessionStart`, ... */
  constructor(public event: string, public name: string) {}
}

// ---- what came

export class Input {
  event: string;
  /** The name this hook is registered under. */
  hook: string;
  /** The tool's name; on an event without a tool, the event's. */
  toolName: string;
  /** The tool's arguments, or the event's payload, as text. */
  toolInputText: string;
  /** What the tool printed, or why it failed, where the event has it. */
  toolOutput: string | null;
  private read: Json | null = null;

  /** Only the host has one. */
  constructor(at: usize) {
    this.event = textAt(at);
    this.hook = textAt(at + 8);
    this.toolName = textAt(at + 16);
    this.toolInputText = textAt(at + 24);
    this.toolOutput = textIfAt(at + 32);
  }

  /** The tool's arguments, or the event's payload: an object. */
  get toolInput(): Json {
    if (this.read == null) this.read = objectOf('the input', this.toolInputText);
    return this.read!;
  }

  /** The path that the tool works on: the first text of `file_path`, `filePath` and `path`. */
  get path(): string | null {
    const one = this.toolInput.get('file_path').text;
    if (one != null) return one;
    const other = this.toolInput.get('filePath').text;
    return other != null ? other : this.toolInput.get('path').text;
  }
}

export class Context {
  /** Unique for this dispatch; all hooks of one event see the same. */
  dispatchId: string;
  sessionId: string;
  /** The session at the root of this agent's tree. */
  rootSessionId: string;
  turn: u32;
  cwd: string | null;
  projectDir: string | null;
  agentId: string | null;
  agentType: string | null;
  parentAgentId: string | null;
  /** 0 in the main agent, 1 in its sub-agents, and so on. */
  agentDepth: u32;
  toolUseId: string | null;
  /** Stop: 1, 2, .. within one turn; elsewhere 0. */
  attempt: u32;
  /** This input is another hook's rewrite; a block counts, a rewrite does not. */
  recheck: bool;
  /** After a tool ran: its arguments as the model gave them, as text. */
  originalInputText: string | null;
  /** And the hooks that changed them. */
  changedBy: string[];
  /** The text of `extra`. */
  extraText: string;
  private read: Json | null = null;

  /** Only the host has one. */
  constructor(at: usize) {
    this.dispatchId = textAt(at);
    this.sessionId = textAt(at + 8);
    this.rootSessionId = textAt(at + 16);
    this.turn = load<u32>(at, 24);
    this.cwd = textIfAt(at + 28);
    this.projectDir = textIfAt(at + 40);
    this.agentId = textIfAt(at + 52);
    this.agentType = textIfAt(at + 64);
    this.parentAgentId = textIfAt(at + 76);
    this.agentDepth = load<u32>(at, 88);
    this.toolUseId = textIfAt(at + 92);
    this.attempt = load<u8>(at, 104) == 0 ? 0 : load<u32>(at, 108);
    this.recheck = load<u8>(at, 112) != 0;
    this.originalInputText = textIfAt(at + 116);
    this.changedBy = textsAt(at + 128);
    this.extraText = textAt(at + 136);
  }

  /** After a tool ran: its arguments as the model gave them; else nothing. */
  get originalInput(): Json {
    const text = this.originalInputText;
    return text == null ? Json.nothing : objectOf('the original input', text);
  }

  /** An object for what later versions add. */
  get extra(): Json {
    if (this.read == null) this.read = objectOf('`extra`', this.extraText);
    return this.read!;
  }

  /** On tools with a command argument: whether the host could read all of the command. False: `commands` may lack some. */
  get parsed(): bool {
    return this.extra.get('parsed').isTrue;
  }

  /** On tools with a command argument: the commands that the host sees in it, each a list of words. */
  get commands(): string[][] {
    return this.extra.get('commands').items().map<string[]>(command => command.texts!);
  }
}

/** What the user configured for this hook: an object, which is empty where there is nothing. */
export function config(): Json {
  config_get(returned);
  return objectOf('the config', textAt(returned));
}

// The host hands over nothing else; if it did, a guard would look for a key in vain.
function objectOf(what: string, text: string): Json {
  const json = Json.parse(text);
  if (json.kind != Kind.Object) throw new Error(what + ' is no JSON object');
  return json;
}

// ---- answers

export enum Permission { Allow, Ask, Deny }

/** What `proceed`, `block`, `modify` or `fail` makes. */
export class Answer {
  failure: string | null = null;
  reason: string | null = null;
  changes: bool = false;
  newInput: string | null = null;
  newOutput: string | null = null;
  newContext: string | null = null;
  newPermission: i32 = none;
}

/** No objection. */
export function proceed(): Answer {
  return new Answer();
}

/** It must not happen, and why; the model reads it. */
export function block(reason: string): Answer {
  const answer = new Answer();
  answer.reason = reason;
  return answer;
}

/** The plugin failed, and why: no answer. On a gate that blocks. */
export function fail(why: string): Answer {
  const answer = new Answer();
  answer.failure = why;
  return answer;
}

/** It happens otherwise: `modify().output(text)`. Each event takes the parts that it can honour. */
export function modify(): Modification {
  return new Modification();
}

export class Modification extends Answer {
  changes: bool = true;

  /** Merged into the tool's arguments. */
  input(object: JsonObject): Modification {
    return this.inputText(object.toString());
  }

  /** The same, written already. */
  inputText(json: string): Modification {
    this.newInput = json;
    return this;
  }

  /** Replaces the tool's output, or the prompt. */
  output(text: string): Modification {
    this.newOutput = text;
    return this;
  }

  /** Text for the model. */
  context(text: string): Modification {
    this.newContext = text;
    return this;
  }

  /** On PermissionRequest the answer; on PreToolUse deny blocks, ask and allow say what to do about a prompt. */
  permission(permission: Permission): Modification {
    this.newPermission = permission;
    return this;
  }
}

// ---- the log, and what breaks

export enum Level { Trace, Debug, Info, Warn, Error }

/** Writes a line to the host's log. */
export function log(level: Level, message: string): void {
  const text = wellFormed(message);
  log_write(level, changetype<usize>(text), text.length);
}

let isBroken = false;

/** For `asc --use abort=..`: what is thrown and what cannot be, like an index out of bounds, goes to the log and breaks the call. */
export function broken(message: string | null, file: string | null, line: u32, column: u32): void {
  if (!isBroken) {
    isBroken = true;
    const what = message == null ? 'broken' : message;
    const place = file == null ? 'somewhere' : `${file}:${line}:${column}`;
    log(Level.Error, `${what} (${place})`);
  }
  unreachable();
}

// ---- state: small values that outlive a call, kept for this plugin and this session

/** Why a value was not kept, and the limit in bytes: of one value, or of all values of this plugin and session. */
export class Refusal {
  constructor(public isFull: bool, public limit: u32) {}
}

/** A sum, or why there is none. */
export class Sum {
  value: i64 = 0;
  refusal: Refusal | null = null;
}

export namespace state {
  export function get(key: string): string | null {
    const bytes = getBytes(key);
    return bytes == null ? null : textOf(bytes);
  }

  export function getBytes(key: string): Uint8Array | null {
    const name = wellFormed(key);
    state_get(changetype<usize>(name), name.length, returned);
    return load<u8>(returned) == 0 ? null : bytesAt(returned + 4);
  }

  /** Null: it is kept. */
  export function set(key: string, value: string): Refusal | null {
    return setBytes(key, bytesOf(value));
  }

  export function setBytes(key: string, value: Uint8Array): Refusal | null {
    const name = wellFormed(key);
    state_set(changetype<usize>(name), name.length, value.dataStart, value.length, returned);
    return load<u8>(returned) == 0 ? null : new Refusal(load<u8>(returned, 4) == 1, load<u32>(returned, 8));
  }

  export function remove(key: string): void {
    const name = wellFormed(key);
    state_remove(changetype<usize>(name), name.length);
  }

  /** Adds to a number that is kept under this key; calls at the same time lose nothing. */
  export function add(key: string, delta: i64): Sum {
    const name = wellFormed(key);
    state_add(changetype<usize>(name), name.length, delta, returned);
    const sum = new Sum();
    if (load<u8>(returned) == 0) sum.value = load<i64>(returned, 8);
    else sum.refusal = new Refusal(load<u8>(returned, 8) == 1, load<u32>(returned, 12));
    return sum;
  }
}

// ---- process: programs outside the sandbox, each by name and only where granted

export enum Failure { None, Denied, NotFound, TimedOut, Failed }

/** What came of a program. */
export class Ended {
  /** `None`: it ran, and the rest holds. */
  failure: Failure = Failure.None;
  /** Why, where the failure is `Failed`. */
  why: string = '';
  /** False: ended by a signal. */
  hasExited: bool = false;
  exitCode: i32 = 0;
  stdout: Uint8Array = new Uint8Array(0);
  stderr: Uint8Array = new Uint8Array(0);
}

export namespace process {
  /** Whether `run` could start this program now. */
  export function available(program: string): bool {
    const name = wellFormed(program);
    return process_available(changetype<usize>(name), name.length) != 0;
  }

  export function run(program: string, args: string[], stdin: Uint8Array = new Uint8Array(0)): Ended {
    const name = wellFormed(program);
    const words = new Array<string>(args.length);
    const list = new StaticArray<usize>(2 * args.length);
    for (let i = 0; i < args.length; i++) {
      words[i] = wellFormed(args[i]);
      list[2 * i] = changetype<usize>(words[i]);
      list[2 * i + 1] = words[i].length;
    }
    process_run(
      changetype<usize>(name), name.length, changetype<usize>(list), args.length, stdin.dataStart, stdin.length, returned,
    );
    const ended = new Ended();
    if (load<u8>(returned) == 0) {
      ended.hasExited = load<u8>(returned, 4) != 0;
      ended.exitCode = load<i32>(returned, 8);
      ended.stdout = bytesAt(returned + 12);
      ended.stderr = bytesAt(returned + 20);
    } else {
      ended.failure = load<u8>(returned, 4) + 1;
      if (ended.failure == Failure.Failed) ended.why = textAt(returned + 8);
    }
    return ended;
  }
}

// ---- bytes

/** A text as UTF-8. */
export function bytesOf(text: string): Uint8Array {
  return Uint8Array.wrap(String.UTF8.encode(text, false, String.UTF8.ErrorMode.REPLACE));
}

/** UTF-8 as a text; what is none is U+FFFD. */
export function textOf(bytes: Uint8Array): string {
  const units = new StaticArray<u16>(bytes.length);
  let count = 0;
  for (let at = 0; at < bytes.length;) {
    const length = sequence(bytes, at);
    const point = length == 0 ? 0xfffd : pointAt(bytes, at, length);
    if (point >= 0x10000) units[count++] = u16(0xd7c0 + (point >> 10));
    units[count++] = u16(point < 0x10000 ? point : 0xdc00 | (point & 0x3ff));
    at += max(length, 1);
  }
  return String.UTF16.decodeUnsafe(changetype<usize>(units), usize(count) << 1);
}

// How many bytes the character at this place has; 0 where there is none.
function sequence(bytes: Uint8Array, at: i32): i32 {
  const first = bytes[at];
  if (first < 0x80) return 1;
  const length = first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3 : first >= 0xf0 && first < 0xf5 ? 4 : 0;
  if (length == 0 || at + length > bytes.length) return 0;
  for (let n = 1; n < length; n++) if ((bytes[at + n] & 0xc0) != 0x80) return 0;
  const point = pointAt(bytes, at, length);
  const least = length == 2 ? 0x80 : length == 3 ? 0x800 : 0x10000;
  return point < least || point > 0x10ffff || (point & 0xfffff800) == 0xd800 ? 0 : length;
}

function pointAt(bytes: Uint8Array, at: i32, length: i32): i32 {
  let point = i32(bytes[at]);
  if (length > 1) point &= 0x7f >> length;
  for (let n = 1; n < length; n++) point = (point << 6) | (bytes[at + n] & 0x3f);
  return point;
}
