// The conformance plugin in C: does what a command says, as guest-sdk/conformance/README.md has it.
#include "sdk/tacklebox.h"

#include <stdlib.h>
#include <string.h>

static const char *const events[] = {
    "PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit",
    "SessionStart", "SessionEnd", "Stop", "TurnStart", "TurnEnd",
    "PreCompact", "PostCompact", "SubagentStart", "SubagentStop", "Notification",
};

void hook_describe(tb_info *info) {
  tb_describe(info, "conformance", "1.2.3", "does what it is told");
  for (size_t n = 0; n < sizeof events / sizeof *events; n++) {
    tb_hook *hook = tb_add_hook(info, events[n], "conformance");
    if (strcmp(events[n], "PermissionRequest") != 0) continue;
    tb_set(&hook->matcher, "bash|edit");
    tb_set(&hook->condition, "bash(git *)");
    hook->timeout_ms = (plugin_option_u32_t){true, 2500};
    hook->once = true;
    hook->on_error.is_some = true;
    hook->on_error.val = TACKLEBOX_HOOKS_TYPES_FAILURE_PASS;
  }
}

// What one call is about.
typedef struct {
  const tb_input *input;
  const tb_context *context;
  tb_json arguments, config, command;
  tb_answer *answer;
  tb_text *error;
} call;

static tb_text text_at(tb_json value) {
  tb_text text = {0};
  tb_string(value, &text);
  return text;
}

static tb_text text_of(const call *call, const char *key) { return text_at(tb_get(call->command, key)); }

static int64_t number_of(const call *call, const char *key) {
  int64_t number = 0;
  tb_integer(tb_get(call->command, key), &number);
  return number;
}

static bool failed(const call *call, const char *what, tb_text name) {
  tb_buffer text = {0};
  tb_add(&text, what);
  tb_add_text(&text, name);
  return tb_error(call->error, tb_written(&text));
}

static bool object(const call *call, const tb_buffer *json) {
  tb_modify(call->answer);
  tb_set_input(call->answer, tb_written(json));
  return true;
}

static bool modify(const call *call) {
  tb_modify(call->answer);
  tb_json input = tb_get(call->command, "input"), permission = tb_get(call->command, "permission");
  tb_text text;
  if (tb_kind_of(input) != TB_NOTHING) tb_set_input(call->answer, tb_raw(input));
  if (tb_string(tb_get(call->command, "inputText"), &text)) tb_set_input(call->answer, text);
  if (tb_string(tb_get(call->command, "output"), &text)) tb_set_output(call->answer, text);
  if (tb_string(tb_get(call->command, "context"), &text)) tb_set_context(call->answer, text);
  if (!tb_string(permission, &text)) return true;
  if (tb_is(text, "allow")) tb_set_permission(call->answer, TACKLEBOX_HOOKS_TYPES_PERMISSION_ALLOW);
  else if (tb_is(text, "ask")) tb_set_permission(call->answer, TACKLEBOX_HOOKS_TYPES_PERMISSION_ASK);
  else if (tb_is(text, "deny")) tb_set_permission(call->answer, TACKLEBOX_HOOKS_TYPES_PERMISSION_DENY);
  else return failed(call, "unknown permission: ", text);
  return true;
}

static bool repeat(const call *call) {
  tb_buffer text = {0};
  for (int64_t n = number_of(call, "times"); n > 0; n--) tb_add_text(&text, text_of(call, "text"));
  tb_modify(call->answer);
  tb_set_output(call->answer, tb_written(&text));
  return true;
}

static void add_optional(tb_buffer *out, plugin_option_string_t text) {
  if (text.is_some) tb_add_quoted(out, text.val);
  else tb_add(out, "null");
}

