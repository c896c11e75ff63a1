// Where a failure showed: see failed_check.h.
#include "locate/failed_check.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

enum {
  LINES_ABOVE = 5,        // a message may name any line of a statement
  COMMON_LEAST = 6,       // characters of a message that are no coincidence,
  LETTERS_LEAST = 4,      // letters among them
  CHECKS_MOST = 4,        // that the same text may stand at
  STATEMENTS_MOST = 1000, // whose text is compared
  MESSAGE_MOST = 200,     // characters that are
  SOURCE_MOST = 8 << 20,  // bytes of a file that is read
};

typedef struct {
  const Comparison *comparison;
  const Suite *suite;
  NumberList *out;
} CheckSearch;

static void add_check(CheckSearch *w, uint32_t statement) {
  for (size_t i = 0; i < w->out->len; i++)
    if (w->out->items[i] == statement)
      return;
  array_push(w->out, statement);
}

// --- by its place ------------------------------------------------------------

// Adds the statement at this line or the next one above it, in each of the
// sources of that name, if failing runs execute it.
static void add_place(CheckSearch *w, const char *file, uint32_t line) {
  const Suite *suite = w->suite;
  uint32_t *nearest = mem_array(uint32_t, suite->nsources + 1);
  bool *named = mem_array(bool, suite->nsources + 1);
  for (uint32_t i = 0; i < suite->nsources; i++)
    named[i] = suite_path_matches(suite, i, file);
  for (uint32_t i = 0; i < suite->nentities; i++) {
    const Entity *e = &suite->entities[i];
    if (e->kind != ENTITY_STATEMENT || !named[e->source] || e->line > line ||
        line - e->line > LINES_ABOVE)
      continue;
    uint32_t *at = &nearest[e->source];
    if (!*at || suite->entities[*at - 1].line < e->line)
      *at = i + 1;
  }
  for (size_t i = 0; i < suite->nsources; i++)
    if (nearest[i] && w->comparison->ef[nearest[i] - 1])
      add_check(w, nearest[i] - 1);
  free(nearest);
  free(named);
}

// Adds what "tests/list.c:218" names.
static void add_named(CheckSearch *w, const char *place) {
  const char *colon = strrchr(place, ':');
  if (!colon || colon == place)
    return;
  char *file = mem_printf("%.*s", (int)(colon - place), place);
  add_place(w, file, (uint32_t)strtoul(colon + 1, NULL, 10));
  free(file);
}

static bool is_path_char(char c) {
  return isalnum((unsigned char)c) || (c && strchr("_./+-", c));
}

// The places that a text names, "list.c:218" with a letter before the colon.
static void add_all_named(CheckSearch *w, const char *text) {
  for (const char *s = strchr(text, ':'); s; s = strchr(s + 1, ':')) {
    const char *begin = s;
    if (s == text || !isalpha((unsigned char)s[-1]) ||
        !isdigit((unsigned char)s[1]))
      continue;
    while (begin > text && is_path_char(begin[-1]))
      begin--;
    size_t n = 1 + strspn(s + 1, "0123456789");
    char *place = mem_printf("%.*s", (int)((size_t)(s - begin) + n), begin);
    add_named(w, place);
    free(place);
  }
}

static void add_deaths(CheckSearch *w, const Deaths *d, size_t failure) {
  for (size_t i = 0; d && i < d->items.len; i++) {
    const DeathAt *at = &d->items.items[i];
    if (!at->depth && death_of(w->suite, failure, at))
      add_place(w, w->suite->sources[at->source].path, at->line);
  }
}

// --- by its text -------------------------------------------------------------

// The length of the longest text that is in both.
static size_t common_length(const char *a, size_t n, const char *b, size_t m,
                            const char **where) {
  size_t best = 0, *row = mem_array(size_t, m + 1);
  for (size_t i = 0; i < n; i++)
    for (size_t k = m; k-- > 0;) {
      row[k + 1] = a[i] == b[k] ? row[k] + 1 : 0;
      if (row[k + 1] > best) {
        best = row[k + 1];
        *where = b + k + 1 - best;
      }
    }
  free(row);
  return best;
}

