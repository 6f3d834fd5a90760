// What makes a plugin in JavaScript or TypeScript short: what came, with its JSON read, and the three answers. Whatever is
// thrown becomes the plugin's error, where the engine would break off. Types and explanations are in tacklebox.d.ts.
//
// It imports no interface of the host, so that a plugin has those alone that its own source names.

const PERMISSIONS = ['allow', 'ask', 'deny'];
const PARTS = ['input', 'output', 'context', 'permission'];
const HOOK = ['event', 'name', 'matcher', 'condition', 'timeoutMs', 'once', 'onError'];

class Answer {
  constructor(tag, val) {
    this.tag = tag;
    this.val = val;
  }
}

export function plugin({ name, version, description = '', hooks, run }) {
  const info = { name, version, description, hooks: hooks.map(hook => registration(name, hook)) };
  for (const [key, value] of Object.entries({ name, version, description })) text(`\`${key}\` of the plugin`, value);
  if (typeof run !== 'function') throw new Error('a plugin has a function `run`');
  return { describe: () => info, run: (input, context) => answered(run, input, context) };
}

export const proceed = () => new Answer('continue');

export const block = reason => new Answer('block', text('a reason', reason));

export function modify(parts) {
  known('a modification', PARTS, parts);
  const { input, output, context, permission } = parts;
  if (permission != null && !PERMISSIONS.includes(permission)) throw new Error(`unknown permission: ${permission}`);
  return new Answer('modify', {
    input: maybe(input, () => text('an input', typeof input === 'string' ? input : JSON.stringify(input))),
    output: maybe(output, () => text('an output', output)),
    context: maybe(context, () => text('a context', context)),
    permission: permission ?? undefined,
  });
}

export function bytesOf(string) {
  // The engine has no TextEncoder.
  const escaped = unescape(encodeURIComponent(text('what is encoded', string)));
  return Uint8Array.from(escaped, char => char.charCodeAt(0));
}

export function textOf(bytes) {
  const pieces = [];
  for (let at = 0; at < bytes.length; ) {
    const length = sequence(bytes, at);
    pieces.push(length ? String.fromCodePoint(point(bytes, at, length)) : '\ufffd');
    at += length || 1;
  }
  return pieces.join('');
}

// How many bytes the character at this place has; 0 where there is none.
function sequence(bytes, at) {
  const first = bytes[at];
  if (first < 0x80) return 1;
  const length = first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3 : first >= 0xf0 && first < 0xf5 ? 4 : 0;
  for (let n = 1; n < length; n++) if ((bytes[at + n] & 0xc0) !== 0x80) return 0;
  const found = length && point(bytes, at, length);
  const least = [0, 0, 0x80, 0x800, 0x10000][length];
  return found < least || found > 0x10ffff || (found >= 0xd800 && found < 0xe000) ? 0 : length;
}

function point(bytes, at, length) {
  let found = length === 1 ? bytes[at] : bytes[at] & (0x7f >> length);
  for (let n = 1; n < length; n++) found = (found << 6) | (bytes[at + n] & 0x3f);
  return found;
}

function registration(plugin, hook) {
  known('a hook', HOOK, hook);
  text('`event` of a hook', hook.event);
  return { ...hook, name: text('`name` of a hook', hook.name ?? plugin), once: hook.once ?? false };
}

function answered(run, input, context) {
  try {
    const answer = run(inputOf(input), contextOf(context));
    if (answer instanceof Answer) return answer;
    if (answer instanceof Promise) throw new Error('`run` is async, and nothing can be waited for');
    throw new Error('`run` returned none of proceed(), block(reason) and modify(parts)');
  } catch (thrown) {
    // A string is what becomes the error.
    throw said(thrown);
  }
}

function inputOf({ toolInput: toolInputText, ...rest }) {
  let read;
  return {
    ...rest,
    toolInputText,
    toolOutput: rest.toolOutput ?? undefined,
    get toolInput() {
      return (read ??= object(`the input of \`${rest.toolName}\``, toolInputText));
    },
    get path() {
      const { file_path, filePath, path } = this.toolInput;
      return [file_path, filePath, path].find(one => typeof one === 'string');
    },
  };
}

function contextOf({ originalInput: originalInputText, extra: extraText, ...rest }) {
  let original, extra;
  return {
    ...Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, plain(value)])),
    originalInputText: originalInputText ?? undefined,
    extraText,
    get originalInput() {
      return maybe(originalInputText, () => (original ??= object('the original input', originalInputText)));
    },
    get extra() {
      return (extra ??= object('`extra`', extraText));
    },
  };
}

// What the engine's bindings hand over, as its types say: absent is undefined, and large numbers have no sign.
function plain(value) {
  return typeof value === 'number' ? value >>> 0 : (value ?? undefined);
}

function object(what, json) {
  const value = JSON.parse(json);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`${what} is no JSON object`);
  return value;
}

function maybe(value, make) {
  return value == null ? undefined : make();
}

// A string that the host takes: half a character, which JavaScript allows, would break the call off.
function text(what, value) {
  if (typeof value !== 'string') throw new Error(`${what} is no string`);
  return value.toWellFormed();
}

function known(what, keys, value) {
  const other = Object.keys(value).find(key => !keys.includes(key));
  if (other !== undefined) throw new Error(`${what} has no \`${other}\``);
}

function said(thrown) {
  try {
    return words(thrown).toWellFormed() || 'an error without a text';
  } catch {
    return 'something was thrown that has no text';
  }
}

function words(thrown) {
  if (typeof thrown === 'string') return thrown;
  // A refusal of the host's.
  if (thrown?.payload !== undefined) return JSON.stringify(thrown.payload);
  if (!(thrown instanceof Error)) return `thrown: ${JSON.stringify(thrown) ?? String(thrown)}`;
  // The name says something where the engine or a library chose it.
  return thrown.name === 'Error' ? thrown.message : `${thrown.name}: ${thrown.message}`;
}
