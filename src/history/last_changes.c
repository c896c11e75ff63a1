// When lines were last changed: see last_changes.h.
#include "history/last_changes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/array.h"
#include "util/fs.h"
#include "util/hashmap.h"
#include "util/mem.h"

enum { SHORT = 7, SUBJECT_MOST = 72 }; // letters, bytes

void last_changes_open(LastChanges *l, const char *dir) {
  const char *off = getenv("CULPRIT_HISTORY");
  Err ignored;
  *l = (LastChanges){0};
  l->there = dir && !(off && !strcmp(off, "0")) &&
             !repository_find(&l->repo, dir, &ignored);
}

void last_changes_close(LastChanges *l) { repository_release(&l->repo); }

// --- what git blame prints ---------------------------------------------------

// One commit: its lines come before the lines of the file it is blamed for, the
// first time it appears.
typedef struct {
  char oid[OID_SIZE];
  long long seconds;
  int zone; // minutes east
  char subject[SUBJECT_MOST + 4];
} BlamedCommit;

static bool take_number(const char *line, const char *key, long long *out) {
  size_t n = strlen(key);
  if (strncmp(line, key, n) != 0)
    return false;
  *out = strtoll(line + n, NULL, 10);
  return true;
}

// A long subject is cut in front of a character.
static void take_subject(BlamedCommit *c, const char *text, size_t n) {
  size_t size = n;
  if (n > SUBJECT_MOST)
    for (size = SUBJECT_MOST; size && (text[size] & 0xc0) == 0x80;)
      size--;
  memcpy(c->subject, text, size);
  strcpy(c->subject + size, size < n ? "..." : "");
}

static void take_fact(BlamedCommit *c, const char *line, size_t n) {
  long long zone;
  if (take_number(line, "committer-time ", &c->seconds))
    return;
  if (take_number(line, "committer-tz ", &zone))
    c->zone = (int)(zone / 100 * 60 + zone % 100);
  if (n > 8 && !strncmp(line, "summary ", 8))
    take_subject(c, line + 8, n - 8);
}

static char *sentence_of(const BlamedCommit *c, Arena *arena) {
  time_t at = (time_t)(c->seconds + c->zone * 60);
  struct tm day;
  char date[32] = "?";
  if (strspn(c->oid, "0") == strlen(c->oid))
    return arena_strdup(arena, "changed and not committed");
  if (gmtime_r(&at, &day))
    strftime(date, sizeof date, "%Y-%m-%d", &day);
  return arena_printf(arena, "last changed %s by %.*s '%s'", date, SHORT,
                      c->oid, c->subject);
}

// "OID 12 14 3": the commit, the line there, the line here.
static bool take_head(const char *line, char oid[OID_SIZE], uint32_t *here) {
  size_t n = strspn(line, "0123456789abcdef");
  if (n < 40 || n >= OID_SIZE || line[n] != ' ')
    return false;
  memcpy(oid, line, n);
  oid[n] = 0;
  char *end;
  strtoull(line + n, &end, 10);
  unsigned long long final = strtoull(end, &end, 10);
  *here = (uint32_t) final;
  return final > 0 && final < UINT32_MAX;
}

int blame_parse(const char *text, LineChanges *out, Arena *arena) {
  Hashmap commits = {0};
  ARRAY(BlamedCommit) list = {0};
  uint64_t at = 0;
  uint32_t here = 0;
  int rc = 0;
  for (const char *line = text; !rc && *line;) {
    size_t n = strcspn(line, "\n");
    char oid[OID_SIZE];
    if (*line == '\t' && here) {
      array_push(out, (LineChange){here, sentence_of(&list.items[at], arena)});
      here = 0;
    } else if (here) {
      take_fact(&list.items[at], line, n);
    } else if (take_head(line, oid, &here)) {
      at = hashmap_intern(&commits, oid, strlen(oid), list.len);
      if (at == list.len) {
        BlamedCommit c = {0};
        strcpy(c.oid, oid);
        array_push(&list, c);
      }
    } else {
      rc = -1;
    }
    line += n + (line[n] == '\n');
  }
  array_release(&list);
  hashmap_release(&commits);
  return rc;
}

