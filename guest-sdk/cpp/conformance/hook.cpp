// The conformance plugin in C++: does what a command says, as guest-sdk/conformance/README.md has it.
#include "sdk/tacklebox.hpp"

#include <charconv>

using namespace tacklebox;

static constexpr const char *events[] = {
    "PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit",
    "SessionStart", "SessionEnd", "Stop", "TurnStart", "TurnEnd",
    "PreCompact", "PostCompact", "SubagentStart", "SubagentStop", "Notification",
};

Info tacklebox::describe() {
  Info info = {.name = "conformance", .version = "1.2.3", .description = "does what it is told", .hooks = {}};
  for (std::string_view event : events) {
    Hook hook = {.event = std::string(event), .name = "conformance"};
    if (event == "PermissionRequest") {
      hook.matcher = "bash|edit";
      hook.condition = "bash(git *)";
      hook.timeout_ms = 2500;
      hook.once = true;
      hook.on_error = Failure::pass;
    }
    info.hooks.push_back(hook);
  }
  return info;
}

// What one call is about.
struct Call {
  const Input &input;
  const Context &context;
  Json config, command;

  std::string_view text(std::string_view key) const { return command[key].string().value_or(""); }
  int64_t number(std::string_view key) const { return command[key].integer().value_or(0); }
};

static std::string text_of(Json value) { return std::string(value.string().value_or("")); }

static Error failed(std::string_view what, std::string_view name) { return {std::string(what) + std::string(name)}; }

static Modify object(std::string json) { return {.input = std::move(json)}; }

static std::optional<std::string> text_if(Json value) {
  if (!value) return std::nullopt;
  return text_of(value);
}

static Answer modify(const Call &call) {
  Modify answer = {.output = text_if(call.command["output"]), .context = text_if(call.command["context"])};
  if (Json input = call.command["input"]) answer.input = input.raw();
  if (Json input = call.command["inputText"]) answer.input = text_of(input);
  auto permission = call.command["permission"].string();
  if (!permission) return answer;
  if (*permission == "allow") answer.permission = Permission::allow;
  else if (*permission == "ask") answer.permission = Permission::ask;
  else if (*permission == "deny") answer.permission = Permission::deny;
  else return failed("unknown permission: ", *permission);
  return answer;
}

static Answer repeat(const Call &call) {
  std::string out;
  for (int64_t n = call.number("times"); n > 0; n--) out += call.text("text");
  return Modify{.output = out};
}

static std::string optional(std::optional<std::string_view> text) { return text ? quoted(*text) : "null"; }

static std::string boolean(bool value) { return value ? "true" : "false"; }

static std::string list(const std::vector<std::string> &values) {
  std::string out = "[";
  for (const auto &value : values) {
    if (out.size() > 1) out += ",";
    out += value;
  }
  return out + "]";
}

static std::optional<std::string> part(const Call &call, std::string_view name) {
  const auto &[event, hook, tool, json, text, output] = call.input;
  const Context &cx = call.context;
  if (name == "event") return quoted(event);
  if (name == "hook") return quoted(hook);
  if (name == "tool") return quoted(tool);
  if (name == "input") return std::string(json.raw());
  if (name == "output") return optional(output);
  if (name == "config") return std::string(call.config.raw());
  if (name == "dispatch") return boolean(!cx.dispatch.empty());
  if (name == "session") return quoted(cx.session);
  if (name == "rootSession") return quoted(cx.root_session);
  if (name == "turn") return std::to_string(cx.turn);
  if (name == "cwd") return optional(cx.cwd);
  if (name == "project") return optional(cx.project);
  if (name == "agentId") return optional(cx.agent_id);
  if (name == "agentType") return optional(cx.agent_type);
  if (name == "parentAgentId") return optional(cx.parent_agent_id);
  if (name == "agentDepth") return std::to_string(cx.agent_depth);
  if (name == "toolUseId") return optional(cx.tool_use_id);
  if (name == "attempt") return cx.attempt ? std::to_string(*cx.attempt) : "null";
  if (name == "recheck") return boolean(cx.recheck);
  if (name == "originalInput") return std::string(cx.original_input.value_or("null"));
  if (name == "extra") return std::string(cx.extra);
  if (name != "changedBy") return std::nullopt;
  std::vector<std::string> names;
  for (auto one : cx.changed_by) names.push_back(quoted(one));
  return list(names);
}

