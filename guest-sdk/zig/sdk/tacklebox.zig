//! What makes a plugin in Zig short: what came, as Zig's values, and the three answers.
//!
//! A plugin is a file with `info` and `run`, which it hands to `exportPlugin`. An instance lives for one call, so nothing has to be
//! freed, and what came stays until its end.

const std = @import("std");

/// The bare interface: `state`, `process`.
pub const plugin = @import("plugin.zig");

const Text = plugin.Text;
pub const Json = std.json.Value;

/// Memory for this call.
pub const allocator = std.heap.c_allocator;

/// What a plugin is.
pub const Info = struct {
    name: []const u8,
    version: []const u8,
    description: []const u8,
    hooks: []const Hook,
};

/// A registration. What is left out is the host's default.
pub const Hook = struct {
    event: []const u8,
    name: []const u8,
    /// Over tools' names, as in settings: `write|edit`.
    matcher: ?[]const u8 = null,
    /// As `if` in settings: `bash(git *)`.
    condition: ?[]const u8 = null,
    timeout_ms: ?u32 = null,
    once: bool = false,
    on_error: ?Failure = null,
};

/// What it means on a gate that there is no answer.
pub const Failure = enum(u8) { block, pass };

pub const Input = struct {
    event: []const u8,
    /// The name this hook is registered under.
    hook: []const u8,
    /// The tool's name; on an event without a tool, the event's.
    tool: []const u8,
    /// The tool's arguments, or the event's payload: an object.
    json: Json,
    /// Its text, as it came.
    text: []const u8,
    /// What the tool printed, or why it failed, where the event has it.
    output: ?[]const u8,

    /// The value at a path: `input.get(.{ "todos", 0, "done" })`.
    pub fn get(self: Input, steps: anytype) ?Json {
        return at(self.json, steps);
    }

    /// The string at a path.
    pub fn string(self: Input, steps: anytype) ?[]const u8 {
        return stringOf(self.get(steps));
    }

    /// The path that a tool works on: the first string of `file_path`, `filePath` and `path`.
    pub fn path(self: Input) ?[]const u8 {
        inline for (.{ "file_path", "filePath", "path" }) |key| {
            if (self.string(.{key})) |found| return found;
        }
        return null;
    }
};

pub const Context = struct {
    /// Unique for this dispatch; all hooks of one event see the same.
    dispatch: []const u8,
    session: []const u8,
    /// The session at the root of this agent's tree.
    root_session: []const u8,
    turn: u32,
    cwd: ?[]const u8,
    project: ?[]const u8,
    agent_id: ?[]const u8,
    agent_type: ?[]const u8,
    parent_agent_id: ?[]const u8,
    /// 0 in the main agent, 1 in its sub-agents, and so on.
    agent_depth: u32,
    tool_use_id: ?[]const u8,
    /// Stop: 1, 2, .. within one turn.
    attempt: ?u32,
    /// This input is another hook's rewrite; a block counts, a rewrite does not.
    recheck: bool,
    /// After a tool ran: the text of its arguments as the model gave them, and the hooks that changed them.
    original_input: ?[]const u8,
    changed_by: []const []const u8,
    /// The text of an object: `commands` and `parsed`, on tools with a command argument.
    extra: []const u8,
};

pub const Answer = union(enum) {
    /// No objection.
    proceed,
    /// No, and why; the model reads it.
    block: []const u8,
    modify: Modification,
};

/// A change; each event takes the parts that it can honour.
pub const Modification = struct {
    /// The text of a JSON object, merged into the tool's arguments: `try stringify(value)`.
    input: ?[]const u8 = null,
    /// Replaces the tool's output, or the prompt.
    output: ?[]const u8 = null,
    /// Text for the model.
    context: ?[]const u8 = null,
    /// On PermissionRequest the answer; on PreToolUse deny blocks, ask and allow say what to do about a prompt.
    permission: ?Permission = null,
};

pub const Permission = enum(u8) { allow, ask, deny };

// ---- JSON

/// Reads a text. Numbers stay as they are written, as `number_string`.
pub fn parse(text: []const u8) !Json {
    return std.json.parseFromSliceLeaky(Json, allocator, text, .{ .parse_numbers = false });
}

/// The text of a value of any type.
pub fn stringify(value: anytype) ![]const u8 {
    return std.json.Stringify.valueAlloc(allocator, value, .{});
}

/// The value at a path of keys and indices.
pub fn at(value: ?Json, steps: anytype) ?Json {
    var found = value;
    inline for (steps) |step| {
        found = switch (@typeInfo(@TypeOf(step))) {
            .int, .comptime_int => element(found, step),
            else => member(found, step),
        };
    }
    return found;
}

/// The value under a key of an object.
pub fn member(value: ?Json, key: []const u8) ?Json {
    const object = value orelse return null;
    return if (object == .object) object.object.get(key) else null;
}

/// The element of a list, from 0.
pub fn element(value: ?Json, index: usize) ?Json {
    const list = value orelse return null;
    return if (list == .array and index < list.array.items.len) list.array.items[index] else null;
}

/// A string's characters.
pub fn stringOf(value: ?Json) ?[]const u8 {
    const found = value orelse return null;
    return if (found == .string) found.string else null;
}

/// The text of what the user configured for this hook, an object; `{}` where there is nothing.
pub fn configText() []const u8 {
    var text: Text = undefined;
    plugin.config.get(&text);
    return text.slice();
}

