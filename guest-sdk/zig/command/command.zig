//! Keeps files that a tool generates from being written by hand.
//!
//! What happens stands in the environment. To exit with 0 lets it pass, with 2 blocks it for the reason on stderr. Every other
//! exit code blocks as well, and so does a panic: what goes wrong here lets nothing through.

const std = @import("std");

/// What settings may say in `config`. A key that is not here is a mistake, and a guard does not overlook it.
const Config = struct {
    endings: []const []const u8 = &.{".lock"},
};

pub fn main(init: std.process.Init) u8 {
    const said = init.environ_map.get("HOOK_CONFIG") orelse "{}";
    const config = std.json.parseFromSliceLeaky(Config, init.arena.allocator(), said, .{}) catch |err| {
        std.debug.print("the config is not as expected: {t}\n", .{err});
        return 1;
    };
    const path = init.environ_map.get("HOOK_FILE_PATH") orelse return 0;
    for (config.endings) |ending| {
        if (!std.mem.endsWith(u8, path, ending)) continue;
        std.debug.print("`{s}` is written by its tool alone\n", .{path});
        return 2;
    }
    return 0;
}
