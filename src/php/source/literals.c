// The literals of PHP scripts: see literals.h. PHP's own scanner has said where
// tokens are (php/source/php_change.h); what their bytes mean is done here.
#include "php/source/literals.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "php/source/php_change.h"
#include "php/record/php_record.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/hashmap.h"
#include "util/mem.h"
#include "util/str.h"

enum { NESTED_MOST = 64 };

// --- one script -------------------------------------------------------------

// A string with variables in it: where its parts stand.
typedef struct {
  char kind;       // " ` or H (heredoc), N (nowdoc)
  int braces;      // open ones of {$...}
  size_t end;      // heredoc: its last token
  uint32_t indent; // heredoc: what is removed from each line
} StringContext;

typedef struct {
  const char *text;
  const PhpToken *tokens;
  size_t ntokens;
  size_t counted; // bytes of the text whose newlines are
  uint32_t line;  // the line there
  StringContext nested[NESTED_MOST];
  int depth;
  // The segment under way.
  ScriptSegment segment;
  bool is_open, opens_echo;
  bool exits, says; // there is an exit in it, and that prints something
  // What is made.
  ARRAY(ScriptLiteral) literals;
  ARRAY(ScriptSegment) segments;
  ARRAY(ScriptExit) ends;
  Str bytes;             // of the literal under way
  ARRAY(uint32_t) lines; // of these
  Arena *arena;
} Scan;

static uint32_t line_at(Scan *s, size_t offset) {
  for (; s->counted < offset; s->counted++)
    s->line += s->text[s->counted] == '\n';
  return s->line;
}

static const char *token_text(const Scan *s, size_t i) {
  return s->text + s->tokens[i].offset;
}

static bool token_is(const Scan *s, size_t i, const char *text) {
  size_t n = strlen(text);
  return i < s->ntokens && s->tokens[i].length == n &&
         !memcmp(token_text(s, i), text, n);
}

static StringContext *innermost(Scan *s) {
  return s->depth ? &s->nested[s->depth - 1] : NULL;
}

static void enter(Scan *s, StringContext c) {
  if (s->depth < NESTED_MOST)
    s->nested[s->depth++] = c;
}

// --- segments ---------------------------------------------------------------

static void touch_segment(Scan *s, uint32_t first, uint32_t last) {
  if (!s->is_open)
    s->segment = (ScriptSegment){.first = first, .literal = s->literals.len};
  s->is_open = true;
  if (last > s->segment.last)
    s->segment.last = last;
}

static void end_segment(Scan *s) {
  s->segment.nliterals = s->literals.len - s->segment.literal;
  if (s->is_open && s->segment.nliterals)
    array_push(&s->segments, s->segment);
  if (s->is_open && s->exits)
    array_push(&s->ends,
               (ScriptExit){s->segment.first, s->segment.last, s->says});
  s->is_open = s->exits = s->says = false;
}

static void add_value(Scan *s, uint32_t line) {
  uint32_t *at = s->literals.len > s->segment.literal
                     ? &array_last(&s->literals).value
                     : &s->segment.value;
  if (!*at)
    *at = line;
}

// --- literals ---------------------------------------------------------------

static void add_byte(Scan *s, char c, uint32_t line) {
  str_addc(&s->bytes, c);
  array_push(&s->lines, line);
}

