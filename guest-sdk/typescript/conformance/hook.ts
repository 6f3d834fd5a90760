// The conformance plugin in TypeScript: does what a command says, as guest-sdk/conformance/README.md has it.
import { type Answer, type Context, type Hook, type Input, type Json, type JsonObject } from './sdk/tacklebox.js';
import { block, bytesOf, modify, plugin, proceed, textOf } from './sdk/tacklebox.js';
import * as config from 'tacklebox:hooks/config@0.1.0';
import * as log from 'tacklebox:hooks/log@0.1.0';
import * as process from 'tacklebox:hooks/process@0.1.0';
import * as state from 'tacklebox:hooks/state@0.1.0';

const EVENTS = [
  'PreToolUse', 'PermissionRequest', 'PostToolUse', 'PostToolUseFailure', 'UserPromptSubmit', 'SessionStart', 'SessionEnd',
  'Stop', 'TurnStart', 'TurnEnd', 'PreCompact', 'PostCompact', 'SubagentStart', 'SubagentStop', 'Notification',
];

const WHOLE: Partial<Hook> = { matcher: 'bash|edit', condition: 'bash(git *)', timeoutMs: 2500, once: true, onError: 'pass' };

/** What one call is about. */
type Call = { input: Input; context: Context; config: JsonObject };

/** What is told, by the word under `do`. */
type Command =
  | { do: 'continue' | 'trap' | 'spin' }
  | { do: 'block'; reason: string }
  | { do: 'modify'; input?: JsonObject; inputText?: string; output?: string; context?: string; permission?: 'allow' | 'ask' | 'deny' }
  | { do: 'error'; text: string }
  | { do: 'repeat'; text: string; times: number }
  | { do: 'text'; of: string }
  | { do: 'get'; path: (string | number)[] }
  | { do: 'echo'; parts: string[] }
  | { do: 'log'; lines: [level: log.Level, message: string][] }
  | { do: 'state'; steps: Step[] }
  | { do: 'fill'; prefix: string; count: number; bytes: number }
  | { do: 'process'; program: string; args: string[]; stdin: string };

type Step =
  | ['get' | 'getBytes' | 'remove', key: string]
  | ['set', key: string, text: string]
  | ['setBytes', key: string, numbers: number[]]
  | ['add', key: string, delta: string];

export const callback = plugin({
  name: 'conformance',
  version: '1.2.3',
  description: 'does what it is told',
  hooks: EVENTS.map(event => ({ event, ...(event === 'PermissionRequest' ? WHOLE : {}) })),

  run(input, context) {
    const settings: JsonObject = JSON.parse(config.get());
    const command: JsonObject = Object.hasOwn(settings, 'do') ? settings : input.toolInput;
    return obey(command as Command, { input, context, config: settings });
  },
});

function obey(command: Command, call: Call): Answer {
  switch (command.do) {
    case 'continue':
      return proceed();
    case 'block':
      return block(command.reason);
    case 'modify': {
      const { input, inputText, output, context, permission } = command;
      return modify({ input: inputText ?? input, output, context, permission });
    }
    case 'error':
      throw new Error(command.text);
    case 'trap':
      return [][0]!;
    case 'spin':
      for (;;);
    case 'repeat':
      return modify({ output: command.text.repeat(command.times) });
    case 'text':
      return modify({ output: text(command.of, call) ?? '' });
    case 'get':
      return modify({ input: { found: command.path.reduce(inside, call.input.toolInput as Json) ?? null } });
    case 'echo':
      return modify({ input: Object.fromEntries(command.parts.map(name => [name, part(name, call) ?? null])) });
    case 'log':
      for (const [level, message] of command.lines) log.write(level, message);
      return proceed();
    case 'state':
      return modify({ input: { results: command.steps.map(step) } });
    case 'fill':
      return modify({ input: fill(command.prefix, command.count, command.bytes) });
    case 'process': {
      const { program, args, stdin } = command;
      return modify({ input: { available: process.available(program), result: start(program, args, stdin) } });
    }
    default:
      throw new Error(`unknown command: ${(command as JsonObject).do}`);
  }
}

