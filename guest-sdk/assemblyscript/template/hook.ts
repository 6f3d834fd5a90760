// Keeps files that a tool generates from being written by hand.
import { Answer, Context, Info, Input, block, config, fail, proceed } from './sdk/tacklebox';

export function describe(): Info {
  const info = new Info('plugin-name', '0.1.0', 'Keeps files that a tool generates from being written by hand.');
  info.hook('PreToolUse').matcher = 'write|edit';
  return info;
}

export function run(input: Input, _: Context): Answer {
  // What settings may say in `config` is `endings`. A guard does not overlook a mistake there: an error on a gate blocks.
  const settings = config();
  const unknown = settings.keyBeside(['endings']);
  if (unknown != null) return fail(`the config has an unknown key: ${unknown}`);
  const endings = settings.get('endings').exists ? settings.get('endings').texts : ['.lock'];
  if (endings == null) return fail('the config: `endings` is no list of texts');

  const path = input.path;
  if (path == null) return proceed();
  for (let i = 0; i < endings.length; i++) {
    if (path.endsWith(endings[i])) return block(`\`${path}\` is written by its tool alone`);
  }
  return proceed();
}
