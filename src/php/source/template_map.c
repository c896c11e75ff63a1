// Which line of which template a compiled script came from: see
// template_map.h.
#include "php/source/template_map.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "php/record/php_record.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

enum { TEMPLATE_MOST = 16 << 20 };

// --- engines ----------------------------------------------------------------

typedef enum {
  TEXT_MARKED, // every text follows the mark of its line
  TEXT_HTML,   // outside of <?php ?>
  TEXT_ECHOED, // in strings behind `echo`
} TextKind;

// How the scripts of an engine look.
typedef struct {
  const char *sign;          // stands in every one of them
  const char *before, *last; // what the template's path is between: behind the
  const char *after;         // last `last` before `after`, if that is given
  const char *mark;          // before the number of a line; NULL: there is none
  const char *begins, *ends; // where the template does; NULL: with the script
  const char *tag, *value; // before the word of a tag, as `if`; before a value
  TextKind text;
} Engine;

static const Engine engines[] = {
    // Twig
    {.sign = "class __TwigTemplate_",
     .before = "new Source(",
     .last = "\", \"",
     .after = "\");",
     .mark = "// line ",
     .ends = "public function getTemplateName()",
     .text = TEXT_MARKED},
    // Smarty 3 and 4
    {.sign = "/* Smarty version ",
     .before = "\n  from '",
     .after = "' */",
     .begins = "function content_",
     .tag = "{",
     .value = "{$",
     .text = TEXT_HTML},
    {.sign = "/* Smarty version ",
     .before = "\n  from \"",
     .after = "\" */",
     .begins = "function content_",
     .tag = "{",
     .value = "{$",
     .text = TEXT_HTML},
    // Blade
    {.sign = " ENDPATH**/",
     .before = "/**PATH ",
     .after = " ENDPATH**/",
     .tag = "@",
     .value = "{{",
     .text = TEXT_HTML},
    // Latte 2, Latte 3
    {.sign = "extends Latte\\Runtime\\Template",
     .before = "// source: ",
     .after = "\n",
     .mark = "/* line ",
     .begins = "public function main(",
     .text = TEXT_ECHOED},
    {.sign = "extends Latte\\Runtime\\Template",
     .before = "/** source: ",
     .after = " */",
     .mark = "/* line ",
     .begins = "public function main(",
     .text = TEXT_ECHOED},
};

// The last place of `what` in [from, to); NULL: there is none.
static const char *find_last(const char *from, const char *to,
                             const char *what) {
  const char *found = NULL;
  size_t n = strlen(what);
  for (const char *at = from;
       (at = memmem(at, (size_t)(to - at), what, n)) != NULL; at++)
    found = at;
  return found;
}

// NULL: the script names no template, or not by an absolute path.
static char *path_in(const Engine *e, const char *text) {
  const char *from = strstr(text, e->before);
  const char *to = from ? strstr(from + strlen(e->before), e->after) : NULL;
  if (!to)
    return NULL;
  from += strlen(e->before);
  if (e->last) {
    const char *last = find_last(from, to, e->last);
    from = last ? last + strlen(e->last) : to;
  }
  return *from == '/' ? mem_printf("%.*s", (int)(to - from), from) : NULL;
}

static const Engine *find_engine(const char *text, char **path) {
  for (size_t i = 0; i < sizeof engines / sizeof *engines; i++)
    if (strstr(text, engines[i].sign) &&
        (*path = path_in(&engines[i], text)) != NULL)
      return &engines[i];
  return NULL;
}

// --- lines ------------------------------------------------------------------

typedef struct {
  const Engine *engine;
  const char *text;     // of the script
  size_t counted;       // bytes of it whose newlines are
  uint32_t script_line; // the line there
  const char *template; // NULL: it cannot be read, or need not be
  size_t size, at;      // of the template: all before `at` was found
  size_t gap;           // where the next text begins, as far as is known
  uint32_t line;        // there; 0: not known yet
  const char *mark;     // the next one
  uint32_t *lines;      // that are made
  uint32_t nlines;
} TemplateScan;

static uint32_t count_lines(const char *text, size_t n) {
  uint32_t lines = 0;
  for (size_t i = 0; i < n; i++)
    lines += text[i] == '\n';
  return lines;
}

static void set_line(TemplateScan *s, uint32_t line) {
  if (line < s->nlines && !s->lines[line])
    s->lines[line] = s->line;
}

