//! Keeps files that a tool generates from being written by hand.

const std = @import("std");
const tacklebox = @import("sdk/tacklebox.zig");

pub const panic = tacklebox.panic;

comptime {
    tacklebox.exportPlugin(@This());
}

pub const info: tacklebox.Info = .{
    .name = "plugin-name",
    .version = "0.1.0",
    .description = "Keeps files that a tool generates from being written by hand.",
    .hooks = &.{.{ .event = "PreToolUse", .name = "plugin-name", .matcher = "write|edit" }},
};

/// What settings may say in `config`. A key that is not here is an error, and an error on a gate blocks.
const Config = struct {
    endings: []const []const u8 = &.{".lock"},
};

pub fn run(input: tacklebox.Input, _: tacklebox.Context) !tacklebox.Answer {
    const config = try tacklebox.config(Config);
    const path = input.path() orelse return .proceed;
    for (config.endings) |ending| {
        if (!std.mem.endsWith(u8, path, ending)) continue;
        return .{ .block = try std.fmt.allocPrint(tacklebox.allocator, "`{s}` is written by its tool alone", .{path}) };
    }
    return .proceed;
}
