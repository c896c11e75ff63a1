// Which tables a query reads and writes: see sql_tables.h.
#include "php/record/sql_tables.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>
#include <xxhash.h>

typedef struct {
  const char *text;
  size_t n;
} SqlWord;

static bool is_name(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '$' || (c & 0x80);
}

// Behind a text in these quotation marks.
static const char *skip_quoted(const char *at, char quote) {
  for (at++; *at && *at != quote; at++)
    if (*at == '\\' && at[1])
      at++;
  return *at ? at + 1 : at;
}

// Names, and what stands between them byte by byte; texts in single quotation
// marks are left out. False: the end.
static bool next_word(const char **at, SqlWord *w) {
  while (isspace((unsigned char)**at) || **at == '\'')
    *at = **at == '\'' ? skip_quoted(*at, '\'') : *at + 1;
  const char *from = *at;
  if (!*from)
    return false;
  if (*from == '`' || *from == '"') {
    *at = skip_quoted(from, *from);
    *w = (SqlWord){from + 1, (size_t)(*at - from - 1)};
    w->n -= w->n && w->text[w->n - 1] == *from;
    return true;
  }
  while (is_name(**at))
    ++*at;
  *at += *at == from;
  *w = (SqlWord){from, (size_t)(*at - from)};
  return true;
}

static bool is(const SqlWord *w, const char *text) {
  return w->n == strlen(text) && !strncasecmp(w->text, text, w->n);
}

static bool is_one_of(const SqlWord *w, const char *const *list) {
  for (; *list; list++)
    if (is(w, *list))
      return true;
  return false;
}

// The last part of db.table.
static uint64_t take_table(const char **at, SqlWord w) {
  const char *ahead = *at;
  SqlWord more;
  while (next_word(&ahead, &more) && is(&more, ".") &&
         next_word(&ahead, &more)) {
    w = more;
    *at = ahead;
  }
  return (uint64_t)1 << (XXH3_64bits(w.text, w.n) & 63);
}

// Words that may stand between the keyword and the name.
static bool is_filler(const SqlWord *w) {
  static const char *const fillers[] = {"if",     "exists", "not", "only",
                                        "ignore", "table",  "or",  NULL};
  return is_one_of(w, fillers);
}

// What the next name is; and how many words ago the last table was read.
typedef struct {
  bool reads, writes, deletes;
  unsigned since;
} Expected;

enum { ALIAS_WORDS = 2 }; // t AS x, u

static bool take_keyword(const SqlWord *w, Expected *e) {
  static const char *const readers[] = {"from", "join", NULL};
  static const char *const writers[] = {"into", "update", "table", NULL};
  bool next = is(w, ",") && e->since <= ALIAS_WORDS;
  if (is_one_of(w, readers) || next)
    e->reads = true;
  else if (is_one_of(w, writers))
    e->writes = true;
  else if (is(w, "delete"))
    e->deletes = true;
  else
    return is_filler(w);
  return true;
}

void sql_tables_add(SqlTables *t, const char *sql) {
  Expected e = {.since = ALIAS_WORDS + 1};
  SqlWord w;
  for (const char *at = sql; next_word(&at, &w);) {
    if (take_keyword(&w, &e))
      continue;
    bool named = (e.reads || e.writes) && is_name(*w.text);
    uint64_t table = named ? take_table(&at, w) : 0;
    t->written |= e.writes || e.deletes ? table : 0;
    t->read |= e.reads ? table : 0;
    e.since = named && e.reads ? 0 : e.since + 1;
    e.reads = e.writes = false;
    e.deletes &= !named;
  }
}