// --- asking ------------------------------------------------------------------

// The lines (sorted or not, some twice) of a file.
static void ask(const LastChanges *l, const char *path, const uint32_t *lines,
                size_t n, LineChanges *out, Arena *arena) {
  Texts words = {0};
  Str text = {0};
  Err ignored;
  array_push(&words, "blame");
  array_push(&words, "--porcelain");
  for (size_t i = 0; i < n; i++) {
    array_push(&words, "-L");
    array_push(&words, arena_printf(arena, "%u,%u", lines[i], lines[i]));
  }
  array_push(&words, "--");
  array_push(&words, path);
  array_push(&words, NULL);
  if (!git_run(&l->repo, words.items, NULL, &text, &ignored))
    blame_parse(str_text(&text), out, arena);
  str_release(&text);
  array_release(&words);
}

static const char *path_in_repo(const LastChanges *l, const Suite *suite,
                                uint32_t source) {
  const char *path = suite->sources[source].path;
  return path_lies_in(path, l->repo.top) ? path_below(path, l->repo.top) : NULL;
}

static uint32_t line_shown(const Suite *suite, const Suspect *s) {
  return suspect_line(s, &suite->entities[s->entity]);
}

static void tell(Suspect *s, const LineChanges *changes, uint32_t line) {
  for (size_t i = 0; i < changes->len; i++)
    if (changes->items[i].line == line) {
      array_push(&s->evidence,
                 (Evidence){.kind = EVIDENCE_CHANGE,
                            .text = mem_strdup(changes->items[i].text)});
      return;
    }
}

// All suspects in the file of number `first`.
static void tell_file(const LastChanges *l, const Suite *suite, Ranking *r,
                      size_t first, size_t n) {
  uint32_t source = suite->entities[r->suspects.items[first].entity].source;
  const char *path = path_in_repo(l, suite, source);
  ARRAY(uint32_t) lines = {0};
  LineChanges changes = {0};
  Arena arena = {0};
  for (size_t i = first; path && i < n; i++) {
    const Suspect *s = &r->suspects.items[i];
    if (suite->entities[s->entity].source == source && line_shown(suite, s))
      array_push(&lines, line_shown(suite, s));
  }
  if (lines.len)
    ask(l, path, lines.items, lines.len, &changes, &arena);
  for (size_t i = first; changes.len && i < n; i++) {
    Suspect *s = &r->suspects.items[i];
    if (suite->entities[s->entity].source == source)
      tell(s, &changes, line_shown(suite, s));
  }
  array_release(&lines);
  array_release(&changes);
  arena_release(&arena);
}

void last_changes_tell(const LastChanges *l, const Suite *suite,
                       Ranking *ranking, size_t n) {
  n = n < ranking->suspects.len ? n : ranking->suspects.len;
  bool *done = l->there ? mem_array(bool, suite->nsources + 1) : NULL;
  for (size_t i = 0; done && i < n; i++) {
    uint32_t source = suite->entities[ranking->suspects.items[i].entity].source;
    if (source < suite->nsources && !done[source])
      tell_file(l, suite, ranking, i, n);
    if (source < suite->nsources)
      done[source] = true;
  }
  free(done);
}

char *last_change_of(const LastChanges *l, const Suite *suite, uint32_t source,
                     uint32_t line) {
  const char *path = l->there ? path_in_repo(l, suite, source) : NULL;
  LineChanges changes = {0};
  Arena arena = {0};
  if (path && line)
    ask(l, path, &line, 1, &changes, &arena);
  char *text = changes.len ? mem_strdup(changes.items[0].text) : NULL;
  array_release(&changes);
  arena_release(&arena);
  return text;
}
