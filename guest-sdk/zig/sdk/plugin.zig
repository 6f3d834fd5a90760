//! The interface as C's bindings have it: `plugin.h`, its structs field by field. What uses `state` and `process` finds them here.

/// A text, or bytes.
pub const Text = extern struct {
    ptr: [*]const u8,
    len: usize,

    pub fn of(text: []const u8) Text {
        // Zig's pointer to nothing points nowhere, which the host does not take.
        return if (text.len == 0) .{ .ptr = "", .len = 0 } else .{ .ptr = text.ptr, .len = text.len };
    }

    pub fn slice(self: Text) []const u8 {
        return if (self.len == 0) "" else self.ptr[0..self.len];
    }
};

pub fn Option(comptime T: type) type {
    return extern struct {
        is_some: bool,
        val: T,

        const Self = @This();

        pub const none: Self = .{ .is_some = false, .val = undefined };

        pub fn some(value: T) Self {
            return .{ .is_some = true, .val = value };
        }

        pub fn get(self: Self) ?T {
            return if (self.is_some) self.val else null;
        }
    };
}

pub fn List(comptime T: type) type {
    return extern struct {
        ptr: [*]const T,
        len: usize,

        pub fn of(items: []const T) @This() {
            return .{ .ptr = if (items.len == 0) @ptrFromInt(@alignOf(T)) else items.ptr, .len = items.len };
        }

        pub fn slice(self: @This()) []const T {
            return if (self.len == 0) &.{} else self.ptr[0..self.len];
        }
    };
}

pub const Input = extern struct {
    event: Text,
    hook: Text,
    tool_name: Text,
    tool_input: Text,
    tool_output: Option(Text),
};

pub const Context = extern struct {
    dispatch_id: Text,
    session_id: Text,
    root_session_id: Text,
    turn: u32,
    cwd: Option(Text),
    project_dir: Option(Text),
    agent_id: Option(Text),
    agent_type: Option(Text),
    parent_agent_id: Option(Text),
    agent_depth: u32,
    tool_use_id: Option(Text),
    attempt: Option(u32),
    recheck: bool,
    original_input: Option(Text),
    changed_by: List(Text),
    extra: Text,
};

pub const Modification = extern struct {
    input: Option(Text),
    output: Option(Text),
    context: Option(Text),
    permission: Option(u8),
};

pub const Result = extern struct {
    tag: enum(u8) { proceed, block, modify },
    val: extern union { block: Text, modify: Modification },
};

pub const Registration = extern struct {
    event: Text,
    name: Text,
    matcher: Option(Text),
    condition: Option(Text),
    timeout_ms: Option(u32),
    once: bool,
    on_error: Option(u8),
};

pub const Info = extern struct {
    name: Text,
    version: Text,
    description: Text,
    hooks: List(Registration),
};

pub const log = struct {
    extern fn tacklebox_hooks_log_write(level: u8, message: *const Text) void;
    pub const write = tacklebox_hooks_log_write;
};

pub const config = struct {
    extern fn tacklebox_hooks_config_get(ret: *Text) void;
    pub const get = tacklebox_hooks_config_get;
};

/// Small values that outlive a call: kept for this plugin and this session, dropped with either.
pub const state = struct {
    /// The limit that was passed, in bytes.
    pub const Error = extern struct {
        tag: enum(u8) { too_large, full },
        limit: u32,
    };

    extern fn tacklebox_hooks_state_get(key: *const Text, ret: *Text) bool;
    extern fn tacklebox_hooks_state_set(key: *const Text, value: *const Text, err: *Error) bool;
    extern fn tacklebox_hooks_state_remove(key: *const Text) void;
    extern fn tacklebox_hooks_state_add(key: *const Text, delta: i64, ret: *i64, err: *Error) bool;
    /// Whether there is one.
    pub const get = tacklebox_hooks_state_get;
    /// False where it was refused.
    pub const set = tacklebox_hooks_state_set;
    pub const remove = tacklebox_hooks_state_remove;
    /// False where it was refused.
    pub const add = tacklebox_hooks_state_add;
};

/// Programs outside the sandbox, each by name and only where granted.
pub const process = struct {
    pub const Output = extern struct {
        /// None: ended by a signal.
        exit_code: Option(i32),
        stdout: Text,
        stderr: Text,
    };

    pub const Error = extern struct {
        tag: enum(u8) { denied, not_found, timed_out, failed },
        /// Why, where it is `failed`.
        why: Text,
    };

    extern fn tacklebox_hooks_process_available(program: *const Text) bool;
    extern fn tacklebox_hooks_process_run(program: *const Text, args: *const List(Text), stdin: *const Text, ret: *Output, err: *Error) bool;
    pub const available = tacklebox_hooks_process_available;
    /// False where there is an error.
    pub const run = tacklebox_hooks_process_run;
};