static bool add_part(tb_buffer *out, const call *call, tb_text part) {
  const tb_input *input = call->input;
  const tb_context *cx = call->context;
  if (tb_is(part, "event")) tb_add_quoted(out, input->event);
  else if (tb_is(part, "hook")) tb_add_quoted(out, input->hook);
  else if (tb_is(part, "tool")) tb_add_quoted(out, input->tool_name);
  else if (tb_is(part, "input")) tb_add_text(out, tb_raw(call->arguments));
  else if (tb_is(part, "output")) add_optional(out, input->tool_output);
  else if (tb_is(part, "config")) tb_add_text(out, tb_raw(call->config));
  else if (tb_is(part, "dispatch")) tb_add(out, cx->dispatch_id.len ? "true" : "false");
  else if (tb_is(part, "session")) tb_add_quoted(out, cx->session_id);
  else if (tb_is(part, "rootSession")) tb_add_quoted(out, cx->root_session_id);
  else if (tb_is(part, "turn")) tb_add_integer(out, cx->turn);
  else if (tb_is(part, "cwd")) add_optional(out, cx->cwd);
  else if (tb_is(part, "project")) add_optional(out, cx->project_dir);
  else if (tb_is(part, "agentId")) add_optional(out, cx->agent_id);
  else if (tb_is(part, "agentType")) add_optional(out, cx->agent_type);
  else if (tb_is(part, "parentAgentId")) add_optional(out, cx->parent_agent_id);
  else if (tb_is(part, "agentDepth")) tb_add_integer(out, cx->agent_depth);
  else if (tb_is(part, "toolUseId")) add_optional(out, cx->tool_use_id);
  else if (tb_is(part, "attempt")) {
    if (cx->attempt.is_some) tb_add_integer(out, cx->attempt.val);
    else tb_add(out, "null");
  } else if (tb_is(part, "recheck")) tb_add(out, cx->recheck ? "true" : "false");
  else if (tb_is(part, "originalInput")) tb_add_text(out, cx->original_input.is_some ? cx->original_input.val : tb_text_of("null"));
  else if (tb_is(part, "changedBy")) {
    tb_add(out, "[");
    for (size_t n = 0; n < cx->changed_by.len; n++) {
      if (n) tb_add(out, ",");
      tb_add_quoted(out, cx->changed_by.ptr[n]);
    }
    tb_add(out, "]");
  } else if (tb_is(part, "extra")) tb_add_text(out, cx->extra);
  else return false;
  return true;
}

static bool echo(const call *call) {
  tb_buffer out = {0};
  tb_json parts = tb_get(call->command, "parts"), one;
  const char *mark = "{";
  while (tb_next(&parts, NULL, &one)) {
    tb_text part = text_at(one);
    tb_add(&out, mark);
    tb_add_quoted(&out, part);
    tb_add(&out, ":");
    if (!add_part(&out, call, part)) return failed(call, "unknown part: ", part);
    mark = ",";
  }
  tb_add(&out, *mark == '{' ? "{}" : "}");
  return object(call, &out);
}

static bool text(const call *call) {
  tb_text of = text_of(call, "of"), out = {0};
  plugin_option_string_t optional = {0};
  if (tb_is(of, "input")) out = call->input->tool_input;
  else if (tb_is(of, "extra")) out = call->context->extra;
  else if (tb_is(of, "output")) optional = call->input->tool_output;
  else if (tb_is(of, "originalInput")) optional = call->context->original_input;
  else return failed(call, "unknown text: ", of);
  tb_modify(call->answer);
  tb_set_output(call->answer, optional.is_some ? optional.val : out);
  return true;
}

static bool get(const call *call) {
  tb_json path = tb_get(call->command, "path"), step, value = call->arguments;
  while (tb_next(&path, NULL, &step)) {
    int64_t n;
    tb_text key;
    if (tb_string(step, &key)) value = tb_get_key(value, key);
    else if (tb_integer(step, &n)) value = tb_at(value, (size_t)n);
  }
  tb_buffer out = {0};
  tb_add(&out, "{\"found\":");
  tb_add_text(&out, tb_kind_of(value) == TB_NOTHING ? tb_text_of("null") : tb_raw(value));
  tb_add(&out, "}");
  return object(call, &out);
}

static bool write_log(const call *call) {
  static const char *const levels[] = {"trace", "debug", "info", "warn", "error"};
  tb_json lines = tb_get(call->command, "lines"), line;
  while (tb_next(&lines, NULL, &line)) {
    tb_text level = text_at(tb_at(line, 0));
    for (uint8_t n = 0; n < 5; n++) {
      if (tb_is(level, levels[n])) tb_log(n, text_at(tb_at(line, 1)));
    }
  }
  return tb_continue(call->answer);
}

