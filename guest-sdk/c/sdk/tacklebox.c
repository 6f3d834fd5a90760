// The helpers of tacklebox.h.
#include "tacklebox.h"

#include <stdlib.h>
#include <string.h>

static void *room_for(void *former, size_t size) {
  void *room = realloc(former, size ? size : 1);
  if (!room) abort();
  return room;
}

static tb_text copied(tb_text text) {
  uint8_t *ptr = room_for(NULL, text.len);
  memcpy(ptr, text.ptr, text.len);
  return (tb_text){ptr, text.len};
}

// ---- texts

tb_text tb_text_of(const char *string) { return (tb_text){(uint8_t *)string, strlen(string)}; }

bool tb_equal(tb_text a, tb_text b) { return a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0; }

bool tb_is(tb_text text, const char *string) { return tb_equal(text, tb_text_of(string)); }

bool tb_ends_with(tb_text text, tb_text end) {
  return end.len <= text.len && memcmp(text.ptr + text.len - end.len, end.ptr, end.len) == 0;
}

static void add_bytes(tb_buffer *buffer, const void *bytes, size_t len) {
  if (buffer->room - buffer->len < len) {
    buffer->room = (buffer->len + len) * 2;
    buffer->ptr = room_for(buffer->ptr, buffer->room);
  }
  memcpy(buffer->ptr + buffer->len, bytes, len);
  buffer->len += len;
}

void tb_add(tb_buffer *buffer, const char *string) { add_bytes(buffer, string, strlen(string)); }

void tb_add_text(tb_buffer *buffer, tb_text text) {
  if (text.len) add_bytes(buffer, text.ptr, text.len);
}

void tb_add_quoted(tb_buffer *buffer, tb_text text) {
  static const char hex[] = "0123456789abcdef";
  tb_add(buffer, "\"");
  size_t from = 0;
  for (size_t at = 0; at < text.len; at++) {
    uint8_t byte = text.ptr[at];
    if (byte >= ' ' && byte != '"' && byte != '\\') continue;
    add_bytes(buffer, text.ptr + from, at - from);
    from = at + 1;
    if (byte < ' ') {
      char escape[6] = {'\\', 'u', '0', '0', hex[byte >> 4], hex[byte & 15]};
      add_bytes(buffer, escape, 6);
    } else {
      char escape[2] = {'\\', (char)byte};
      add_bytes(buffer, escape, 2);
    }
  }
  add_bytes(buffer, text.ptr + from, text.len - from);
  tb_add(buffer, "\"");
}

void tb_add_integer(tb_buffer *buffer, int64_t number) {
  char digits[20];
  size_t at = sizeof digits;
  uint64_t left = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
  do digits[--at] = (char)('0' + left % 10);
  while (left /= 10);
  if (number < 0) tb_add(buffer, "-");
  add_bytes(buffer, digits + at, sizeof digits - at);
}

tb_text tb_written(const tb_buffer *buffer) { return (tb_text){buffer->ptr, buffer->len}; }

// ---- JSON

static const tb_json nothing = {NULL, 0};

