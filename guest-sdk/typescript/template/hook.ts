// Keeps files that a tool generates from being written by hand.
import { block, plugin, proceed } from './sdk/tacklebox.js';
import { get as config } from 'tacklebox:hooks/config@0.1.0';

/** What settings may say in `config`. */
type Config = { endings?: string[] };

export const callback = plugin({
  name: 'plugin-name',
  version: '0.1.0',
  description: 'Keeps files that a tool generates from being written by hand.',
  hooks: [{ event: 'PreToolUse', matcher: 'write|edit' }],

  run(input) {
    const { endings = ['.lock'] }: Config = JSON.parse(config());
    if (endings.some(ending => input.path?.endsWith(ending))) return block(`\`${input.path}\` is written by its tool alone`);
    return proceed();
  },
});
