// The conformance plugin in AssemblyScript: does what a command says, as guest-sdk/conformance/README.md has it.
import {
  Answer, Context, Failure, Info, Input, Json, JsonObject, Kind, Level, OnError, Permission, Refusal, block, bytesOf, config, fail, log,
  modify, proceed, process, state, textOf,
} from './sdk/tacklebox';

const EVENTS = [
  'PreToolUse', 'PermissionRequest', 'PostToolUse', 'PostToolUseFailure', 'UserPromptSubmit', 'SessionStart', 'SessionEnd',
  'Stop', 'TurnStart', 'TurnEnd', 'PreCompact', 'PostCompact', 'SubagentStart', 'SubagentStop', 'Notification',
];

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error'];
const PERMISSIONS = ['allow', 'ask', 'deny'];

export function describe(): Info {
  const info = new Info('conformance', '1.2.3', 'does what it is told');
  for (let i = 0; i < EVENTS.length; i++) {
    const hook = info.hook(EVENTS[i]);
    if (EVENTS[i] != 'PermissionRequest') continue;
    hook.matcher = 'bash|edit';
    hook.condition = 'bash(git *)';
    hook.timeoutMs = 2500;
    hook.once = true;
    hook.onError = OnError.Pass;
  }
  return info;
}

export function run(input: Input, context: Context): Answer {
  const settings = config();
  const command = settings.get('do').exists ? settings : input.toolInput;
  const word = textAt(command, 'do');
  if (word == 'continue') return proceed();
  if (word == 'block') return block(textAt(command, 'reason'));
  if (word == 'modify') return modification(command);
  if (word == 'error') return fail(textAt(command, 'text'));
  if (word == 'trap') throw new Error('as it was told');
  if (word == 'spin') while (true) {}
  if (word == 'repeat') return modify().output(textAt(command, 'text').repeat(i32(command.get('times').integer)));
  if (word == 'text') return text(textAt(command, 'of'), input, context);
  if (word == 'get') return object(new JsonObject().set('found', inside(input.toolInput, command.get('path').items())));
  if (word == 'echo') return echo(command.get('parts').texts!, new Call(input, context, settings));
  if (word == 'log') return logged(command.get('lines').items());
  if (word == 'state') return object(new JsonObject().set('results', command.get('steps').items().map<Json>(item => step(item))));
  if (word == 'fill') return object(filled(command));
  if (word == 'process') return object(started(command));
  return fail('unknown command: ' + word);
}

class Call {
  constructor(public input: Input, public context: Context, public config: Json) {}
}

function textAt(object: Json, key: string): string {
  const text = object.get(key).text;
  return text == null ? '' : text;
}

function object(object: JsonObject): Answer {
  return modify().input(object);
}

function modification(command: Json): Answer {
  const changes = modify();
  const input = command.get('input'), inputText = command.get('inputText').text;
  if (input.exists) changes.inputText(input.raw);
  if (inputText != null) changes.inputText(inputText);
  const output = command.get('output').text, context = command.get('context').text;
  if (output != null) changes.output(output);
  if (context != null) changes.context(context);
  const permission = command.get('permission').text;
  if (permission == null) return changes;
  const known = PERMISSIONS.indexOf(permission);
  if (known < 0) return fail('unknown permission: ' + permission);
  return changes.permission(<Permission>known);
}

function text(name: string, input: Input, context: Context): Answer {
  let found: string | null = null;
  if (name == 'input') found = input.toolInputText;
  else if (name == 'output') found = input.toolOutput;
  else if (name == 'extra') found = context.extraText;
  else if (name == 'originalInput') found = context.originalInputText;
  else return fail('unknown text: ' + name);
  return modify().output(found == null ? '' : found);
}

function inside(value: Json, path: Json[]): Json {
  for (let i = 0; i < path.length; i++) {
    const key = path[i].text;
    value = key == null ? value.at(i32(path[i].integer)) : value.get(key);
  }
  return value;
}

function echo(parts: string[], call: Call): Answer {
  const out = new JsonObject();
  for (let i = 0; i < parts.length; i++) {
    if (!put(out, parts[i], call)) return fail('unknown part: ' + parts[i]);
  }
  return object(out);
}