static Answer echo(const Call &call) {
  std::string out = "{";
  for (auto [_, name] : call.command["parts"].members()) {
    auto value = part(call, text_of(name));
    if (!value) return failed("unknown part: ", text_of(name));
    if (out.size() > 1) out += ",";
    out += quoted(text_of(name)) + ":" + *value;
  }
  return object(out + "}");
}

static Answer text(const Call &call) {
  auto of = call.text("of");
  std::optional<std::string_view> text;
  if (of == "input") text = call.input.text;
  else if (of == "output") text = call.input.output;
  else if (of == "extra") text = call.context.extra;
  else if (of == "originalInput") text = call.context.original_input;
  else return failed("unknown text: ", of);
  return Modify{.output = std::string(text.value_or(""))};
}

static Answer get(const Call &call) {
  Json value = call.input.json;
  for (auto [_, step] : call.command["path"].members()) {
    if (auto key = step.string()) value = value[*key];
    else value = value[static_cast<size_t>(step.integer().value_or(0))];
  }
  return object("{\"found\":" + std::string(value ? value.raw() : "null") + "}");
}

static Answer write_log(const Call &call) {
  static constexpr const char *levels[] = {"trace", "debug", "info", "warn", "error"};
  for (auto [_, line] : call.command["lines"].members()) {
    for (uint8_t n = 0; n < 5; n++) {
      if (text_of(line[0]) == levels[n]) log(static_cast<Level>(n), text_of(line[1]));
    }
  }
  return Continue{};
}

static std::string refusal(const tacklebox_hooks_state_error_t &error) {
  if (error.tag == TACKLEBOX_HOOKS_STATE_ERROR_TOO_LARGE) return "{\"tooLarge\":" + std::to_string(error.val.too_large) + "}";
  return "{\"full\":" + std::to_string(error.val.full) + "}";
}

// Nothing, or the refusal.
static std::optional<std::string> set(std::string_view key, std::string_view value) {
  tb_text name = tacklebox::text(key), bytes = tacklebox::text(value);
  plugin_list_u8_t list = {bytes.ptr, bytes.len};
  tacklebox_hooks_state_error_t error;
  if (tacklebox_hooks_state_set(&name, &list, &error)) return std::nullopt;
  return refusal(error);
}

static std::optional<std::string_view> get(std::string_view key) {
  tb_text name = tacklebox::text(key);
  plugin_list_u8_t bytes;
  if (!tacklebox_hooks_state_get(&name, &bytes)) return std::nullopt;
  return view(tb_text{bytes.ptr, bytes.len});
}

static std::string bytes_at(std::string_view key) {
  auto value = get(key);
  if (!value) return "null";
  std::vector<std::string> numbers;
  for (unsigned char byte : *value) numbers.push_back(std::to_string(byte));
  return list(numbers);
}

static std::string bytes_of(Json numbers) {
  std::string bytes;
  for (auto [_, number] : numbers.members()) bytes += static_cast<char>(number.integer().value_or(0));
  return bytes;
}

static std::string add(std::string_view key, std::string_view delta) {
  int64_t number = 0, sum;
  std::from_chars(delta.data(), delta.data() + delta.size(), number);
  tb_text name = tacklebox::text(key);
  tacklebox_hooks_state_error_t error;
  if (!tacklebox_hooks_state_add(&name, number, &sum, &error)) return refusal(error);
  return quoted(std::to_string(sum));
}