static bool is_blank(uint8_t byte) { return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t'; }

static tb_json without_blanks(tb_json text) {
  while (text.len && is_blank(*text.ptr)) text.ptr++, text.len--;
  return text;
}

static size_t string_length(tb_json text) {
  for (size_t at = 1; at < text.len; at++) {
    if (text.ptr[at] == '\\') at++;
    else if (text.ptr[at] == '"') return at + 1;
  }
  return 0;
}

// How long the value is that the text begins with; 0 where it is cut short. Brackets are counted, so depth costs nothing.
static size_t value_length(tb_json text) {
  size_t at = 0, depth = 0;
  while (at < text.len) {
    uint8_t byte = text.ptr[at];
    if (byte == '"') {
      size_t length = string_length((tb_json){text.ptr + at, text.len - at});
      if (!length) return 0;
      at += length;
    } else if (byte == '{' || byte == '[') {
      depth++, at++;
    } else if (byte == '}' || byte == ']') {
      if (!depth) return at;
      depth--, at++;
    } else if (depth) {
      at++;
      continue;
    } else {
      while (at < text.len && !is_blank(text.ptr[at]) && !strchr(",]}", text.ptr[at])) at++;
    }
    if (!depth) return at;
  }
  return depth ? 0 : at;
}

tb_json tb_read(tb_text text) {
  tb_json value = without_blanks((tb_json){text.ptr, text.len});
  value.len = value_length(value);
  return value;
}

tb_kind tb_kind_of(tb_json value) {
  if (!value.len) return TB_NOTHING;
  switch (*value.ptr) {
    case '{': return TB_OBJECT;
    case '[': return TB_LIST;
    case '"': return TB_STRING;
    case 'n': return TB_NULL;
    case 't': case 'f': return TB_BOOLEAN;
    default: return TB_NUMBER;
  }
}

// Takes the value at the beginning off the text.
static tb_json take(tb_json *text) {
  *text = without_blanks(*text);
  tb_json value = {text->ptr, value_length(*text)};
  text->ptr += value.len, text->len -= value.len;
  *text = without_blanks(*text);
  return value;
}

static bool take_mark(tb_json *text, const char *marks) {
  if (!text->len || !strchr(marks, *text->ptr)) return false;
  text->ptr++, text->len--;
  return true;
}

bool tb_next(tb_json *rest, tb_json *key, tb_json *value) {
  // Between two calls `rest` stands on the mark before the next member, and its last byte tells lists from objects.
  if (!rest->len || !take_mark(rest, "{[,")) return false;
  bool object = rest->len && rest->ptr[rest->len - 1] == '}';
  *rest = without_blanks(*rest);
  tb_json name = nothing;
  if (object) {
    name = take(rest);
    if (!name.len || !take_mark(rest, ":")) return false;
  }
  *value = take(rest);
  if (key) *key = name;
  return value->len > 0;
}

tb_json tb_get_key(tb_json object, tb_text key) {
  if (tb_kind_of(object) != TB_OBJECT) return nothing;
  tb_json found = nothing, name, value;
  tb_text text;
  while (tb_next(&object, &name, &value)) {
    if (tb_string(name, &text) && tb_equal(text, key)) found = value;
  }
  return found;
}

tb_json tb_get(tb_json object, const char *key) { return tb_get_key(object, tb_text_of(key)); }

tb_json tb_at(tb_json list, size_t n) {
  if (tb_kind_of(list) != TB_LIST) return nothing;
  tb_json value;
  while (tb_next(&list, NULL, &value)) {
    if (n-- == 0) return value;
  }
  return nothing;
}

static uint32_t four_digits(const uint8_t *at) {
  uint32_t unit = 0;
  for (int i = 0; i < 4; i++) {
    uint8_t byte = at[i];
    uint32_t digit = byte >= 'a' ? byte - 'a' + 10u : byte >= 'A' ? byte - 'A' + 10u : byte - '0';
    unit = unit << 4 | (digit & 15);
  }
  return unit;
}

static void add_character(tb_buffer *out, uint32_t c) {
  if (c < 0x80) {
    uint8_t bytes[] = {(uint8_t)c};
    add_bytes(out, bytes, 1);
  } else if (c < 0x800) {
    uint8_t bytes[] = {(uint8_t)(0xc0 | c >> 6), (uint8_t)(0x80 | (c & 63))};
    add_bytes(out, bytes, 2);
  } else if (c < 0x10000) {
    uint8_t bytes[] = {(uint8_t)(0xe0 | c >> 12), (uint8_t)(0x80 | (c >> 6 & 63)), (uint8_t)(0x80 | (c & 63))};
    add_bytes(out, bytes, 3);
  } else {
    uint8_t bytes[] = {(uint8_t)(0xf0 | c >> 18), (uint8_t)(0x80 | (c >> 12 & 63)), (uint8_t)(0x80 | (c >> 6 & 63)),
                       (uint8_t)(0x80 | (c & 63))};
    add_bytes(out, bytes, 4);
  }
}

// The character of a \u escape whose digits begin at `*at`, which is moved past them; half a pair is U+FFFD.
static uint32_t escaped(const uint8_t *text, size_t end, size_t *at) {
  if (end - *at < 4) return *at = end, 0xfffd;
  uint32_t unit = four_digits(text + *at);
  *at += 4;
  if (unit < 0xd800 || unit > 0xdfff) return unit;
  if (unit > 0xdbff || end - *at < 6 || text[*at] != '\\' || text[*at + 1] != 'u') return 0xfffd;
  uint32_t low = four_digits(text + *at + 2);
  if (low < 0xdc00 || low > 0xdfff) return 0xfffd;
  *at += 6;
  return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
}

bool tb_string(tb_json value, tb_text *text) {
  if (tb_kind_of(value) != TB_STRING || value.len < 2) return false;
  const uint8_t *in = value.ptr;
  size_t end = value.len - 1, at = 1;
  if (!memchr(in, '\\', value.len)) {
    *text = (tb_text){(uint8_t *)in + 1, end - 1};
    return true;
  }
  tb_buffer out = {0};
  while (at < end) {
    size_t from = at;
    while (at < end && in[at] != '\\') at++;
    add_bytes(&out, in + from, at - from);
    if (at >= end) break;
    uint8_t mark = in[at + 1];
    at += 2;
    switch (mark) {
      case 'b': add_character(&out, '\b'); break;
      case 'f': add_character(&out, '\f'); break;
      case 'n': add_character(&out, '\n'); break;
      case 'r': add_character(&out, '\r'); break;
      case 't': add_character(&out, '\t'); break;
      case 'u': add_character(&out, escaped(in, end, &at)); break;
      default: add_character(&out, mark);
    }
  }
  *text = tb_written(&out);
  return true;
}

bool tb_integer(tb_json value, int64_t *number) {
  size_t at = 0;
  bool negative = value.len && *value.ptr == '-';
  if (negative) at++;
  if (at >= value.len) return false;
  int64_t sum = 0;
  for (; at < value.len; at++) {
    if (value.ptr[at] < '0' || value.ptr[at] > '9') return false;
    int64_t digit = value.ptr[at] - '0';
    // Counted below zero, where there is one number more.
    if (__builtin_mul_overflow(sum, 10, &sum) || __builtin_sub_overflow(sum, digit, &sum)) return false;
  }
  if (!negative && sum == INT64_MIN) return false;
  *number = negative ? sum : -sum;
  return true;
}

bool tb_is_true(tb_json value) { return tb_is(tb_raw(value), "true"); }

tb_text tb_raw(tb_json value) { return (tb_text){(uint8_t *)value.ptr, value.len}; }

// ---- what came

tb_json tb_input_of(const tb_input *input) { return tb_read(input->tool_input); }

tb_json tb_config(void) {
  tb_text text;
  tacklebox_hooks_config_get(&text);
  return tb_read(text);
}

bool tb_path(const tb_input *input, tb_text *path) {
  static const char *const keys[] = {"file_path", "filePath", "path"};
  tb_json json = tb_input_of(input);
  for (size_t n = 0; n < 3; n++) {
    if (tb_string(tb_get(json, keys[n]), path)) return true;
  }
  return false;
}

// ---- what goes out

void tb_log(tacklebox_hooks_log_level_t level, tb_text message) { tacklebox_hooks_log_write(level, &message); }

bool tb_continue(tb_answer *answer) {
  answer->tag = TACKLEBOX_HOOKS_TYPES_HOOK_RESULT_CONTINUE;
  return true;
}

bool tb_block(tb_answer *answer, tb_text reason) {
  answer->tag = TACKLEBOX_HOOKS_TYPES_HOOK_RESULT_BLOCK;
  answer->val.block = copied(reason);
  return true;
}

bool tb_modify(tb_answer *answer) {
  memset(answer, 0, sizeof *answer);
  answer->tag = TACKLEBOX_HOOKS_TYPES_HOOK_RESULT_MODIFY;
  return true;
}

static plugin_option_string_t some(tb_text text) { return (plugin_option_string_t){true, copied(text)}; }

void tb_set_input(tb_answer *answer, tb_text json) { answer->val.modify.input = some(json); }

void tb_set_output(tb_answer *answer, tb_text text) { answer->val.modify.output = some(text); }

void tb_set_context(tb_answer *answer, tb_text text) { answer->val.modify.context = some(text); }

void tb_set_permission(tb_answer *answer, tacklebox_hooks_types_permission_t permission) {
  answer->val.modify.permission.is_some = true;
  answer->val.modify.permission.val = permission;
}

bool tb_error(tb_text *error, tb_text text) {
  *error = copied(text);
  return false;
}

void tb_describe(tb_info *info, const char *name, const char *version, const char *description) {
  memset(info, 0, sizeof *info);
  info->name = copied(tb_text_of(name));
  info->version = copied(tb_text_of(version));
  info->description = copied(tb_text_of(description));
}

tb_hook *tb_add_hook(tb_info *info, const char *event, const char *name) {
  info->hooks.ptr = room_for(info->hooks.ptr, (info->hooks.len + 1) * sizeof *info->hooks.ptr);
  tb_hook *hook = &info->hooks.ptr[info->hooks.len++];
  memset(hook, 0, sizeof *hook);
  hook->event = copied(tb_text_of(event));
  hook->name = copied(tb_text_of(name));
  return hook;
}

void tb_set(plugin_option_string_t *field, const char *string) { *field = some(tb_text_of(string)); }

// ---- the interface

void exports_tacklebox_hooks_callback_describe(tb_info *ret) { hook_describe(ret); }

bool exports_tacklebox_hooks_callback_run(tb_input *input, tb_context *context, tb_answer *ret, tb_text *err) {
  return hook_run(input, context, ret, err);
}
