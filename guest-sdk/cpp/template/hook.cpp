// Keeps files that a tool generates from being written by hand.
#include "sdk/tacklebox.hpp"

using namespace tacklebox;

Info tacklebox::describe() {
  return {
      .name = "plugin-name",
      .version = "0.1.0",
      .description = "Keeps files that a tool generates from being written by hand.",
      .hooks = {{.event = "PreToolUse", .name = "plugin-name", .matcher = "write|edit"}},
  };
}

// Whether the path has one of the endings of the config; without a config, `.lock`.
static bool is_generated(std::string_view path) {
  Json endings = config()["endings"];
  if (endings.kind() != Json::Kind::list) return path.ends_with(".lock");
  for (auto [_, ending] : endings.members()) {
    if (auto text = ending.string(); text && path.ends_with(*text)) return true;
  }
  return false;
}

Answer tacklebox::run(const Input &input, const Context &) {
  auto path = input.path();
  if (!path || !is_generated(*path)) return Continue{};
  return Block{"`" + std::string(*path) + "` is written by its tool alone"};
}
