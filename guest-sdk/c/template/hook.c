// Keeps files that a tool generates from being written by hand.
#include "sdk/tacklebox.h"

void hook_describe(tb_info *info) {
  tb_describe(info, "plugin-name", "0.1.0", "Keeps files that a tool generates from being written by hand.");
  tb_hook *hook = tb_add_hook(info, "PreToolUse", "plugin-name");
  tb_set(&hook->matcher, "write|edit");
}

// Whether the path has one of the endings of the config; without a config, `.lock`.
static bool is_generated(tb_text path) {
  tb_json endings = tb_get(tb_config(), "endings"), one;
  tb_text ending;
  if (tb_kind_of(endings) != TB_LIST) return tb_ends_with(path, tb_text_of(".lock"));
  while (tb_next(&endings, NULL, &one)) {
    if (tb_string(one, &ending) && tb_ends_with(path, ending)) return true;
  }
  return false;
}

bool hook_run(const tb_input *input, const tb_context *context, tb_answer *answer, tb_text *error) {
  (void)context, (void)error;
  tb_text path;
  if (!tb_path(input, &path) || !is_generated(path)) return tb_continue(answer);
  tb_buffer reason = {0};
  tb_add(&reason, "`");
  tb_add_text(&reason, path);
  tb_add(&reason, "` is written by its tool alone");
  return tb_block(answer, tb_written(&reason));
}
