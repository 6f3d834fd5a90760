// What makes a plugin in C short: texts, JSON by path, answers. No dependency but the generated bindings.
//
// A plugin defines `hook_describe` and `hook_run`. An instance lives for one call, so nothing has to be freed.
#ifndef TACKLEBOX_H
#define TACKLEBOX_H

#include "plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

// A text: bytes of UTF-8, any number of them zero, and no zero at the end.
typedef plugin_string_t tb_text;

typedef tacklebox_hooks_types_hook_input_t tb_input;
typedef tacklebox_hooks_types_hook_context_t tb_context;
typedef tacklebox_hooks_types_hook_result_t tb_answer;
typedef tacklebox_hooks_types_plugin_info_t tb_info;
typedef tacklebox_hooks_types_hook_registration_t tb_hook;

// ---- what a plugin defines

// Says what the plugin is: `tb_describe`, then `tb_add_hook` for each hook.
void hook_describe(tb_info *info);

// Answers: `return tb_continue(answer)`, `tb_block(..)`, `tb_modify(..)`, or `tb_error(error, ..)`, which is no answer.
bool hook_run(const tb_input *input, const tb_context *context, tb_answer *answer, tb_text *error);

// ---- texts

// A C string as a text; not copied.
tb_text tb_text_of(const char *string);
bool tb_equal(tb_text a, tb_text b);
// Whether the text is this C string.
bool tb_is(tb_text text, const char *string);
bool tb_ends_with(tb_text text, tb_text end);

// A text that is being written.
typedef struct {
  uint8_t *ptr;
  size_t len, room;
} tb_buffer;

void tb_add(tb_buffer *buffer, const char *string);
void tb_add_text(tb_buffer *buffer, tb_text text);
// With quotes and escapes, as a JSON string.
void tb_add_quoted(tb_buffer *buffer, tb_text text);
void tb_add_integer(tb_buffer *buffer, int64_t number);
// What was written so far.
tb_text tb_written(const tb_buffer *buffer);

// ---- JSON: a value is the piece of text that it stands in; nothing is built

typedef struct {
  const uint8_t *ptr;
  size_t len;
} tb_json;

typedef enum { TB_NOTHING, TB_NULL, TB_BOOLEAN, TB_NUMBER, TB_STRING, TB_LIST, TB_OBJECT } tb_kind;

// The value that a text is. The host hands over valid JSON.
tb_json tb_read(tb_text text);
tb_kind tb_kind_of(tb_json value);
// The value under a key; TB_NOTHING where there is none, or where `object` is no object.
tb_json tb_get(tb_json object, const char *key);
tb_json tb_get_key(tb_json object, tb_text key);
// The nth element of a list, from 0.
tb_json tb_at(tb_json list, size_t n);
// The next member of a list or an object: begin with `rest` as the whole value. `key` may be NULL.
bool tb_next(tb_json *rest, tb_json *key, tb_json *value);
// A string's characters; false where it is none.
bool tb_string(tb_json value, tb_text *text);
// A whole number; false where it is none, or beyond 64 bits.
bool tb_integer(tb_json value, int64_t *number);
bool tb_is_true(tb_json value);
// The piece of text, to be copied as it is.
tb_text tb_raw(tb_json value);

// ---- what came

// The arguments, or the event's payload.
tb_json tb_input_of(const tb_input *input);
// What the user configured for this hook; an empty object where there is nothing.
tb_json tb_config(void);
// The path that a tool works on: the first string of `file_path`, `filePath` and `path`.
bool tb_path(const tb_input *input, tb_text *path);

// ---- what goes out; texts are copied

void tb_log(tacklebox_hooks_log_level_t level, tb_text message);
bool tb_continue(tb_answer *answer);
bool tb_block(tb_answer *answer, tb_text reason);
// A modification without parts; add some.
bool tb_modify(tb_answer *answer);
// A JSON object, merged into the tool's arguments.
void tb_set_input(tb_answer *answer, tb_text json);
void tb_set_output(tb_answer *answer, tb_text text);
void tb_set_context(tb_answer *answer, tb_text text);
void tb_set_permission(tb_answer *answer, tacklebox_hooks_types_permission_t permission);
// The plugin failed: no answer. On a gate that blocks.
bool tb_error(tb_text *error, tb_text text);

void tb_describe(tb_info *info, const char *name, const char *version, const char *description);
// A hook with the host's defaults; its other fields can be set, texts by `tb_set`. Valid until the next one is added.
tb_hook *tb_add_hook(tb_info *info, const char *event, const char *name);
void tb_set(plugin_option_string_t *field, const char *string);

#ifdef __cplusplus
}
#endif

#endif
