// The conformance plugin in JavaScript: does what a command says, as guest-sdk/conformance/README.md has it.
import { block, bytesOf, modify, plugin, proceed, textOf } from './sdk/tacklebox.js';
import * as config from 'tacklebox:hooks/config@0.1.0';
import * as log from 'tacklebox:hooks/log@0.1.0';
import * as process from 'tacklebox:hooks/process@0.1.0';
import * as state from 'tacklebox:hooks/state@0.1.0';

const EVENTS = [
  'PreToolUse', 'PermissionRequest', 'PostToolUse', 'PostToolUseFailure', 'UserPromptSubmit', 'SessionStart', 'SessionEnd',
  'Stop', 'TurnStart', 'TurnEnd', 'PreCompact', 'PostCompact', 'SubagentStart', 'SubagentStop', 'Notification',
];

const WHOLE = { matcher: 'bash|edit', condition: 'bash(git *)', timeoutMs: 2500, once: true, onError: 'pass' };

// Each part of an echo.
const PARTS = {
  event: call => call.input.event,
  hook: call => call.input.hook,
  tool: call => call.input.toolName,
  input: call => call.input.toolInput,
  output: call => call.input.toolOutput,
  config: call => call.config,
  dispatch: call => call.context.dispatchId !== '',
  session: call => call.context.sessionId,
  rootSession: call => call.context.rootSessionId,
  turn: call => call.context.turn,
  cwd: call => call.context.cwd,
  project: call => call.context.projectDir,
  agentId: call => call.context.agentId,
  agentType: call => call.context.agentType,
  parentAgentId: call => call.context.parentAgentId,
  agentDepth: call => call.context.agentDepth,
  toolUseId: call => call.context.toolUseId,
  attempt: call => call.context.attempt,
  recheck: call => call.context.recheck,
  originalInput: call => call.context.originalInput,
  changedBy: call => call.context.changedBy,
  extra: call => call.context.extra,
};

const TEXTS = {
  input: call => call.input.toolInputText,
  output: call => call.input.toolOutput,
  extra: call => call.context.extraText,
  originalInput: call => call.context.originalInputText,
};

const STEPS = {
  get: key => orNull(state.get(key), textOf),
  getBytes: key => orNull(state.get(key), bytes => [...bytes]),
  set: (key, text) => refusable(() => state.set(key, bytesOf(text))),
  setBytes: (key, numbers) => refusable(() => state.set(key, Uint8Array.from(numbers))),
  remove: key => refusable(() => state.remove(key)),
  add: (key, delta) => refusable(() => add(key, BigInt(delta))),
};

const COMMANDS = {
  continue: () => proceed(),
  block: ({ reason }) => block(reason),
  modify: ({ input, inputText, output, context, permission }) =>
    modify({ input: inputText ?? input, output, context, permission }),
  error: ({ text }) => {
    throw new Error(text);
  },
  trap: () => {
    undefined.property;
  },
  spin: () => {
    for (;;);
  },
  repeat: ({ text, times }) => modify({ output: text.repeat(times) }),
  text: ({ of }, call) => modify({ output: named(TEXTS, 'text', of)(call) ?? '' }),
  get: ({ path }, { input }) => object({ found: path.reduce(inside, input.toolInput) ?? null }),
  echo: ({ parts }, call) => object(Object.fromEntries(parts.map(part => [part, named(PARTS, 'part', part)(call) ?? null]))),
  log: ({ lines }) => {
    for (const [level, message] of lines) log.write(level, message);
    return proceed();
  },
  state: ({ steps }) => object({ results: steps.map(([step, ...rest]) => named(STEPS, 'step', step)(...rest)) }),
  fill,
  process: ({ program, args, stdin }) => object({ available: process.available(program), result: start(program, args, stdin) }),
};

export const callback = plugin({
  name: 'conformance',
  version: '1.2.3',
  description: 'does what it is told',
  hooks: EVENTS.map(event => ({ event, ...(event === 'PermissionRequest' ? WHOLE : {}) })),

  run(input, context) {
    const call = { input, context, config: JSON.parse(config.get()) };
    const command = Object.hasOwn(call.config, 'do') ? call.config : input.toolInput;
    return named(COMMANDS, 'command', command.do)(command, call);
  },
});

function named(table, what, name) {
  if (!Object.hasOwn(table, name)) throw new Error(`unknown ${what}: ${name}`);
  return table[name];
}

const object = value => modify({ input: value });

const orNull = (value, read) => (value === null ? null : read(value));

// A delta beyond what a number holds goes in two parts; such a sum is read as the text that is kept.
function add(key, delta) {
  const low = delta % 2n ** 32n;
  const parts = delta === low ? [low] : [delta - low, low];
  const sum = parts.map(part => state.add(key, Number(part))).at(-1);
  return Number.isSafeInteger(sum) ? String(sum) : textOf(state.get(key));
}

function inside(value, step) {
  const has = typeof value === 'object' && value !== null && Object.hasOwn(value, step);
  return has && Array.isArray(value) === (typeof step === 'number') ? value[step] : undefined;
}

function refusable(act) {
  try {
    return act() ?? 'ok';
  } catch ({ payload: { tag, val } }) {
    return { [tag === 'full' ? 'full' : 'tooLarge']: val };
  }
}

function fill({ prefix, count, bytes }) {
  const value = new Uint8Array(bytes).fill('x'.charCodeAt(0));
  for (let stored = 0; stored < count; stored++) {
    const result = refusable(() => state.set(prefix + stored, value));
    if (result !== 'ok') return object({ stored, error: result });
  }
  return object({ stored: count, error: null });
}

function start(program, args, stdin) {
  try {
    const { exitCode, stdout, stderr } = process.run(program, args, bytesOf(stdin));
    return { exitCode: exitCode ?? null, stdout: textOf(stdout), stderr: textOf(stderr) };
  } catch ({ payload: { tag, val } }) {
    return { denied: 'denied', 'not-found': 'notFound', 'timed-out': 'timedOut' }[tag] ?? { failed: val };
  }
}