static void add_refusal(tb_buffer *out, tacklebox_hooks_state_error_t error) {
  bool large = error.tag == TACKLEBOX_HOOKS_STATE_ERROR_TOO_LARGE;
  tb_add(out, large ? "{\"tooLarge\":" : "{\"full\":");
  tb_add_integer(out, large ? error.val.too_large : error.val.full);
  tb_add(out, "}");
}

static void add_set(tb_buffer *out, tb_text key, plugin_list_u8_t value) {
  tacklebox_hooks_state_error_t error;
  if (tacklebox_hooks_state_set(&key, &value, &error)) tb_add(out, "\"ok\"");
  else add_refusal(out, error);
}

static plugin_list_u8_t bytes_of(tb_json numbers) {
  tb_buffer bytes = {0};
  tb_json one;
  int64_t number;
  while (tb_next(&numbers, NULL, &one)) {
    uint8_t byte = tb_integer(one, &number) ? (uint8_t)number : 0;
    tb_add_text(&bytes, (tb_text){&byte, 1});
  }
  return (plugin_list_u8_t){bytes.ptr, bytes.len};
}

static void add_bytes(tb_buffer *out, plugin_list_u8_t bytes) {
  tb_add(out, "[");
  for (size_t n = 0; n < bytes.len; n++) {
    if (n) tb_add(out, ",");
    tb_add_integer(out, bytes.ptr[n]);
  }
  tb_add(out, "]");
}

static void add_sum(tb_buffer *out, tb_text key, tb_text delta) {
  tacklebox_hooks_state_error_t error;
  int64_t number = 0, sum;
  tb_integer((tb_json){delta.ptr, delta.len}, &number);
  if (!tacklebox_hooks_state_add(&key, number, &sum, &error)) {
    add_refusal(out, error);
    return;
  }
  tb_add(out, "\"");
  tb_add_integer(out, sum);
  tb_add(out, "\"");
}

static bool add_step(tb_buffer *out, tb_json step) {
  tb_text what = text_at(tb_at(step, 0)), key = text_at(tb_at(step, 1)), value = text_at(tb_at(step, 2));
  plugin_list_u8_t bytes;
  if (tb_is(what, "get")) {
    if (tacklebox_hooks_state_get(&key, &bytes)) tb_add_quoted(out, (tb_text){bytes.ptr, bytes.len});
    else tb_add(out, "null");
  } else if (tb_is(what, "getBytes")) {
    if (tacklebox_hooks_state_get(&key, &bytes)) add_bytes(out, bytes);
    else tb_add(out, "null");
  } else if (tb_is(what, "set")) add_set(out, key, (plugin_list_u8_t){value.ptr, value.len});
  else if (tb_is(what, "setBytes")) add_set(out, key, bytes_of(tb_at(step, 2)));
  else if (tb_is(what, "remove")) {
    tacklebox_hooks_state_remove(&key);
    tb_add(out, "\"ok\"");
  } else if (tb_is(what, "add")) add_sum(out, key, value);
  else return false;
  return true;
}

static bool state(const call *call) {
  tb_buffer out = {0};
  tb_json steps = tb_get(call->command, "steps"), step;
  tb_add(&out, "{\"results\":[");
  for (bool first = true; tb_next(&steps, NULL, &step); first = false) {
    if (!first) tb_add(&out, ",");
    if (!add_step(&out, step)) return failed(call, "unknown step: ", text_at(tb_at(step, 0)));
  }
  tb_add(&out, "]}");
  return object(call, &out);
}