/// The same, read into a struct. A key that the struct does not have is an error, so that a misspelt rule does not go unseen.
pub fn config(comptime T: type) !T {
    return std.json.parseFromSliceLeaky(T, allocator, configText(), .{}) catch |cause| fail("the config: {t}", .{cause});
}

// ---- failures and the log

var failure: ?[]const u8 = null;

/// The plugin failed, and why: `return fail("no list at {s}", .{key})`. It is no answer; on a gate that blocks.
pub fn fail(comptime format: []const u8, args: anytype) error{ Failed, OutOfMemory } {
    failure = std.fmt.allocPrint(allocator, format, args) catch return error.OutOfMemory;
    return error.Failed;
}

pub const Level = enum(u8) { trace, debug, info, warn, @"error" };

/// Writes a line to the host's log.
pub fn log(level: Level, message: []const u8) void {
    plugin.log.write(@backingInt(level), &Text.of(message));
}

/// For the plugin's root: `pub const panic = tacklebox.panic;`. A panic goes to the host's log and breaks the call.
pub const panic = std.debug.FullPanic(struct {
    fn last(message: []const u8, _: ?usize) noreturn {
        log(.@"error", message);
        @trap();
    }
}.last);

// ---- the interface

/// Makes the plugin's `info` and `run` what the host calls.
pub fn exportPlugin(comptime Plugin: type) void {
    const exports = struct {
        fn describe(ret: *plugin.Info) callconv(.c) void {
            ret.* = described(Plugin.info) catch @panic("out of memory");
        }

        fn run(input: *const plugin.Input, context: *const plugin.Context, ret: *plugin.Result, err: *Text) callconv(.c) bool {
            ret.* = answered(Plugin, input, context) catch |cause| {
                const why = if (cause == error.Failed) failure orelse "" else @errorName(cause);
                err.* = owned(why) catch @panic("out of memory");
                return false;
            };
            return true;
        }
    };
    @export(&exports.describe, .{ .name = "exports_tacklebox_hooks_callback_describe" });
    @export(&exports.run, .{ .name = "exports_tacklebox_hooks_callback_run" });
}

fn answered(comptime Plugin: type, input: *const plugin.Input, context: *const plugin.Context) anyerror!plugin.Result {
    const answer: Answer = try Plugin.run(try inputOf(input), try contextOf(context));
    return switch (answer) {
        .proceed => .{ .tag = .proceed, .val = undefined },
        .block => |reason| .{ .tag = .block, .val = .{ .block = try owned(reason) } },
        .modify => |changes| .{ .tag = .modify, .val = .{ .modify = .{
            .input = try ownedIf(changes.input),
            .output = try ownedIf(changes.output),
            .context = try ownedIf(changes.context),
            .permission = if (changes.permission) |permission| .some(@backingInt(permission)) else .none,
        } } },
    };
}

fn described(info: Info) !plugin.Info {
    const hooks = try allocator.alloc(plugin.Registration, info.hooks.len);
    for (info.hooks, hooks) |hook, *registration| {
        registration.* = .{
            .event = try owned(hook.event),
            .name = try owned(hook.name),
            .matcher = try ownedIf(hook.matcher),
            .condition = try ownedIf(hook.condition),
            .timeout_ms = if (hook.timeout_ms) |limit| .some(limit) else .none,
            .once = hook.once,
            .on_error = if (hook.on_error) |on_error| .some(@backingInt(on_error)) else .none,
        };
    }
    return .{
        .name = try owned(info.name),
        .version = try owned(info.version),
        .description = try owned(info.description),
        .hooks = .of(hooks),
    };
}

/// What goes out is freed by the bindings.
fn owned(text: []const u8) !Text {
    return .of(try allocator.dupe(u8, text));
}

fn ownedIf(text: ?[]const u8) !plugin.Option(Text) {
    return if (text) |given| .some(try owned(given)) else .none;
}

fn inputOf(input: *const plugin.Input) !Input {
    const text = input.tool_input.slice();
    return .{
        .event = input.event.slice(),
        .hook = input.hook.slice(),
        .tool = input.tool_name.slice(),
        .json = parse(text) catch |cause| return fail("the input: {t}", .{cause}),
        .text = text,
        .output = optional(input.tool_output),
    };
}

fn contextOf(cx: *const plugin.Context) !Context {
    const changed_by = try allocator.alloc([]const u8, cx.changed_by.len);
    for (cx.changed_by.slice(), changed_by) |name, *to| to.* = name.slice();
    return .{
        .dispatch = cx.dispatch_id.slice(),
        .session = cx.session_id.slice(),
        .root_session = cx.root_session_id.slice(),
        .turn = cx.turn,
        .cwd = optional(cx.cwd),
        .project = optional(cx.project_dir),
        .agent_id = optional(cx.agent_id),
        .agent_type = optional(cx.agent_type),
        .parent_agent_id = optional(cx.parent_agent_id),
        .agent_depth = cx.agent_depth,
        .tool_use_id = optional(cx.tool_use_id),
        .attempt = cx.attempt.get(),
        .recheck = cx.recheck,
        .original_input = optional(cx.original_input),
        .changed_by = changed_by,
        .extra = cx.extra.slice(),
    };
}

fn optional(text: plugin.Option(Text)) ?[]const u8 {
    return if (text.get()) |some| some.slice() else null;
}