function put(out: JsonObject, part: string, call: Call): bool {
  const input = call.input, context = call.context;
  if (part == 'event') out.set(part, input.event);
  else if (part == 'hook') out.set(part, input.hook);
  else if (part == 'tool') out.set(part, input.toolName);
  else if (part == 'input') out.set(part, again(input.toolInput));
  else if (part == 'output') out.set(part, input.toolOutput);
  else if (part == 'config') out.set(part, again(call.config));
  else if (part == 'dispatch') out.set(part, context.dispatchId.length > 0);
  else if (part == 'session') out.set(part, context.sessionId);
  else if (part == 'rootSession') out.set(part, context.rootSessionId);
  else if (part == 'turn') out.set(part, context.turn);
  else if (part == 'cwd') out.set(part, context.cwd);
  else if (part == 'project') out.set(part, context.projectDir);
  else if (part == 'agentId') out.set(part, context.agentId);
  else if (part == 'agentType') out.set(part, context.agentType);
  else if (part == 'parentAgentId') out.set(part, context.parentAgentId);
  else if (part == 'agentDepth') out.set(part, context.agentDepth);
  else if (part == 'toolUseId') out.set(part, context.toolUseId);
  else if (part == 'attempt') out.set(part, context.attempt == 0 ? Json.nothing : Json.parse(context.attempt.toString()));
  else if (part == 'recheck') out.set(part, context.recheck);
  else if (part == 'originalInput') out.set(part, again(context.originalInput));
  else if (part == 'changedBy') out.set(part, context.changedBy);
  else if (part == 'extra') out.set(part, again(context.extra));
  else return false;
  return true;
}

// Read and written, value by value, where a copy of the text would do.
function again(value: Json): Json {
  switch (value.kind) {
    case Kind.Object: {
      const out = new JsonObject(), members = value.members(), keys = members.keys();
      for (let i = 0; i < keys.length; i++) out.set(keys[i], again(members.get(keys[i])));
      return Json.of(out);
    }
    case Kind.List: return Json.of(value.items().map<Json>(item => again(item)));
    case Kind.String: return Json.of(value.text);
    case Kind.Number: return value.isInteger ? Json.of(value.integer) : Json.of(value.number);
    case Kind.Boolean: return Json.of(value.isTrue);
    default: return value;
  }
}

function logged(lines: Json[]): Answer {
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i].texts!;
    log(<Level>LEVELS.indexOf(line[0]), line[1]);
  }
  return proceed();
}

function step(step: Json): Json {
  const what = step.at(0).text!, key = step.at(1).text!, value = step.at(2);
  if (what == 'get') return Json.of(state.get(key));
  if (what == 'getBytes') return Json.of(numbers(state.getBytes(key)));
  if (what == 'set') return kept(state.set(key, value.text!));
  if (what == 'setBytes') return kept(state.setBytes(key, bytes(value.items())));
  if (what == 'add') {
    const sum = state.add(key, i64.parse(value.text!));
    return sum.refusal == null ? Json.of(sum.value.toString()) : kept(sum.refusal);
  }
  if (what != 'remove') throw new Error('unknown step: ' + what);
  state.remove(key);
  return kept(null);
}

function numbers(bytes: Uint8Array | null): u32[] | null {
  if (bytes == null) return null;
  const numbers: u32[] = [];
  for (let i = 0; i < bytes.length; i++) numbers.push(bytes[i]);
  return numbers;
}

function bytes(numbers: Json[]): Uint8Array {
  const bytes = new Uint8Array(numbers.length);
  for (let i = 0; i < numbers.length; i++) bytes[i] = u8(numbers[i].integer);
  return bytes;
}

function kept(refusal: Refusal | null): Json {
  if (refusal == null) return Json.of('ok');
  return Json.of(new JsonObject().set(refusal.isFull ? 'full' : 'tooLarge', refusal.limit));
}

function filled(command: Json): JsonObject {
  const count = i32(command.get('count').integer);
  const value = new Uint8Array(i32(command.get('bytes').integer)).fill(0x78);
  for (let stored = 0; stored < count; stored++) {
    const refusal = state.setBytes(textAt(command, 'prefix') + stored.toString(), value);
    if (refusal != null) return new JsonObject().set('stored', stored).set('error', kept(refusal));
  }
  return new JsonObject().set('stored', count).set('error', Json.nothing);
}

function started(command: Json): JsonObject {
  const program = textAt(command, 'program');
  const out = new JsonObject().set('available', process.available(program));
  const ended = process.run(program, command.get('args').texts!, bytesOf(textAt(command, 'stdin')));
  if (ended.failure == Failure.Denied) return out.set('result', 'denied');
  if (ended.failure == Failure.NotFound) return out.set('result', 'notFound');
  if (ended.failure == Failure.TimedOut) return out.set('result', 'timedOut');
  if (ended.failure == Failure.Failed) return out.set('result', new JsonObject().set('failed', ended.why));
  const result = new JsonObject().set('stdout', textOf(ended.stdout)).set('stderr', textOf(ended.stderr));
  return out.set('result', ended.hasExited ? result.set('exitCode', ended.exitCode) : result.set('exitCode', Json.nothing));
}
