// Where the bytes of a text stand in the source: see text_origin.h.
#include "oracle/text_origin.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/text_align.h"

enum {
  AROUND = 2048,      // bytes of the text looked at on both sides
  LEAST = 3,          // a literal shorter than this tells nothing
  SAME_MOST = 4,      // equal literals that are all named
  TEXT_MOST = 1 << 16 // bytes of a text whose literals are all looked for
};

typedef struct {
  const ScriptLiterals *literals;
  const uint32_t *lines; // of executed statements, ascending
  size_t nlines;
} ExecutedScript;

struct ExecutedText {
  LiteralCache *literals;
  const PhpRecord *record;
  ExecutedScript *scripts; // NULL: not looked at yet
  size_t nscripts;
  Arena *arena;
};

// --- what was executed ------------------------------------------------------

static int by_line(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

static ExecutedScript executed_script(const ScriptLiterals *l,
                                      const ScriptHits *hits, Arena *arena) {
  ExecutedScript s = {.literals = l};
  uint32_t *lines = arena_array(arena, uint32_t, hits->ncounts + 1);
  for (size_t i = 0; i < hits->ncounts; i++) {
    uint32_t e = hits->counts[i].entity;
    if (e < l->unit->nentities && l->unit->entities[e].kind == ENTITY_STATEMENT)
      lines[s.nlines++] = l->unit->entities[e].line;
  }
  qsort(lines, s.nlines, sizeof *lines, by_line);
  s.lines = lines;
  return s;
}

ExecutedText *executed_text(LiteralCache *literals, const PhpRecord *record,
                            Arena *arena) {
  ExecutedText *x = arena_new(arena, ExecutedText);
  *x = (ExecutedText){.literals = literals, .record = record, .arena = arena};
  return x;
}

// Most responses are good: nothing is looked at before it is asked for.
static void prepare(ExecutedText *x) {
  const PhpRecord *record = x->record;
  if (x->scripts || !x->literals || !record)
    return;
  x->scripts = arena_array(x->arena, ExecutedScript, record->nscripts + 1);
  for (size_t i = 0; i < record->nscripts; i++) {
    const ScriptLiterals *l =
        literals_of(x->literals, &record->scripts[i].unit);
    if (l)
      x->scripts[x->nscripts++] =
          executed_script(l, &record->scripts[i], x->arena);
  }
}

static const char *path_of(const ExecutedScript *s) {
  return s->literals->unit->sources[0].path;
}

void origin_template(ExecutedText *x, const char **file, uint32_t *line) {
  prepare(x);
  for (size_t i = 0; i < x->nscripts; i++) {
    const TemplateMap *t = x->scripts[i].literals->template;
    uint32_t found = template_line(t, *line);
    if (!found || strcmp(path_of(&x->scripts[i]), *file) != 0)
      continue;
    *file = t->path;
    *line = found;
    return;
  }
}

// The executed statement that a line of the segment belongs to: the nearest
// that is not behind it, else the first. 0: none was executed.
static uint32_t statement_of(const ExecutedScript *s, const ScriptSegment *g,
                             uint32_t line) {
  uint32_t found = 0;
  for (size_t i = 0; i < s->nlines; i++)
    if (s->lines[i] >= g->first && s->lines[i] <= g->last &&
        (!found || s->lines[i] <= line))
      found = s->lines[i];
  return found;
}

// --- functions, and the end ---------------------------------------------------

uint32_t executed_function(ExecutedText *x, const char *file, uint32_t line) {
  uint32_t function = ENTITY_NONE, nearest = 0;
  prepare(x);
  for (size_t i = 0; i < x->nscripts; i++) {
    const Unit *unit = x->scripts[i].literals->unit;
    if (strcmp(path_of(&x->scripts[i]), file) != 0)
      continue;
    for (size_t k = 0; k < unit->nentities; k++) {
      const Entity *e = &unit->entities[k];
      if (e->kind != ENTITY_STATEMENT || e->line > line || e->line < nearest)
        continue;
      nearest = e->line;
      function = e->function;
    }
  }
  return function;
}

ExecutedExit executed_exit(ExecutedText *x) {
  const PhpRecord *r = x->record;
  if (!r || !x->literals || r->last_script >= r->nscripts)
    return EXIT_NONE;
  const ScriptLiterals *l =
      literals_of(x->literals, &r->scripts[r->last_script].unit);
  if (!l || r->last_entity >= l->unit->nentities)
    return EXIT_NONE;
  uint32_t line = l->unit->entities[r->last_entity].line;
  ExecutedExit found = EXIT_NONE;
  for (size_t i = 0; i < l->nexits; i++) {
    const ScriptExit *e = &l->exits[i];
    if (line >= e->first && line <= e->last && found != EXIT_SAYS)
      found = e->says ? EXIT_SAYS : EXIT_SILENT;
  }
  return found;
}

// --- inside a statement -----------------------------------------------------

// All literals of the segments with this line in them.
static void add_segments(const ExecutedScript *s, uint32_t line,
                         AlignParts *parts) {
  const ScriptLiterals *l = s->literals;
  for (size_t i = 0; i < l->nsegments; i++) {
    const ScriptSegment *g = &l->segments[i];
    if (g->first > line || g->last < line)
      continue;
    if (!parts->value)
      parts->value = g->value;
    for (size_t k = 0; k < g->nliterals; k++)
      array_push(&parts->list, &l->literals[g->literal + k]);
  }
}

WrittenByte origin_in_statement(ExecutedText *x, const char *file,
                                uint32_t line, const char *text, size_t n,
                                size_t at) {
  AlignParts parts = {0};
  WrittenByte found = {.to = n};
  prepare(x);
  for (size_t i = 0; i < x->nscripts; i++)
    if (!strcmp(path_of(&x->scripts[i]), file))
      add_segments(&x->scripts[i], line, &parts);
  size_t from = at > AROUND ? at - AROUND : 0;
  size_t to = n - at > AROUND ? at + AROUND : n;
  parts.cut = from > 0;
  if (parts.list.len) {
    Aligned a = text_align(&parts, text + from, to - from, at - from);
    found = (WrittenByte){a.line, a.is_literal, from + a.from, from + a.to};
  }
  array_release(&parts.list);
  return found;
}

// --- among all that was executed --------------------------------------------

// Some of it is more than white space and punctuation.
static bool tells(const ScriptLiteral *l) {
  size_t letters = 0;
  for (size_t i = 0; i < l->length && letters < 2; i++)
    letters += isalnum((unsigned char)l->bytes[i]) || l->bytes[i] == '<';
  return l->length >= LEAST && letters == 2;
}

// One that the text holds.
typedef struct {
  const ExecutedScript *script;
  const ScriptLiteral *literal;
} HeldLiteral;
typedef ARRAY(HeldLiteral) HeldLiterals;

static void find_held(ExecutedText *x, const char *text, size_t n, bool printed,
                      HeldLiterals *out) {
  prepare(x);
  for (size_t i = 0; i < x->nscripts; i++) {
    const ExecutedScript *s = &x->scripts[i];
    for (size_t k = 0; k < s->literals->nliterals; k++) {
      const ScriptLiteral *l = &s->literals->literals[k];
      const ScriptSegment *g = &s->literals->segments[l->segment];
      if (!(printed && g->prints) && l->length <= n && tells(l) &&
          memmem(text, n, l->bytes, l->length) &&
          statement_of(s, g, l->lines[0]))
        array_push(out, (HeldLiteral){s, l});
    }
  }
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

// A literal that is one word, in the middle of another: 'student' is not what
// student_id was made of.
static bool cuts_word(const ScriptLiteral *l, const char *text, size_t n,
                      const char *at) {
  for (size_t i = 0; i < l->length; i++)
    if (!is_word(l->bytes[i]))
      return false;
  return (at > text && is_word(at[-1])) ||
         (at + l->length < text + n && is_word(at[l->length]));
}

// Where the literal lies in the text so that it holds byte `at`; n: nowhere.
static size_t lies_at(const ScriptLiteral *l, const char *text, size_t n,
                      size_t at) {
  size_t from = at >= l->length ? at - l->length + 1 : 0;
  size_t to = n - at > l->length ? at + l->length : n;
  const char *found = memmem(text + from, to - from, l->bytes, l->length);
  if (!found || (size_t)(found - text) > at || cuts_word(l, text, n, found))
    return n;
  return (size_t)(found - text);
}

static TextOrigin origin_at(const HeldLiteral *h, size_t from, size_t at) {
  const ScriptLiteral *l = h->literal;
  const ScriptSegment *g = &h->script->literals->segments[l->segment];
  uint32_t line = l->lines[at - from];
  return (TextOrigin){.file = path_of(h->script),
                      .line = line,
                      .statement = statement_of(h->script, g, line),
                      .from = from,
                      .to = from + l->length};
}

static bool is_named(const TextOrigins *list, size_t from,
                     const TextOrigin *o) {
  for (size_t i = from; i < list->len; i++)
    if (list->items[i].line == o->line && !strcmp(list->items[i].file, o->file))
      return true;
  return false;
}

static void add_longest(const HeldLiterals *held, const char *text, size_t n,
                        size_t at, TextOrigins *out) {
  size_t longest = 0, first = out->len;
  for (size_t i = 0; i < held->len; i++) {
    const HeldLiteral *h = &held->items[i];
    if (h->literal->length < longest)
      continue;
    size_t from = lies_at(h->literal, text, n, at);
    if (from == n)
      continue;
    if (h->literal->length > longest)
      out->len = first;
    longest = h->literal->length;
    TextOrigin o = origin_at(h, from, at);
    if (out->len - first < SAME_MOST && !is_named(out, first, &o))
      array_push(out, o);
  }
}

void origin_of_byte(ExecutedText *x, const char *text, size_t n, size_t at,
                    bool printed, TextOrigins *out) {
  HeldLiterals held = {0};
  size_t from = at > AROUND ? at - AROUND : 0, first = out->len;
  size_t to = n - at > AROUND ? at + AROUND : n;
  find_held(x, text + from, to - from, printed, &held);
  add_longest(&held, text + from, to - from, at - from, out);
  for (size_t i = first; i < out->len; i++) {
    out->items[i].from += from;
    out->items[i].to += from;
  }
  array_release(&held);
}

void origin_of_text(ExecutedText *x, const char *text, size_t n,
                    TextOrigins *out) {
  HeldLiterals held = {0};
  n = n < TEXT_MOST ? n : TEXT_MOST;
  find_held(x, text, n, false, &held);
  for (size_t at = 0; at < n && held.len;) {
    size_t before = out->len;
    add_longest(&held, text, n, at, out);
    at = out->len > before ? array_last(out).to : at + 1;
  }
  array_release(&held);
}
