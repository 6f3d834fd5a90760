// The helpers of tacklebox.hpp.
#include "tacklebox.hpp"

#include <cstdarg>
#include <cstdlib>

namespace tacklebox {

std::optional<std::string_view> view(const plugin_option_string_t &text) {
  if (!text.is_some) return std::nullopt;
  return view(text.val);
}

// ---- JSON

Json Json::read(std::string_view view) { return Json(tb_read(tacklebox::text(view))); }

Json::Kind Json::kind() const { return static_cast<Kind>(tb_kind_of(value_)); }

Json Json::operator[](std::string_view key) const { return Json(tb_get_key(value_, tacklebox::text(key))); }

Json Json::operator[](size_t index) const { return Json(tb_at(value_, index)); }

std::optional<std::string_view> Json::string() const {
  tb_text text;
  if (!tb_string(value_, &text)) return std::nullopt;
  return view(text);
}

std::optional<int64_t> Json::integer() const {
  int64_t number;
  if (!tb_integer(value_, &number)) return std::nullopt;
  return number;
}

bool Json::is_true() const { return tb_is_true(value_); }

std::string_view Json::raw() const { return view(tb_raw(value_)); }

Json::Members Json::members() const { return Members(value_); }

Json::Members::Iterator &Json::Members::Iterator::operator++() {
  tb_json key = {}, value = {};
  on_ = tb_next(&rest_, &key, &value);
  now_ = {Json(key), Json(value)};
  return *this;
}

std::string quoted(std::string_view view) {
  tb_buffer buffer = {};
  tb_add_quoted(&buffer, text(view));
  return std::string(tacklebox::view(tb_written(&buffer)));
}

// ---- what came

std::optional<std::string_view> Input::path() const {
  for (const char *key : {"file_path", "filePath", "path"}) {
    if (auto path = json[key].string()) return path;
  }
  return std::nullopt;
}

Json config() {
  tb_text text;
  tacklebox_hooks_config_get(&text);
  return Json::read(view(text));
}

static Input input_of(const tb_input &input) {
  auto text = view(input.tool_input);
  return {view(input.event), view(input.hook), view(input.tool_name), Json::read(text), text, view(input.tool_output)};
}

static Context context_of(const tb_context &cx) {
  Context context = {
      .dispatch = view(cx.dispatch_id),
      .session = view(cx.session_id),
      .root_session = view(cx.root_session_id),
      .turn = cx.turn,
      .cwd = view(cx.cwd),
      .project = view(cx.project_dir),
      .agent_id = view(cx.agent_id),
      .agent_type = view(cx.agent_type),
      .parent_agent_id = view(cx.parent_agent_id),
      .agent_depth = cx.agent_depth,
      .tool_use_id = view(cx.tool_use_id),
      .attempt = cx.attempt.is_some ? std::optional(cx.attempt.val) : std::nullopt,
      .recheck = cx.recheck,
      .original_input = view(cx.original_input),
      .changed_by = {},
      .extra = view(cx.extra),
  };
  for (size_t n = 0; n < cx.changed_by.len; n++) context.changed_by.push_back(view(cx.changed_by.ptr[n]));
  return context;
}

// ---- what goes out

void log(Level level, std::string_view message) { tb_log(static_cast<uint8_t>(level), text(message)); }

static void set(plugin_option_string_t &field, const std::optional<std::string> &text) {
  if (text) tb_set(&field, text->c_str());
}

static void add(tb_info *info, const Hook &hook) {
  tb_hook *added = tb_add_hook(info, hook.event.c_str(), hook.name.c_str());
  set(added->matcher, hook.matcher);
  set(added->condition, hook.condition);
  if (hook.timeout_ms) added->timeout_ms = {true, *hook.timeout_ms};
  added->once = hook.once;
  if (hook.on_error) {
    added->on_error.is_some = true;
    added->on_error.val = static_cast<uint8_t>(*hook.on_error);
  }
}

static bool modify(tb_answer *answer, const Modify &changes) {
  tb_modify(answer);
  if (changes.input) tb_set_input(answer, text(*changes.input));
  if (changes.output) tb_set_output(answer, text(*changes.output));
  if (changes.context) tb_set_context(answer, text(*changes.context));
  if (changes.permission) tb_set_permission(answer, static_cast<uint8_t>(*changes.permission));
  return true;
}

}  // namespace tacklebox

// ---- what the helpers in C call

void hook_describe(tb_info *info) {
  tacklebox::Info said = tacklebox::describe();
  tb_describe(info, said.name.c_str(), said.version.c_str(), said.description.c_str());
  for (const auto &hook : said.hooks) tacklebox::add(info, hook);
}

bool hook_run(const tb_input *input, const tb_context *context, tb_answer *answer, tb_text *error) {
  using namespace tacklebox;
  const Answer given = run(input_of(*input), context_of(*context));
  if (const auto *blocked = std::get_if<Block>(&given)) return tb_block(answer, text(blocked->reason));
  if (const auto *changes = std::get_if<Modify>(&given)) return modify(answer, *changes);
  if (std::holds_alternative<Continue>(given)) return tb_continue(answer);
  const auto *failed = std::get_if<Error>(&given);
  return tb_error(error, text(failed ? failed->text : Error().text));
}

// Where the standard library would throw. Its own function prints, for which it brings a `printf` and WASI along.
[[noreturn]] void std::__libcpp_verbose_abort(const char *format, ...) noexcept {
  std::string_view said = format;
  if (size_t at = said.find("%s"); at == said.npos) {
    tacklebox::log(tacklebox::Level::error, said);
  } else {
    va_list rest;
    va_start(rest, format);
    std::string whole = std::string(said.substr(0, at)) + va_arg(rest, const char *) + std::string(said.substr(at + 2));
    va_end(rest);
    tacklebox::log(tacklebox::Level::error, whole);
  }
  std::abort();
}