static void add_literal(Scan *s, const char *bytes, const uint32_t *lines,
                        size_t n, uint32_t value) {
  ScriptLiteral l = {.bytes = bytes,
                     .length = n,
                     .lines = lines,
                     .segment = (uint32_t)s->segments.len,
                     .value = value};
  if (n)
    array_push(&s->literals, l);
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

// The length of a placeholder of a query, ? or :name, at bytes[i]; 0: there is
// none. Wrappers put values in there.
static size_t placeholder(const char *bytes, size_t i, size_t n) {
  size_t end = i + 1;
  if (i && !strchr(" (=,<>", bytes[i - 1]))
    return 0;
  while (bytes[i] == ':' && end < n && is_word(bytes[end]))
    end++;
  bool named =
      bytes[i] == '?' || (end > i + 1 && !isdigit((unsigned char)bytes[i + 1]));
  bool ends = end == n || !(is_word(bytes[end]) || bytes[end] == ':');
  return named && ends ? end - i : 0;
}

// The length of a directive of printf; 0: there is none.
static size_t directive(const char *p, size_t n) {
  size_t i = 1;
  while (i < n && strchr("-+ 0123456789.'$", p[i]) && p[i])
    i++;
  return i < n && p[i] && strchr("bcdeEfFgGosuxX%", p[i]) ? i + 1 : 0;
}

static void add_parts(Scan *s, const char *bytes, const uint32_t *lines,
                      size_t n) {
  size_t from = 0, found = 0;
  for (size_t i = 0; i < n; i++) {
    size_t d = bytes[i] == '%' ? directive(bytes + i, n - i)
               : bytes[i] == '?' || bytes[i] == ':' ? placeholder(bytes, i, n)
                                                    : 0;
    if (!d)
      continue;
    found++;
    add_literal(s, bytes + from, lines + from, i - from, lines[i]);
    if (i == from && s->literals.len > s->segment.literal)
      array_last(&s->literals).value = lines[i];
    i += d - 1;
    from = i + 1;
  }
  if (found)
    add_literal(s, bytes + from, lines + from, n - from, 0);
}

static void end_literal(Scan *s) {
  size_t n = s->bytes.len;
  if (n) {
    char *bytes = arena_alloc(s->arena, n);
    uint32_t *lines = arena_array(s->arena, uint32_t, n);
    memcpy(bytes, s->bytes.data, n);
    memcpy(lines, s->lines.items, n * sizeof *lines);
    add_literal(s, bytes, lines, n, 0);
    add_parts(s, bytes, lines, n);
  }
  str_clear(&s->bytes);
  s->lines.len = 0;
}

static int digit_of(char c) {
  return isdigit((unsigned char)c)    ? c - '0'
         : isxdigit((unsigned char)c) ? (c | 32) - 'a' + 10
                                      : 99;
}

// A number of at most `most` digits: the byte behind it.
static size_t number(const char *p, size_t n, int base, size_t most,
                     unsigned *out) {
  size_t i = 0;
  *out = 0;
  for (; i < n && i < most && digit_of(p[i]) < base; i++)
    *out = *out * (unsigned)base + (unsigned)digit_of(p[i]);
  return i;
}

static void add_character(Scan *s, unsigned c, uint32_t line) {
  if (c < 0x80) {
    add_byte(s, (char)c, line);
    return;
  }
  int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
  add_byte(s, (char)(lead[more] | c >> 6 * more), line);
  while (more--)
    add_byte(s, (char)(0x80 | (c >> 6 * more & 0x3f)), line);
}

// p[0] is a backslash: how many bytes it makes up with what follows it.
static size_t unescape(Scan *s, const char *p, size_t n, bool quoted,
                       uint32_t line) {
  static const char from[] = "ntrvef\\$", to[] = "\n\t\r\v\033\f\\$";
  const char *known = n > 1 && p[1] ? strchr(from, p[1]) : NULL;
  unsigned c;
  size_t used;
  if (known) {
    add_byte(s, to[known - from], line);
    return 2;
  }
  if (n > 1 && p[1] == '"' && quoted) {
    add_byte(s, '"', line);
    return 2;
  }
  if (n > 2 && (p[1] == 'x' || p[1] == 'X') &&
      (used = number(p + 2, n - 2, 16, 2, &c))) {
    add_byte(s, (char)c, line);
    return 2 + used;
  }
  if (n > 1 && (used = number(p + 1, n - 1, 8, 3, &c))) {
    add_byte(s, (char)c, line);
    return 1 + used;
  }
  if (n > 4 && p[1] == 'u' && p[2] == '{' &&
      (used = number(p + 3, n - 3, 16, 6, &c)) && 3 + used < n &&
      p[3 + used] == '}' && c <= 0x10ffff) {
    add_character(s, c, line);
    return 4 + used;
  }
  add_byte(s, '\\', line);
  return 1;
}

// Between ' and ': only these are escaped.
static size_t unescape_single(Scan *s, const char *p, size_t n, uint32_t line) {
  bool escaped = n > 1 && (p[1] == '\\' || p[1] == '\'');
  add_byte(s, escaped ? p[1] : '\\', line);
  return escaped ? 2 : 1;
}

// Bytes [from, to) of the script, as part of a string of this kind.
static void take_bytes(Scan *s, size_t from, size_t to, char kind) {
  for (size_t i = from; i < to;) {
    const char *p = s->text + i;
    uint32_t line = line_at(s, i);
    if (*p != '\\' || kind == 'N') {
      add_byte(s, *p, line);
      i++;
    } else if (kind == '\'') {
      i += unescape_single(s, p, to - i, line);
    } else {
      i += unescape(s, p, to - i, kind == '"', line);
    }
  }
}

static void take_heredoc(Scan *s, size_t i, const StringContext *c) {
  size_t at = s->tokens[i].offset, end = at + s->tokens[i].length;
  if (i + 1 == c->end && end > at && s->text[end - 1] == '\n')
    end -= end - at > 1 && s->text[end - 2] == '\r' ? 2 : 1;
  bool starts = s->text[at - 1] == '\n';
  while (at < end) {
    const char *newline = memchr(s->text + at, '\n', end - at);
    size_t next = newline ? (size_t)(newline - s->text) + 1 : end;
    for (uint32_t k = 0; starts && k < c->indent && at < next &&
                         (s->text[at] == ' ' || s->text[at] == '\t');
         k++)
      at++;
    take_bytes(s, at, next, c->kind);
    at = next;
    starts = true;
  }
}

static bool is_key(const Scan *s, size_t i) {
  if (i < 2 || !token_is(s, i - 1, "[") || !token_is(s, i + 1, "]"))
    return false;
  return s->tokens[i - 2].kind == TOKEN_VARIABLE ||
         s->tokens[i - 2].kind == TOKEN_NAME || token_is(s, i - 2, "]") ||
         token_is(s, i - 2, ")") || token_is(s, i - 2, "}");
}

static void take_string(Scan *s, size_t i) {
  size_t from = s->tokens[i].offset, to = from + s->tokens[i].length;
  while (from < to && s->text[from] != '"' && s->text[from] != '\'')
    from++; // b"..."
  if (is_key(s, i) || to - from < 2)
    return;
  take_bytes(s, from + 1, to - 1, s->text[from]);
  end_literal(s);
}

static void take_part(Scan *s, size_t i) {
  const StringContext *c = innermost(s);
  if (!c || c->kind == '`')
    return;
  if (c->kind == '"')
    take_bytes(s, s->tokens[i].offset,
               s->tokens[i].offset + s->tokens[i].length, '"');
  else
    take_heredoc(s, i, c);
  end_literal(s);
}

// --- tokens -----------------------------------------------------------------

// <<<X, <<<"X" or <<<'X' and a newline: what it is until its end.
static StringContext heredoc(const Scan *s, size_t i) {
  const char *p = strchr(token_text(s, i), '<') + 3,
             *end = token_text(s, i) + s->tokens[i].length;
  while (p < end && (*p == ' ' || *p == '\t'))
    p++;
  StringContext c = {.kind = p < end && *p == '\'' ? 'N' : 'H'};
  if (p < end && (*p == '\'' || *p == '"'))
    p++;
  size_t n = 0;
  while (p + n < end && (isalnum((unsigned char)p[n]) || p[n] == '_' ||
                         (unsigned char)p[n] >= 0x80))
    n++;
  for (c.end = i + 1; c.end < s->ntokens; c.end++) {
    size_t length = s->tokens[c.end].length;
    const char *text = token_text(s, c.end);
    size_t indent = 0;
    while (indent < length && (text[indent] == ' ' || text[indent] == '\t'))
      indent++;
    c.indent = (uint32_t)indent;
    if (s->tokens[c.end].kind == TOKEN_OTHER && length - indent == n &&
        !memcmp(text + indent, p, n))
      break;
  }
  return c;
}

// A token of a string, or one that begins or ends one.
static bool take_quote(Scan *s, size_t i) {
  StringContext *c = innermost(s);
  const char *text = token_text(s, i);
  size_t n = s->tokens[i].length;
  bool inside = c && !c->braces;
  if (inside && (c->kind == 'H' || c->kind == 'N') && i == c->end) {
    s->depth--;
  } else if (n > 3 &&
             !memcmp(text + (*text == 'b' || *text == 'B'), "<<<", 3)) {
    enter(s, heredoc(s, i));
  } else if (n <= 2 && (text[n - 1] == '"' || text[n - 1] == '`')) {
    if (inside && c->kind == text[n - 1])
      s->depth--;
    else
      enter(s, (StringContext){.kind = text[n - 1]});
  } else {
    return false;
  }
  return true;
}

// Braces of "{$a}" belong to their string.
static bool take_brace(Scan *s, size_t i) {
  StringContext *c = innermost(s);
  if (!c)
    return false;
  if (token_is(s, i, "{") || token_is(s, i, "${"))
    c->braces++;
  else if (token_is(s, i, "}") && c->braces)
    c->braces--;
  return true;
}

static bool ends_segment(const Scan *s, size_t i) {
  const char *text = token_text(s, i);
  size_t n = s->tokens[i].length;
  return token_is(s, i, ";") || token_is(s, i, "{") || token_is(s, i, "}") ||
         (n >= 2 && (!memcmp(text, "<?", 2) || !memcmp(text, "?>", 2)));
}

// In `if ($x) echo "a";` what is printed does not depend on the condition's
// values.
static bool begins_segment(const Scan *s, size_t i) {
  return token_is(s, i, "echo") || token_is(s, i, "print") ||
         token_is(s, i, "return");
}

static bool is_exit(const Scan *s, size_t i) {
  size_t n = s->tokens[i].length;
  const char *text = token_text(s, i);
  bool member = i && (token_is(s, i - 1, "->") || token_is(s, i - 1, "::") ||
                      token_is(s, i - 1, "?->"));
  return !member && ((n == 4 && !strncasecmp(text, "exit", n)) ||
                     (n == 3 && !strncasecmp(text, "die", n)));
}

// exit, exit() and exit(1) print nothing.
static void take_exit(Scan *s, size_t i) {
  s->exits = true;
  s->says |= token_is(s, i + 1, "(") && i + 2 < s->ntokens &&
             !token_is(s, i + 2, ")") && s->tokens[i + 2].kind != TOKEN_NUMBER;
}

static void take_token(Scan *s, size_t i) {
  const PhpToken *t = &s->tokens[i];
  uint32_t first = line_at(s, t->offset);
  if (t->kind == TOKEN_HTML) {
    end_segment(s);
    return;
  }
  if (t->kind == TOKEN_OTHER && t->length && !take_quote(s, i) &&
      !take_brace(s, i) && ends_segment(s, i)) {
    end_segment(s);
    s->opens_echo = token_is(s, i, "<?=");
    return;
  }
  if (!s->depth && begins_segment(s, i))
    end_segment(s);
  bool begins = !s->is_open;
  touch_segment(s, first, first);
  if (begins)
    s->segment.prints =
        s->opens_echo || token_is(s, i, "echo") || token_is(s, i, "print");
  s->opens_echo = false;
  if (!s->depth && is_exit(s, i))
    take_exit(s, i);
  if (t->kind == TOKEN_STRING)
    take_string(s, i);
  else if (t->kind == TOKEN_STRING_PART)
    take_part(s, i);
  else if (t->kind != TOKEN_OTHER)
    add_value(s, first);
  touch_segment(s, first, line_at(s, t->offset + t->length));
}

static void scan(const char *text, const PhpTokens *tokens, Arena *arena,
                 ScriptLiterals *out) {
  Scan *s = mem_new(Scan);
  s->text = text;
  s->tokens = tokens->items;
  s->ntokens = tokens->len;
  s->line = 1;
  s->arena = arena;
  for (size_t i = 0; i < s->ntokens; i++)
    take_token(s, i);
  end_segment(s);
  out->nliterals = s->literals.len;
  out->literals = arena_adopt(arena, &s->literals);
  out->nsegments = s->segments.len;
  out->segments = arena_adopt(arena, &s->segments);
  out->nexits = s->ends.len;
  out->exits = arena_adopt(arena, &s->ends);
  str_release(&s->bytes);
  array_release(&s->lines);
  free(s);
}

// --- the cache --------------------------------------------------------------

struct LiteralCache {
  char *maps;
  Hashmap index; // UnitId -> its number
  ARRAY(const ScriptLiterals *) scripts;
  Arena arena;
};

LiteralCache *literal_cache_new(const char *maps) {
  LiteralCache *c = mem_new(LiteralCache);
  c->maps = mem_strdup(maps);
  return c;
}

void literal_cache_free(LiteralCache *c) {
  if (!c)
    return;
  array_release(&c->scripts);
  hashmap_release(&c->index);
  arena_release(&c->arena);
  free(c->maps);
  free(c);
}

static int load(LiteralCache *c, const UnitId *id, Unit *unit,
                ScriptLiterals *out, Err *err) {
  Str text = {0};
  PhpTokens tokens = {0};
  if (php_unit_read(c->maps, id, unit, &c->arena, err))
    return -1;
  int rc = php_text_read(c->maps, unit->sources[0].hash, &text, &tokens, err);
  if (!rc) {
    scan(str_text(&text), &tokens, &c->arena, out);
    out->template = template_map_new(str_text(&text), &tokens, &c->arena);
  }
  array_release(&tokens);
  str_release(&text);
  return rc;
}

const ScriptLiterals *literals_of(LiteralCache *c, const UnitId *script) {
  Err ignored;
  uint64_t fresh = c->scripts.len;
  uint64_t i = hashmap_intern(&c->index, script, sizeof *script, fresh);
  if (i == fresh) {
    ScriptLiterals *l = arena_new(&c->arena, ScriptLiterals);
    Unit *unit = arena_new(&c->arena, Unit);
    l->unit = unit;
    bool good = !load(c, script, unit, l, &ignored);
    array_push(&c->scripts, good ? l : NULL);
  }
  return c->scripts.items[i];
}
