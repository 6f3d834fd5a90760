// Keeps files that a tool generates from being written by hand.
//
// What happens stands in the environment. To exit with 0 lets it pass, with 2 blocks it for the reason on stderr. Every other
// exit code blocks as well: what goes wrong here lets nothing through.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// JSON is read from where a value begins, below. Whatever is not as it is expected ends the program, and so blocks.
static const char *first(const char *value, char open);        // of a list `[` its first element, of an object `{` its first key
static const char *next(const char *element);                  // the one behind it; NULL behind the last
static const char *member(const char *object, const char *key);  // the value of a key; NULL where there is none
static char *text(const char *value);                          // a string without its escapes
static void fail(const char *why, const char *where);

static bool ends_with(const char *path, const char *ending) {
  size_t length = strlen(path), tail = strlen(ending);
  return length >= tail && strcmp(path + length - tail, ending) == 0;
}

// Whether the path has one of the endings of the config, without a config `.lock`. A key that is not known is a mistake in
// settings, and a guard does not overlook it.
static bool is_generated(const char *path, const char *config) {
  for (const char *key = first(config, '{'); key != NULL; key = next(key)) {
    if (strcmp(text(key), "endings") != 0) fail("the config has an unknown key", key);
  }
  const char *endings = member(config, "endings");
  if (endings == NULL) return ends_with(path, ".lock");
  bool found = false;
  for (const char *ending = first(endings, '['); ending != NULL; ending = next(ending)) {
    if (ends_with(path, text(ending))) found = true;
  }
  return found;
}

int main(void) {
  const char *path = getenv("HOOK_FILE_PATH"), *config = getenv("HOOK_CONFIG");
  bool generated = is_generated(path == NULL ? "" : path, config == NULL ? "{}" : config);
  if (path == NULL || !generated) return 0;
  fprintf(stderr, "`%s` is written by its tool alone\n", path);
  return 2;
}

// What follows reads compact JSON as the host writes it, without blanks between values, and serves CLAUDE_TOOL_INPUT as well:
// `text(member(getenv("CLAUDE_TOOL_INPUT"), "command"))` is the command of the tool `bash`, once `member` found one.

static void fail(const char *why, const char *where) {
  fprintf(stderr, "%s: %.60s\n", why, where);
  exit(1);
}

static void expect(bool holds, const char *where) {
  if (!holds) fail("the call or its config is not as expected", where);
}

// Where a value ends.
static const char *after(const char *value) {
  if (*value == '"') {
    while (*++value != '"') {
      if (*value == '\\') value++;
      expect(*value != '\0', value);
    }
    return value + 1;
  }
  if (*value != '{' && *value != '[') return value + strcspn(value, ",:]}");
  for (int depth = 0;;) {
    expect(*value != '\0', value);
    if (*value == '"') {
      value = after(value);
      continue;
    }
    if (*value == '{' || *value == '[') depth++;
    if (*value == '}' || *value == ']') depth--;
    value++;
    if (depth == 0) return value;
  }
}

static const char *first(const char *value, char open) {
  expect(*value == open, value);
  return value[1] == ']' || value[1] == '}' ? NULL : value + 1;
}

static const char *next(const char *element) {
  const char *end = after(element);
  if (*end == ':') end = after(end + 1);
  expect(*end == ',' || *end == ']' || *end == '}', end);
  return *end == ',' ? end + 1 : NULL;
}

static const char *member(const char *object, const char *key) {
  for (const char *known = first(object, '{'); known != NULL; known = next(known)) {
    if (strcmp(text(known), key) == 0) return after(known) + 1;
  }
  return NULL;
}

// The number behind `\u`.
static unsigned long code_unit(const char *at) {
  char digits[5] = {0};
  return strtoul(strncpy(digits, at, 4), NULL, 16);
}

static char *put_byte(char *out, unsigned long byte) {
  *out = (char)byte;
  return out + 1;
}

// Writes a character as UTF-8. A NUL would end the text here and not where the tool sees it end: U+FFFD stands for it.
static char *put(char *out, unsigned long c) {
  if (c == 0) c = 0xfffd;
  if (c < 0x80) return put_byte(out, c);
  if (c < 0x800) return put_byte(put_byte(out, 0xc0 | c >> 6), 0x80 | (c & 0x3f));
  out = c < 0x10000 ? put_byte(out, 0xe0 | c >> 12)
                    : put_byte(put_byte(out, 0xf0 | c >> 18), 0x80 | (c >> 12 & 0x3f));
  return put_byte(put_byte(out, 0x80 | (c >> 6 & 0x3f)), 0x80 | (c & 0x3f));
}

// Nobody gives this memory back: the program ends with the call.
static char *text(const char *value) {
  expect(*value == '"', value);
  const char *end = after(value) - 1;
  char *start = malloc((size_t)(end - value)), *out = start;  // an escape is never shorter than what it stands for
  if (start == NULL) fail("out of memory", "");
  for (const char *at = value + 1; at < end; at++) {
    if (*at != '\\') {
      *out++ = *at;
      continue;
    }
    if (*++at == 'u') {
      unsigned long c = code_unit(at + 1);
      at += 4;
      if (c >= 0xd800 && c < 0xdc00) {
        c = 0x10000 + ((c - 0xd800) << 10) + (code_unit(at + 3) - 0xdc00);
        at += 6;
      }
      out = put(out, c);
      continue;
    }
    const char *plain = "\"\"\\\\//b\bf\fn\nr\rt\t";  // each behind its letter
    while (*plain != '\0' && *plain != *at) plain += 2;
    expect(*plain != '\0', at);
    *out++ = plain[1];
  }
  *out = '\0';
  return start;
}
