//! The conformance plugin in Zig: does what a command says, as guest-sdk/conformance/README.md has it.

const std = @import("std");
const tacklebox = @import("sdk/tacklebox.zig");

const Json = tacklebox.Json;
const Answer = tacklebox.Answer;
const Text = tacklebox.plugin.Text;
const state = tacklebox.plugin.state;
const process = tacklebox.plugin.process;
const allocator = tacklebox.allocator;

pub const panic = tacklebox.panic;

comptime {
    tacklebox.exportPlugin(@This());
}

const events = [_][]const u8{
    "PreToolUse",   "PermissionRequest", "PostToolUse",   "PostToolUseFailure", "UserPromptSubmit",
    "SessionStart", "SessionEnd",        "Stop",          "TurnStart",          "TurnEnd",
    "PreCompact",   "PostCompact",       "SubagentStart", "SubagentStop",       "Notification",
};

const hooks = hooks: {
    var all: [events.len]tacklebox.Hook = undefined;
    for (events, &all) |event, *hook| hook.* = .{ .event = event, .name = "conformance" };
    all[1].matcher = "bash|edit";
    all[1].condition = "bash(git *)";
    all[1].timeout_ms = 2500;
    all[1].once = true;
    all[1].on_error = .pass;
    break :hooks all;
};

pub const info: tacklebox.Info = .{
    .name = "conformance",
    .version = "1.2.3",
    .description = "does what it is told",
    .hooks = &hooks,
};

/// What one call is about.
const Call = struct {
    input: tacklebox.Input,
    context: tacklebox.Context,
    config: Json,
    command: Json,

    fn text(self: Call, key: []const u8) []const u8 {
        return textOf(tacklebox.member(self.command, key));
    }

    fn number(self: Call, key: []const u8) usize {
        return integer(usize, tacklebox.member(self.command, key));
    }

    fn list(self: Call, key: []const u8) []const Json {
        return listOf(tacklebox.member(self.command, key));
    }
};

fn textOf(value: ?Json) []const u8 {
    return tacklebox.stringOf(value) orelse "";
}

fn integer(comptime T: type, value: ?Json) T {
    const found = value orelse return 0;
    return if (found == .number_string) std.fmt.parseInt(T, found.number_string, 10) catch 0 else 0;
}

fn listOf(value: ?Json) []const Json {
    const found = value orelse return &.{};
    return if (found == .array) found.array.items else &.{};
}

pub fn run(input: tacklebox.Input, context: tacklebox.Context) !Answer {
    const config = try tacklebox.parse(tacklebox.configText());
    const told = tacklebox.member(config, "do") != null;
    const call: Call = .{ .input = input, .context = context, .config = config, .command = if (told) config else input.json };
    const Word = enum { @"continue", block, modify, @"error", trap, spin, repeat, text, get, echo, log, state, fill, process };
    const word = call.text("do");
    return switch (std.meta.stringToEnum(Word, word) orelse return tacklebox.fail("unknown command: {s}", .{word})) {
        .@"continue" => .proceed,
        .block => .{ .block = call.text("reason") },
        .modify => modify(call),
        .@"error" => tacklebox.fail("{s}", .{call.text("text")}),
        .trap => .{ .block = call.text("do")[call.number("nothing") + 100 ..] },
        .spin => spin(),
        .repeat => repeat(call),
        .text => text(call),
        .get => object(.{ .found = valueAt(call) }),
        .echo => echo(call),
        .log => log(call),
        .state => stateOf(call),
        .fill => fill(call),
        .process => processOf(call),
    };
}

fn object(value: anytype) !Answer {
    return .{ .modify = .{ .input = try tacklebox.stringify(value) } };
}