static size_t letters(const char *s, size_t n) {
  size_t found = 0;
  for (size_t i = 0; i < n; i++)
    found += isalpha((unsigned char)s[i]) != 0;
  return found;
}

// Is the position inside a string literal of the line?
static bool is_quoted(const char *line, const char *at) {
  bool inside = false;
  for (const char *s = line; s < at; s++) {
    if (*s == '\\' && inside)
      s++;
    else if (*s == '"')
      inside = !inside;
  }
  return inside;
}

// How much of the message stands on the line; of a program that is no test, in
// a literal.
static size_t tells(const char *message, const char *line, size_t n,
                    bool test) {
  const char *where = line;
  size_t size = strlen(message);
  if (size > MESSAGE_MOST)
    size = MESSAGE_MOST;
  size_t common = common_length(message, size, line, n, &where);
  if (common < COMMON_LEAST || letters(where, common) < LETTERS_LEAST)
    return 0;
  return test || is_quoted(line, where) ? common : 0;
}

// One source file: where its lines begin.
typedef struct {
  Str text;
  ARRAY(size_t) lines;
} SourceLines;

static void read_lines(SourceLines *s, const char *path) {
  Err ignored = {0};
  *s = (SourceLines){0};
  array_push(&s->lines, 0);
  if (fs_read_regular(path, SOURCE_MOST, &s->text, &ignored))
    return;
  for (size_t i = 0; i < s->text.len; i++)
    if (s->text.data[i] == '\n')
      array_push(&s->lines, i + 1);
  array_push(&s->lines, s->text.len);
}

static void release_lines(SourceLines *s) {
  str_release(&s->text);
  array_release(&s->lines);
}

typedef struct {
  size_t common; // length of the best
  NumberList statements;
} TextMatch;

static void take_match(TextMatch *m, uint32_t statement, size_t common) {
  if (common > m->common) {
    m->common = common;
    m->statements.len = 0;
  }
  if (common && common == m->common)
    array_push(&m->statements, statement);
}

static bool only_failing(const Comparison *c, uint32_t e) {
  return c->suite->entities[e].kind == ENTITY_STATEMENT && c->ef[e] &&
         !c->ep[e];
}

static void match_source(CheckSearch *w, uint32_t source, const char *message,
                         TextMatch *best) {
  const Suite *suite = w->suite;
  SourceLines lines;
  read_lines(&lines, suite->sources[source].path);
  for (uint32_t i = 0; i < suite->nentities; i++) {
    uint32_t line = suite->entities[i].line;
    if (suite->entities[i].source != source ||
        !only_failing(w->comparison, i) || line + 1 > lines.lines.len || !line)
      continue;
    size_t begin = lines.lines.items[line - 1], end = lines.lines.items[line];
    take_match(best, i,
               tells(message, str_text(&lines.text) + begin, end - begin,
                     suite->sources[source].test));
  }
  release_lines(&lines);
}

static void add_by_text(CheckSearch *w, const char *message) {
  const Suite *suite = w->suite;
  bool *wanted = mem_array(bool, suite->nsources + 1);
  size_t n = 0;
  for (uint32_t i = 0; i < suite->nentities; i++)
    if (only_failing(w->comparison, i)) {
      wanted[suite->entities[i].source] = true;
      n++;
    }
  TextMatch best = {0};
  for (uint32_t i = 0; n <= STATEMENTS_MOST && i < suite->nsources; i++)
    if (wanted[i])
      match_source(w, i, message, &best);
  if (best.statements.len <= CHECKS_MOST)
    for (size_t i = 0; i < best.statements.len; i++)
      add_check(w, best.statements.items[i]);
  array_release(&best.statements);
  free(wanted);
}

void failed_checks_find(const Comparison *c, const Deaths *deaths,
                        size_t failure, NumberList *out) {
  const FailureGroup *g = &c->suite->failures[failure];
  CheckSearch w = {c, c->suite, out};
  if (g->place)
    add_named(&w, g->place);
  add_deaths(&w, deaths, failure);
  if (!out->len && g->excerpt)
    add_all_named(&w, g->excerpt);
  if (!out->len && g->message)
    add_by_text(&w, g->message);
}