static bool fill(const call *call) {
  size_t size = (size_t)number_of(call, "bytes");
  uint8_t *value = malloc(size + 1);
  memset(value, 'x', size);
  int64_t stored = 0, count = number_of(call, "count");
  tb_buffer refusal = {0};
  for (tacklebox_hooks_state_error_t error; stored < count; stored++) {
    tb_buffer key = {0};
    tb_add_text(&key, text_of(call, "prefix"));
    tb_add_integer(&key, stored);
    tb_text name = tb_written(&key);
    plugin_list_u8_t bytes = {value, size};
    if (tacklebox_hooks_state_set(&name, &bytes, &error)) continue;
    add_refusal(&refusal, error);
    break;
  }
  tb_buffer out = {0};
  tb_add(&out, "{\"stored\":");
  tb_add_integer(&out, stored);
  tb_add(&out, ",\"error\":");
  tb_add_text(&out, refusal.len ? tb_written(&refusal) : tb_text_of("null"));
  tb_add(&out, "}");
  return object(call, &out);
}

static void add_failure(tb_buffer *out, tacklebox_hooks_process_error_t error) {
  switch (error.tag) {
    case TACKLEBOX_HOOKS_PROCESS_ERROR_DENIED: tb_add(out, "\"denied\""); break;
    case TACKLEBOX_HOOKS_PROCESS_ERROR_NOT_FOUND: tb_add(out, "\"notFound\""); break;
    case TACKLEBOX_HOOKS_PROCESS_ERROR_TIMED_OUT: tb_add(out, "\"timedOut\""); break;
    default:
      tb_add(out, "{\"failed\":");
      tb_add_quoted(out, error.val.failed);
      tb_add(out, "}");
  }
}

static void add_output(tb_buffer *out, tacklebox_hooks_process_output_t output) {
  tb_add(out, "{\"exitCode\":");
  if (output.exit_code.is_some) tb_add_integer(out, output.exit_code.val);
  else tb_add(out, "null");
  tb_add(out, ",\"stdout\":");
  tb_add_quoted(out, (tb_text){output.stdout_.ptr, output.stdout_.len});
  tb_add(out, ",\"stderr\":");
  tb_add_quoted(out, (tb_text){output.stderr_.ptr, output.stderr_.len});
  tb_add(out, "}");
}

static bool process(const call *call) {
  tb_text program = text_of(call, "program"), input = text_of(call, "stdin");
  tb_json args = tb_get(call->command, "args"), one;
  plugin_list_string_t list = {0};
  while (tb_next(&args, NULL, &one)) {
    list.ptr = realloc(list.ptr, (list.len + 1) * sizeof *list.ptr);
    list.ptr[list.len++] = text_at(one);
  }
  plugin_list_u8_t bytes = {input.ptr, input.len};
  tacklebox_hooks_process_output_t output;
  tacklebox_hooks_process_error_t error;
  tb_buffer out = {0};
  tb_add(&out, tacklebox_hooks_process_available(&program) ? "{\"available\":true,\"result\":" : "{\"available\":false,\"result\":");
  if (tacklebox_hooks_process_run(&program, &list, &bytes, &output, &error)) add_output(&out, output);
  else add_failure(&out, error);
  tb_add(&out, "}");
  return object(call, &out);
}

static void spin(void) {
  for (volatile bool on = true; on;) {}
}

bool hook_run(const tb_input *input, const tb_context *context, tb_answer *answer, tb_text *error) {
  call call = {input, context, tb_input_of(input), tb_config(), {0}, answer, error};
  call.command = tb_kind_of(tb_get(call.config, "do")) == TB_NOTHING ? call.arguments : call.config;
  tb_text word = text_of(&call, "do");
  if (tb_is(word, "continue")) return tb_continue(answer);
  if (tb_is(word, "block")) return tb_block(answer, text_of(&call, "reason"));
  if (tb_is(word, "modify")) return modify(&call);
  if (tb_is(word, "error")) return tb_error(error, text_of(&call, "text"));
  if (tb_is(word, "trap")) abort();
  if (tb_is(word, "spin")) spin();
  if (tb_is(word, "repeat")) return repeat(&call);
  if (tb_is(word, "echo")) return echo(&call);
  if (tb_is(word, "text")) return text(&call);
  if (tb_is(word, "get")) return get(&call);
  if (tb_is(word, "log")) return write_log(&call);
  if (tb_is(word, "state")) return state(&call);
  if (tb_is(word, "fill")) return fill(&call);
  if (tb_is(word, "process")) return process(&call);
  return failed(&call, "unknown command: ", word);
}