fn modify(call: Call) !Answer {
    var changes: tacklebox.Modification = .{};
    if (tacklebox.member(call.command, "input")) |input| changes.input = try tacklebox.stringify(input);
    if (tacklebox.member(call.command, "inputText")) |input| changes.input = textOf(input);
    if (tacklebox.member(call.command, "output")) |output| changes.output = textOf(output);
    if (tacklebox.member(call.command, "context")) |context| changes.context = textOf(context);
    if (tacklebox.member(call.command, "permission")) |permission| {
        changes.permission = std.meta.stringToEnum(tacklebox.Permission, textOf(permission)) orelse
            return tacklebox.fail("unknown permission: {s}", .{textOf(permission)});
    }
    return .{ .modify = changes };
}

fn spin() noreturn {
    var on = true;
    const still: *volatile bool = &on;
    while (still.*) {}
    unreachable;
}

fn repeat(call: Call) !Answer {
    const one = call.text("text");
    var out: std.ArrayList(u8) = .empty;
    for (0..call.number("times")) |_| try out.appendSlice(allocator, one);
    return .{ .modify = .{ .output = out.items } };
}

fn text(call: Call) !Answer {
    const Of = enum { input, output, extra, originalInput };
    const of = call.text("of");
    const output: ?[]const u8 = switch (std.meta.stringToEnum(Of, of) orelse return tacklebox.fail("unknown text: {s}", .{of})) {
        .input => call.input.text,
        .output => call.input.output,
        .extra => call.context.extra,
        .originalInput => call.context.original_input,
    };
    return .{ .modify = .{ .output = output orelse "" } };
}

fn valueAt(call: Call) ?Json {
    var value: ?Json = call.input.json;
    for (call.list("path")) |step| {
        value = if (step == .string) tacklebox.member(value, step.string) else tacklebox.element(value, integer(usize, step));
    }
    return value;
}

fn echo(call: Call) !Answer {
    var out: Json = .{ .object = .empty };
    for (call.list("parts")) |part| {
        try out.object.put(allocator, textOf(part), try valueOf(call, textOf(part)));
    }
    return object(out);
}

fn string(value: ?[]const u8) Json {
    return if (value) |some| .{ .string = some } else .null;
}

fn read(value: ?[]const u8) !Json {
    return if (value) |some| tacklebox.parse(some) else .null;
}

const Part = enum {
    event,
    hook,
    tool,
    input,
    output,
    config,
    dispatch,
    session,
    rootSession,
    turn,
    cwd,
    project,
    agentId,
    agentType,
    parentAgentId,
    agentDepth,
    toolUseId,
    attempt,
    recheck,
    originalInput,
    changedBy,
    extra,
};

fn valueOf(call: Call, name: []const u8) !Json {
    const input, const cx = .{ call.input, call.context };
    return switch (std.meta.stringToEnum(Part, name) orelse return tacklebox.fail("unknown part: {s}", .{name})) {
        .event => string(input.event),
        .hook => string(input.hook),
        .tool => string(input.tool),
        .input => input.json,
        .output => string(input.output),
        .config => call.config,
        .dispatch => .{ .bool = cx.dispatch.len > 0 },
        .session => string(cx.session),
        .rootSession => string(cx.root_session),
        .turn => .{ .integer = cx.turn },
        .cwd => string(cx.cwd),
        .project => string(cx.project),
        .agentId => string(cx.agent_id),
        .agentType => string(cx.agent_type),
        .parentAgentId => string(cx.parent_agent_id),
        .agentDepth => .{ .integer = cx.agent_depth },
        .toolUseId => string(cx.tool_use_id),
        .attempt => if (cx.attempt) |attempt| .{ .integer = attempt } else .null,
        .recheck => .{ .bool = cx.recheck },
        .originalInput => read(cx.original_input),
        .changedBy => changedBy(cx.changed_by),
        .extra => read(cx.extra),
    };
}

fn changedBy(names: []const []const u8) !Json {
    var list: std.json.Array = .init(allocator);
    for (names) |name| try list.append(string(name));
    return .{ .array = list };
}

