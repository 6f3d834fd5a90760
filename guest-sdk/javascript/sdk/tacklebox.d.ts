// What makes a plugin in JavaScript or TypeScript short. hooks.d.ts has the interfaces that a plugin may import beside it.
/// <reference path="./hooks.d.ts" />

type Raw = import('tacklebox:hooks/types@0.1.0').HookInput;
type RawContext = import('tacklebox:hooks/types@0.1.0').HookContext;

/** Whatever JSON can say. */
export type Json = null | boolean | number | string | Json[] | JsonObject;
export type JsonObject = { [key: string]: Json | undefined };

/** What happened. */
export type Input = Omit<Raw, 'toolInput'> & {
  /** The tool's arguments, or the event's payload. Read when first asked for. */
  readonly toolInput: JsonObject;
  /** The same as text, as it came. */
  readonly toolInputText: string;
  /** The path that the tool works on: the first string of `file_path`, `filePath` and `path`. */
  readonly path: string | undefined;
};

/** Where it happened. */
export type Context = Omit<RawContext, 'originalInput' | 'extra'> & {
  /** After a tool ran: its arguments as the model gave them. */
  readonly originalInput: JsonObject | undefined;
  readonly originalInputText: string | undefined;
  /** On tools with a command argument: the commands that the host sees in it, and whether it could read all of it. */
  readonly extra: JsonObject & { commands?: string[][]; parsed?: boolean };
  readonly extraText: string;
};

declare const made: unique symbol;
/** One of `proceed()`, `block(..)` and `modify(..)`. */
export type Answer = { readonly [made]: true };

/** No opinion. */
export function proceed(): Answer;

/** It must not happen, and why; the model reads it. */
export function block(reason: string): Answer;

/** It happens otherwise. Each event takes the parts that it can honour. */
export function modify(parts: {
  /** Merged into the tool's arguments; a string is taken as JSON that is written already. */
  input?: object | string;
  /** Replaces the tool's output, or the prompt. */
  output?: string;
  /** Text for the model. */
  context?: string;
  /** On PermissionRequest the answer; on PreToolUse deny blocks, ask and allow say what to do about a prompt. */
  permission?: import('tacklebox:hooks/types@0.1.0').Permission;
}): Answer;

/** A hook that the plugin wants. */
export type Hook = {
  /** The event's name as in settings: `PreToolUse`, `SessionStart`, ... */
  event: string;
  /** The plugin's name, where it is left out. */
  name?: string;
  matcher?: string;
  /** As `if` in settings: `bash(git *)`. */
  condition?: string;
  timeoutMs?: number;
  once?: boolean;
  /** What a failure of the plugin means on a gate: it blocks, unless this says `pass`. */
  onError?: import('tacklebox:hooks/types@0.1.0').Failure;
};

/**
 * A plugin: `export const callback = plugin({ .. })`. What `run` throws is the plugin's error, which is no answer: on a gate that
 * blocks.
 */
export function plugin(parts: {
  name: string;
  version: string;
  description?: string;
  hooks: Hook[];
  run: (input: Input, context: Context) => Answer;
}): typeof import('tacklebox:hooks/callback@0.1.0');

/** A string as UTF-8, for `state` and `process`. */
export function bytesOf(text: string): Uint8Array;

/** UTF-8 as a string; what is none is U+FFFD. */
export function textOf(bytes: Uint8Array): string;