function text(of: string, { input, context }: Call): string | undefined {
  switch (of) {
    case 'input': return input.toolInputText;
    case 'output': return input.toolOutput;
    case 'extra': return context.extraText;
    case 'originalInput': return context.originalInputText;
    default: throw new Error(`unknown text: ${of}`);
  }
}

function part(name: string, { input, context, config }: Call): Json | undefined {
  switch (name) {
    case 'event': return input.event;
    case 'hook': return input.hook;
    case 'tool': return input.toolName;
    case 'input': return input.toolInput;
    case 'output': return input.toolOutput;
    case 'config': return config;
    case 'dispatch': return context.dispatchId !== '';
    case 'session': return context.sessionId;
    case 'rootSession': return context.rootSessionId;
    case 'turn': return context.turn;
    case 'cwd': return context.cwd;
    case 'project': return context.projectDir;
    case 'agentId': return context.agentId;
    case 'agentType': return context.agentType;
    case 'parentAgentId': return context.parentAgentId;
    case 'agentDepth': return context.agentDepth;
    case 'toolUseId': return context.toolUseId;
    case 'attempt': return context.attempt;
    case 'recheck': return context.recheck;
    case 'originalInput': return context.originalInput;
    case 'changedBy': return context.changedBy;
    case 'extra': return context.extra;
    default: throw new Error(`unknown part: ${name}`);
  }
}

function inside(value: Json | undefined, step: string | number): Json | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
  if (typeof step === 'number') return Array.isArray(value) ? value[step] : undefined;
  return Array.isArray(value) ? undefined : value[step];
}

function step([what, key, value]: Step): Json {
  switch (what) {
    case 'get': return orNull(state.get(key), textOf);
    case 'getBytes': return orNull(state.get(key), bytes => [...bytes]);
    case 'set': return refusable(() => state.set(key, bytesOf(value)));
    case 'setBytes': return refusable(() => state.set(key, Uint8Array.from(value)));
    case 'remove': return refusable(() => state.remove(key));
    case 'add': return refusable(() => add(key, BigInt(value)));
    default: throw new Error(`unknown step: ${what satisfies never}`);
  }
}

function orNull<T extends Json>(bytes: Uint8Array | null, read: (bytes: Uint8Array) => T): T | null {
  return bytes === null ? null : read(bytes);
}

// A delta beyond what a number holds goes in two parts; such a sum is read as the text that is kept.
function add(key: string, delta: bigint): string {
  const low = delta % 2n ** 32n;
  const parts = delta === low ? [low] : [delta - low, low];
  const [sum = 0] = parts.map(part => state.add(key, Number(part))).slice(-1);
  const kept = Number.isSafeInteger(sum) ? null : state.get(key);
  return kept === null ? String(sum) : textOf(kept);
}

function refusable(act: () => string | void): Json {
  try {
    return act() ?? 'ok';
  } catch (refusal) {
    const { tag, val } = (refusal as { payload: state.Error }).payload;
    return { [tag === 'full' ? 'full' : 'tooLarge']: val };
  }
}

function fill(prefix: string, count: number, bytes: number): JsonObject {
  const value = new Uint8Array(bytes).fill('x'.charCodeAt(0));
  for (let stored = 0; stored < count; stored++) {
    const result = refusable(() => state.set(prefix + stored, value));
    if (result !== 'ok') return { stored, error: result };
  }
  return { stored: count, error: null };
}

function start(program: string, args: string[], stdin: string): Json {
  try {
    const { exitCode, stdout, stderr } = process.run(program, args, bytesOf(stdin));
    return { exitCode, stdout: textOf(stdout), stderr: textOf(stderr) };
  } catch (error) {
    const payload = (error as { payload: process.Error }).payload;
    switch (payload.tag) {
      case 'denied': return 'denied';
      case 'not-found': return 'notFound';
      case 'timed-out': return 'timedOut';
      case 'failed': return { failed: payload.val };
    }
  }
}