fn log(call: Call) !Answer {
    for (call.list("lines")) |line| {
        const level = std.meta.stringToEnum(tacklebox.Level, textOf(tacklebox.element(line, 0))) orelse continue;
        tacklebox.log(level, textOf(tacklebox.element(line, 1)));
    }
    return .proceed;
}

const ok: Json = .{ .string = "ok" };

fn stateOf(call: Call) !Answer {
    var results: std.json.Array = .init(allocator);
    for (call.list("steps")) |step| try results.append(try stateStep(step));
    return object(.{ .results = Json{ .array = results } });
}

fn stateStep(step: Json) !Json {
    const Step = enum { get, getBytes, set, setBytes, remove, add };
    const what, const key, const value = .{ tacklebox.element(step, 0), tacklebox.element(step, 1), tacklebox.element(step, 2) };
    const name: Text = .of(textOf(key));
    var bytes: Text = undefined;
    switch (std.meta.stringToEnum(Step, textOf(what)) orelse return tacklebox.fail("unknown step: {s}", .{textOf(what)})) {
        .get => return if (state.get(&name, &bytes)) string(bytes.slice()) else .null,
        .getBytes => return if (state.get(&name, &bytes)) numbers(bytes.slice()) else .null,
        .set => return set(textOf(key), textOf(value)),
        .setBytes => {
            var out: std.ArrayList(u8) = .empty;
            for (listOf(value)) |number| try out.append(allocator, integer(u8, number));
            return set(textOf(key), out.items);
        },
        .remove => state.remove(&name),
        .add => {
            var sum: i64 = undefined;
            var refused: state.Error = undefined;
            if (!state.add(&name, try std.fmt.parseInt(i64, textOf(value), 10), &sum, &refused)) return refusal(refused);
            return string(try std.fmt.allocPrint(allocator, "{d}", .{sum}));
        },
    }
    return ok;
}

fn numbers(bytes: []const u8) !Json {
    var list: std.json.Array = .init(allocator);
    for (bytes) |byte| try list.append(.{ .integer = byte });
    return .{ .array = list };
}

fn set(key: []const u8, value: []const u8) !Json {
    var refused: state.Error = undefined;
    if (state.set(&Text.of(key), &Text.of(value), &refused)) return ok;
    return refusal(refused);
}

fn refusal(refused: state.Error) !Json {
    var out: Json = .{ .object = .empty };
    try out.object.put(allocator, if (refused.tag == .too_large) "tooLarge" else "full", .{ .integer = refused.limit });
    return out;
}

fn fill(call: Call) !Answer {
    const value = try allocator.alloc(u8, call.number("bytes"));
    @memset(value, 'x');
    const count = call.number("count");
    for (0..count) |stored| {
        const key = try std.fmt.allocPrint(allocator, "{s}{d}", .{ call.text("prefix"), stored });
        const result = try set(key, value);
        if (result != .string) return object(.{ .stored = stored, .@"error" = result });
    }
    return object(.{ .stored = count, .@"error" = null });
}

fn processOf(call: Call) !Answer {
    const program: Text, const stdin: Text = .{ .of(call.text("program")), .of(call.text("stdin")) };
    var args: std.ArrayList(Text) = .empty;
    for (call.list("args")) |arg| try args.append(allocator, .of(textOf(arg)));
    const available = process.available(&program);
    var output: process.Output = undefined;
    var refused: process.Error = undefined;
    if (process.run(&program, &.of(args.items), &stdin, &output, &refused)) {
        return object(.{ .available = available, .result = .{
            .exitCode = output.exit_code.get(),
            .stdout = output.stdout.slice(),
            .stderr = output.stderr.slice(),
        } });
    }
    return switch (refused.tag) {
        .denied => object(.{ .available = available, .result = "denied" }),
        .not_found => object(.{ .available = available, .result = "notFound" }),
        .timed_out => object(.{ .available = available, .result = "timedOut" }),
        .failed => object(.{ .available = available, .result = .{ .failed = refused.why.slice() } }),
    };
}
