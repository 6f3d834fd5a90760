// What the host calls. `plugin build` begins here; exports.mjs gives the functions their names in the interface.

import { describe as described, run as answered } from '../hook';
import { Answer, Context, Info, Input, OnError } from './tacklebox';
import { area, forget, none, put, putIf, release } from './abi';

// Offsets and sizes are those of hooks.wit by the rules of the canonical ABI.

export function describe(): usize {
  return putInfo(described());
}

export function run(call: usize): usize {
  const input = new Input(call);
  const context = new Context(call + 44);
  release(call);
  return putAnswer(answered(input, context));
}

// Called when the answer was read.
export function after_run(_: usize): void {
  forget();
}

export { cabi_realloc } from './abi';

function putInfo(info: Info): usize {
  const to = area(32);
  put(to, info.name);
  put(to + 8, info.version);
  put(to + 16, info.description);
  const count = info.hooks.length;
  const hooks = area(52 * count);
  for (let i = 0; i < count; i++) {
    const hook = info.hooks[i];
    const at = hooks + 52 * i;
    put(at, hook.event);
    put(at + 8, hook.name);
    putIf(at + 16, hook.matcher);
    putIf(at + 28, hook.condition);
    store<u8>(at, u8(hook.timeoutMs != 0), 40);
    store<u32>(at, hook.timeoutMs, 44);
    store<u8>(at, u8(hook.once), 48);
    store<u8>(at, u8(hook.onError != OnError.Default), 49);
    store<u8>(at, u8(hook.onError == OnError.Pass), 50);
  }
  store<usize>(to, hooks, 24);
  store<i32>(to, count, 28);
  return to;
}

function putAnswer(answer: Answer): usize {
  const to = area(48);
  if (answer.failure != null) {
    store<u8>(to, 1);
    put(to + 4, answer.failure!);
  } else if (answer.reason != null) {
    store<u8>(to, 1, 4);
    put(to + 8, answer.reason!);
  } else if (answer.changes) {
    store<u8>(to, 2, 4);
    putIf(to + 8, answer.newInput);
    putIf(to + 20, answer.newOutput);
    putIf(to + 32, answer.newContext);
    store<u8>(to, u8(answer.newPermission != none), 44);
    store<u8>(to, u8(answer.newPermission), 45);
  }
  return to;
}