static size_t start_of(const char *text, uint32_t line) {
  const char *at = text;
  for (const char *next; line > 1 && (next = strchr(at, '\n')); line--)
    at = next + 1;
  return (size_t)(at - text);
}

// All marks before this byte of the script.
static void take_marks(TemplateScan *s, size_t offset) {
  const char *mark = s->engine->mark;
  while (s->mark && s->mark < s->text + offset) {
    const char *number = s->mark + strlen(mark);
    if (isdigit((unsigned char)*number)) {
      s->line = (uint32_t)strtoul(number, NULL, 10);
      if (s->template)
        s->at = start_of(s->template, s->line);
    }
    s->mark = strstr(number, mark);
  }
}

static void go_to(TemplateScan *s, const char *found) {
  const char *t = s->template;
  size_t at = (size_t)(found - t);
  s->line = at < s->at ? 1 + count_lines(t, at)
                       : s->line + count_lines(t + s->at, at - s->at);
  s->at = at;
}

// A line of text, its newline included, is searched behind what was found
// before; a block may be compiled before what surrounds it. Returns how many of
// its bytes the template has there.
static size_t find_text(TemplateScan *s, const char *text, size_t n) {
  const char *t = s->template;
  size_t rest = s->size - s->at, less = n - (n > 1 && text[n - 1] == '\n');
  const char *found = memmem(t + s->at, rest, text, n);
  if (!found)
    found = memmem(t + s->at, rest, text, n = less);
  if (!found)
    found = memmem(t, s->size, text, n);
  if (!found)
    return 0;
  go_to(s, found);
  return n;
}

static void take_line(TemplateScan *s, const char *text, size_t n,
                      uint32_t line) {
  size_t found = s->template ? find_text(s, text, n) : n;
  set_line(s, line);
  s->at += s->template ? found : 0;
  if (s->line)
    s->line += count_lines(text, found);
}

// A text of the template that stands in the script from this line on.
static void take_text(TemplateScan *s, const char *text, size_t n,
                      uint32_t line) {
  while (n) {
    const char *end = memchr(text, '\n', n);
    size_t part = end ? (size_t)(end - text) + 1 : n;
    take_line(s, text, part, line);
    line += end != NULL;
    text += part;
    n -= part;
  }
}

static bool is_echo(const TemplateScan *s, const PhpToken *t) {
  return t->length == 4 && !memcmp(s->text + t->offset, "echo", 4);
}

// `before`: the token before it, or NULL.
static bool is_text(const TemplateScan *s, const PhpToken *t,
                    const PhpToken *before) {
  bool is_string = t->kind == TOKEN_STRING || t->kind == TOKEN_STRING_PART;
  switch (s->engine->text) {
  case TEXT_HTML:
    return t->kind == TOKEN_HTML;
  case TEXT_ECHOED:
    return is_string && before && is_echo(s, before);
  default:
    return is_string;
  }
}

// `if` in the script is `{if` or `@if` in the template, before the next text.
static bool find_tag(TemplateScan *s, const PhpToken *t) {
  const Engine *e = s->engine;
  const char *word = s->text + t->offset;
  if (!s->template || !e->tag || t->length < 2 ||
      !islower((unsigned char)*word) || s->gap <= s->at)
    return false;
  char *tag = is_echo(s, t)
                  ? mem_strdup(e->value)
                  : mem_printf("%s%.*s", e->tag, (int)t->length, word);
  const char *found =
      memmem(s->template + s->at, s->gap - s->at, tag, strlen(tag));
  if (found)
    go_to(s, found);
  free(tag);
  return found != NULL;
}

// Where the first text from this token on begins that is more than white space.
static void find_gap(TemplateScan *s, const PhpToken *t, const PhpToken *end) {
  s->gap = s->size;
  for (; s->template && s->engine->tag && t < end; t++) {
    const char *text = s->text + t->offset;
    size_t n = t->length;
    for (; n && isspace((unsigned char)*text); n--)
      text++;
    if (t->kind != TOKEN_HTML || !n)
      continue;
    const char *last = memchr(text, '\n', n);
    const char *found = memmem(s->template + s->at, s->size - s->at, text,
                               last ? (size_t)(last - text) : n);
    if (found)
      s->gap = (size_t)(found - s->template);
    return;
  }
}