static std::optional<std::string> state_step(Json step) {
  std::string what = text_of(step[0]), key = text_of(step[1]);
  if (what == "get") return optional(get(key));
  if (what == "getBytes") return bytes_at(key);
  if (what == "set") return set(key, text_of(step[2])).value_or("\"ok\"");
  if (what == "setBytes") return set(key, bytes_of(step[2])).value_or("\"ok\"");
  if (what == "add") return add(key, text_of(step[2]));
  if (what != "remove") return std::nullopt;
  tb_text name = tacklebox::text(key);
  tacklebox_hooks_state_remove(&name);
  return "\"ok\"";
}

static Answer state(const Call &call) {
  std::vector<std::string> results;
  for (auto [_, step] : call.command["steps"].members()) {
    auto result = state_step(step);
    if (!result) return failed("unknown step: ", text_of(step[0]));
    results.push_back(*result);
  }
  return object("{\"results\":" + list(results) + "}");
}

static Answer fill(const Call &call) {
  std::string value(static_cast<size_t>(call.number("bytes")), 'x'), prefix(call.text("prefix"));
  std::optional<std::string> refused;
  int64_t stored = 0;
  for (; stored < call.number("count"); stored++) {
    refused = set(prefix + std::to_string(stored), value);
    if (refused) break;
  }
  return object("{\"stored\":" + std::to_string(stored) + ",\"error\":" + refused.value_or("null") + "}");
}

static std::string failure(const tacklebox_hooks_process_error_t &error) {
  switch (error.tag) {
    case TACKLEBOX_HOOKS_PROCESS_ERROR_DENIED: return "\"denied\"";
    case TACKLEBOX_HOOKS_PROCESS_ERROR_NOT_FOUND: return "\"notFound\"";
    case TACKLEBOX_HOOKS_PROCESS_ERROR_TIMED_OUT: return "\"timedOut\"";
    default: return "{\"failed\":" + quoted(view(error.val.failed)) + "}";
  }
}

static std::string outcome(const tacklebox_hooks_process_output_t &output) {
  std::string code = output.exit_code.is_some ? std::to_string(output.exit_code.val) : "null";
  std::string printed = quoted(view(tb_text{output.stdout_.ptr, output.stdout_.len}));
  return "{\"exitCode\":" + code + ",\"stdout\":" + printed +
         ",\"stderr\":" + quoted(view(tb_text{output.stderr_.ptr, output.stderr_.len})) + "}";
}

static Answer process(const Call &call) {
  tb_text program = tacklebox::text(call.text("program")), input = tacklebox::text(call.text("stdin"));
  std::vector<tb_text> args;
  for (auto [_, arg] : call.command["args"].members()) args.push_back(tacklebox::text(arg.string().value_or("")));
  plugin_list_string_t words = {args.data(), args.size()};
  plugin_list_u8_t bytes = {input.ptr, input.len};
  std::string available = boolean(tacklebox_hooks_process_available(&program));
  tacklebox_hooks_process_output_t output;
  tacklebox_hooks_process_error_t error;
  bool ran = tacklebox_hooks_process_run(&program, &words, &bytes, &output, &error);
  return object("{\"available\":" + available + ",\"result\":" + (ran ? outcome(output) : failure(error)) + "}");
}

[[noreturn]] static void spin() {
  for (volatile bool on = true; on;) {}
  std::abort();
}

Answer tacklebox::run(const Input &input, const Context &context) {
  Call call = {input, context, config(), input.json};
  if (call.config["do"]) call.command = call.config;
  auto word = call.text("do");
  if (word == "continue") return Continue{};
  if (word == "block") return Block{std::string(call.text("reason"))};
  if (word == "modify") return modify(call);
  if (word == "error") return Error{std::string(call.text("text"))};
  if (word == "trap") return Error{std::string("as I was told").substr(100)};
  if (word == "spin") spin();
  if (word == "repeat") return repeat(call);
  if (word == "echo") return echo(call);
  if (word == "text") return text(call);
  if (word == "get") return get(call);
  if (word == "log") return write_log(call);
  if (word == "state") return state(call);
  if (word == "fill") return fill(call);
  if (word == "process") return process(call);
  return failed("unknown command: ", word);
}
