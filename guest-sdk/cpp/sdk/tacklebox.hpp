// What makes a plugin in C++ short: what came, JSON by path, and the three answers. It stands on the helpers in C.
//
// A plugin defines `tacklebox::describe` and `tacklebox::run`. An instance lives for one call: what came stays until its end, so a
// view of it is enough, and nothing has to be freed.
#ifndef TACKLEBOX_HPP
#define TACKLEBOX_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tacklebox.h"

namespace tacklebox {

// ---- texts, between C++ and the interface

inline std::string_view view(tb_text text) { return {reinterpret_cast<const char *>(text.ptr), text.len}; }
inline tb_text text(std::string_view view) {
  return {reinterpret_cast<uint8_t *>(const_cast<char *>(view.data())), view.size()};
}
std::optional<std::string_view> view(const plugin_option_string_t &text);

// ---- JSON: a value is the piece of text that it stands in; nothing is built

class Json {
 public:
  enum class Kind { nothing, null, boolean, number, string, list, object };
  struct Member;
  class Members;

  // Nothing.
  Json() = default;
  // The value that a text is. The host hands over valid JSON.
  static Json read(std::string_view text);

  Kind kind() const;
  // Whether there is a value, which may be `null`.
  explicit operator bool() const { return value_.len > 0; }
  // The value under a key; nothing where there is none.
  Json operator[](std::string_view key) const;
  // The element of a list, from 0; nothing where there is none.
  Json operator[](size_t index) const;
  // A string's characters.
  std::optional<std::string_view> string() const;
  // A whole number of 64 bits.
  std::optional<int64_t> integer() const;
  bool is_true() const;
  // The piece of text, to be copied as it is.
  std::string_view raw() const;
  // Those of a list or an object, in order: `for (auto [key, value] : json.members())`. In a list, keys are nothing.
  Members members() const;

 private:
  explicit Json(tb_json value) : value_(value) {}
  tb_json value_ = {};
};

struct Json::Member {
  Json key, value;
};

class Json::Members {
 public:
  struct End {};
  class Iterator {
   public:
    explicit Iterator(tb_json rest) : rest_(rest) { ++*this; }
    const Member &operator*() const { return now_; }
    Iterator &operator++();
    bool operator!=(End) const { return on_; }

   private:
    tb_json rest_;
    Member now_;
    bool on_ = false;
  };

  explicit Members(tb_json value) : value_(value) {}
  Iterator begin() const { return Iterator(value_); }
  End end() const { return {}; }

 private:
  tb_json value_;
};

// A text as a JSON string, with quotes and escapes.
std::string quoted(std::string_view text);

// ---- what came

struct Input {
  std::string_view event;
  // The name this hook is registered under.
  std::string_view hook;
  // The tool's name; on an event without a tool, the event's.
  std::string_view tool;
  // An object: the tool's arguments, or the event's payload.
  Json json;
  // Its text, as it came.
  std::string_view text;
  // What the tool printed, or why it failed, where the event has it.
  std::optional<std::string_view> output;

  // The path that a tool works on: the first string of `file_path`, `filePath` and `path`.
  std::optional<std::string_view> path() const;
};

struct Context {
  // Unique for this dispatch; all hooks of one event see the same.
  std::string_view dispatch;
  std::string_view session, root_session;
  uint32_t turn;
  std::optional<std::string_view> cwd, project, agent_id, agent_type, parent_agent_id;
  // 0 in the main agent, 1 in its sub-agents, and so on.
  uint32_t agent_depth;
  std::optional<std::string_view> tool_use_id;
  // Stop: 1, 2, .. within one turn.
  std::optional<uint32_t> attempt;
  // This input is another hook's rewrite; a block counts, a rewrite does not.
  bool recheck;
  // After a tool ran: the text of its arguments as the model gave them, and the hooks that changed them.
  std::optional<std::string_view> original_input;
  std::vector<std::string_view> changed_by;
  // The text of an object: `commands` and `parsed`, on tools with a command argument.
  std::string_view extra;
};

// What the user configured for this hook; an empty object where there is nothing.
Json config();

// ---- what goes out

enum class Level : uint8_t { trace, debug, info, warn, error };
void log(Level level, std::string_view message);

enum class Permission : uint8_t { allow, ask, deny };

// No objection.
struct Continue {};
// No, and why; the model reads it.
struct Block {
  std::string reason;
};
// A change; each event takes the parts that it can honour.
struct Modify {
  // The text of a JSON object, merged into the tool's arguments.
  std::optional<std::string> input = {};
  // Replaces the tool's output, or the prompt.
  std::optional<std::string> output = {};
  // Text for the model.
  std::optional<std::string> context = {};
  // On PermissionRequest the answer; on PreToolUse deny blocks, ask and allow say what to do about a prompt.
  std::optional<Permission> permission = {};
};
// The plugin failed: no answer. On a gate that blocks.
struct Error {
  std::string text = "the plugin gave no answer";
};
// One that is left empty is an Error.
using Answer = std::variant<Error, Continue, Block, Modify>;

// What it means on a gate that there is no answer.
enum class Failure : uint8_t { block, pass };

// A registration. What is left out is the host's default.
struct Hook {
  std::string event, name;
  // Over tools' names, as in settings: `write|edit`.
  std::optional<std::string> matcher = {};
  // As `if` in settings: `bash(git *)`.
  std::optional<std::string> condition = {};
  std::optional<uint32_t> timeout_ms = {};
  bool once = false;
  std::optional<Failure> on_error = {};
};

struct Info {
  std::string name, version, description;
  std::vector<Hook> hooks;
};

// ---- what a plugin defines

Info describe();
Answer run(const Input &input, const Context &context);

}  // namespace tacklebox

#endif