static void take_token(TemplateScan *s, const PhpToken *t,
                       const PhpToken *before) {
  const char *text = s->text + t->offset;
  size_t n = t->length;
  s->script_line += count_lines(s->text + s->counted, t->offset - s->counted);
  s->counted = t->offset;
  take_marks(s, t->offset);
  if (!is_text(s, t, before)) {
    if (find_tag(s, t) && s->script_line < s->nlines)
      s->lines[s->script_line] = 0; // it says more than what comes before it
    set_line(s, s->script_line);
    return;
  }
  if (t->kind == TOKEN_STRING && n >= 2) { // without its quotes
    text++;
    n -= 2;
  }
  take_text(s, text, n, s->script_line);
}

static void scan_tokens(TemplateScan *s, const PhpTokens *tokens) {
  const Engine *e = s->engine;
  const char *begins = e->begins ? strstr(s->text, e->begins) : s->text;
  const char *ends = e->ends ? strstr(s->text, e->ends) : NULL;
  for (size_t i = 0; begins && i < tokens->len; i++) {
    const char *at = s->text + tokens->items[i].offset;
    if (at < begins || (ends && at >= ends))
      continue;
    const PhpToken *t = &tokens->items[i];
    take_token(s, t, i ? t - 1 : NULL);
    if (t->kind == TOKEN_HTML || !s->gap)
      find_gap(s, t + 1, tokens->items + tokens->len);
  }
}

const TemplateMap *template_map_new(const char *text, const PhpTokens *tokens,
                                    Arena *arena) {
  char *path = NULL;
  const Engine *e = find_engine(text, &path);
  if (!e)
    return NULL;
  Str template = {0};
  Err ignored;
  TemplateScan s = {.engine = e,
                    .text = text,
                    .mark = e->mark ? strstr(text, e->mark) : NULL,
                    .nlines = count_lines(text, strlen(text)) + 2};
  if (e->text != TEXT_MARKED &&
      !fs_read_regular(path, TEMPLATE_MOST, &template, &ignored))
    s.template = str_text(&template);
  s.size = template.len;
  s.script_line = 1;
  s.line = s.template ? 1 : 0;
  s.lines = arena_array(arena, uint32_t, s.nlines);
  if (s.template || e->mark)
    scan_tokens(&s, tokens);
  TemplateMap *m = arena_new(arena, TemplateMap);
  *m = (TemplateMap){arena_strdup(arena, path), s.lines, s.nlines};
  str_release(&template);
  free(path);
  return m;
}

uint32_t template_line(const TemplateMap *m, uint32_t line) {
  return m && line < m->nlines ? m->lines[line] : 0;
}

// --- units ------------------------------------------------------------------

static uint64_t hash_of(const char *path) {
  Str text = {0};
  Err ignored;
  uint64_t hash = 0;
  if (!fs_read_regular(path, TEMPLATE_MOST, &text, &ignored))
    hash = XXH3_64bits(str_text(&text), text.len);
  str_release(&text);
  return hash;
}

static void move_entity(Entity *e, const TemplateMap *m, const char *script,
                        uint32_t source, Arena *arena) {
  uint32_t line = template_line(m, e->line);
  if (!line || e->kind == ENTITY_FUNCTION)
    return;
  if (e->kind == ENTITY_STATEMENT)
    e->text = arena_printf(arena, "%s:%u", script, e->line);
  e->source = source;
  e->line = line;
}

static void move_unit(Unit *u, const TemplateMap *m, Arena *arena) {
  uint32_t n = (uint32_t)u->nsources;
  Source *sources = arena_array(arena, Source, n + 1);
  memcpy(sources, u->sources, n * sizeof *sources);
  sources[0].hash = 0;
  sources[n] = (Source){.path = m->path, .hash = hash_of(m->path)};
  for (size_t i = 0; i < u->nentities; i++)
    move_entity(&u->entities[i], m, sources[0].path, n, arena);
  u->sources = sources;
  u->nsources = n + 1;
}

int template_unit_read(const char *maps, const UnitId *id, Unit *out,
                       Arena *arena, Err *err) {
  Str text = {0};
  PhpTokens tokens = {0};
  Err ignored;
  if (php_unit_read(maps, id, out, arena, err))
    return -1;
  if (!php_text_read(maps, out->sources[0].hash, &text, &tokens, &ignored)) {
    const TemplateMap *m = template_map_new(str_text(&text), &tokens, arena);
    if (m)
      move_unit(out, m, arena);
  }
  array_release(&tokens);
  str_release(&text);
  return 0;
}
