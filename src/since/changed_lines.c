// Lines that were changed since a version: see changed_lines.h.
#include "since/changed_lines.h"

#include <stdlib.h>
#include <string.h>

#include "depend/steps.h"
#include "history/git.h"
#include "locate/listing.h"
#include "util/fs.h"
#include "util/mem.h"

// --- what changed ------------------------------------------------------------

static bool in_hunk(const Hunk *h, uint32_t line) {
  // Where lines were deleted: the lines on both sides.
  if (!h->count)
    return line == h->start || line + 1 == h->start;
  return line >= h->start && line < h->start + h->count;
}

static bool is_changed(const ChangedLines *c, const Entity *e) {
  for (size_t i = 0; i < c->of[e->source].len; i++)
    if (in_hunk(&c->of[e->source].items[i], e->line))
      return true;
  return false;
}

// The file as it is against the version, also if it had another name.
static int load_file(ChangedLines *c, const Repository *r, const char *ref,
                     const FileChange *f, uint32_t source, Err *err) {
  Str text = {0};
  bool binary;
  const char *words[] = {"diff",
                         "-U0",
                         "-M",
                         "--no-color",
                         "--no-ext-diff",
                         "--no-textconv",
                         ref,
                         "--",
                         f->old_path,
                         strcmp(f->old_path, f->path) ? f->path : NULL,
                         NULL};
  int rc = git_run(r, words, NULL, &text, err);
  if (!rc && hunks_parse(str_text(&text), text.len, &c->of[source], &binary,
                         &c->arena))
    rc = err_set(err, "git diff: cannot be understood");
  c->nhunks += c->of[source].len;
  str_release(&text);
  return rc;
}

static const FileChange *find_change(const FileChanges *files,
                                     const char *path) {
  for (size_t i = 0; i < files->len; i++)
    if (!strcmp(files->items[i].path, path))
      return &files->items[i];
  return NULL;
}

static int load_files(ChangedLines *c, const Repository *r, const char *ref,
                      Err *err) {
  FileChanges files = {0};
  Str text = {0};
  const char *words[] = {
      "diff",          "--raw",         "-z", "-M", "--no-abbrev",
      "--no-ext-diff", "--no-textconv", ref,  "--", NULL};
  int rc = git_run(r, words, NULL, &text, err);
  if (!rc && text.len && changes_parse(text.data, text.len, &files, &c->arena))
    rc = err_set(err, "git diff: cannot be understood");
  for (uint32_t i = 0; !rc && i < c->suite->nsources; i++) {
    const char *path = c->suite->sources[i].path;
    const FileChange *f = path_lies_in(path, r->top)
                              ? find_change(&files, path_below(path, r->top))
                              : NULL;
    if (f && entry_is_text(&f->now))
      rc = load_file(c, r, ref, f, i, err);
  }
  array_release(&files);
  str_release(&text);
  return rc;
}

// --- what depends on it ------------------------------------------------------

static bool uses_changed(const ChangedLines *c, const Dependences *d,
                         uint32_t statement) {
  for (uint32_t i = d->first_pair[statement]; i < d->first_pair[statement + 1];
       i++)
    if (c->classes[c->suite->entities[d->pairs[i]].from] == LINE_CHANGED)
      return true;
  return false;
}

static bool is_decided_by_changed(const ChangedLines *c, const Dependences *d,
                                  uint32_t statement) {
  const NumberList *blocks = &d->blocks[statement];
  for (size_t i = 0; i < blocks->len; i++) {
    const NumberList *by = &d->deciders.of[blocks->items[i]];
    for (size_t k = 0; k < by->len; k++) {
      const NumberList *conditions = &d->conditions[by->items[k]];
      for (size_t m = 0; m < conditions->len; m++)
        if (c->classes[conditions->items[m]] == LINE_CHANGED)
          return true;
    }
  }
  return false;
}

static void find_classes(ChangedLines *c) {
  Dependences d;
  size_t n = c->suite->nentities;
  c->classes = mem_array(unsigned char, n + 1);
  for (size_t i = 0; i < n; i++)
    c->classes[i] =
        is_changed(c, &c->suite->entities[i]) ? LINE_CHANGED : LINE_OTHER;
  dependences_find(&d, c->suite);
  for (uint32_t i = 0; i < n; i++)
    if (c->suite->entities[i].kind == ENTITY_STATEMENT &&
        c->classes[i] == LINE_OTHER &&
        (uses_changed(c, &d, i) || is_decided_by_changed(c, &d, i)))
      c->classes[i] = LINE_DEPENDS;
  dependences_release(&d);
}

int changed_lines_load(ChangedLines *c, const Suite *suite, const char *ref,
                       Err *err) {
  Repository repo;
  char oid[OID_SIZE];
  *c = (ChangedLines){.suite = suite,
                      .since = mem_strdup(ref),
                      .of = mem_array(Hunks, suite->nsources + 1)};
  if (repository_find(&repo, suite->cwd, err))
    return err_prefix(err, "--since %s: %s", ref, suite->cwd);
  char *commit = mem_printf("%s^{commit}", ref);
  int rc = git_object(&repo, commit, oid, err);
  free(commit);
  if (rc)
    err_set(err, "--since: '%s' names no commit of %s", ref, repo.top);
  rc = rc ? rc : load_files(c, &repo, oid, err);
  if (!rc)
    find_classes(c);
  repository_release(&repo);
  return rc;
}

void changed_lines_release(ChangedLines *c) {
  for (size_t i = 0; c->of && i < c->suite->nsources; i++)
    array_release(&c->of[i]);
  free(c->of);
  free(c->classes);
  free(c->since);
  arena_release(&c->arena);
  *c = (ChangedLines){0};
}

// --- a ranking ---------------------------------------------------------------

LineClass changed_lines_class(const ChangedLines *c, const Suspect *s) {
  return (LineClass)c->classes[s->entity];
}

// Those of the class, behind those that are in place. Ties stay ties.
static size_t move_class(const ChangedLines *c, LineClass class,
                         const Suspect *from, size_t n, uint32_t before,
                         Suspect *to, size_t placed) {
  for (size_t i = 0; i < n;) {
    size_t end = i, first = placed;
    while (end < n && from[end].rank == from[i].rank)
      end++;
    for (size_t k = i; k < end; k++)
      if (changed_lines_class(c, &from[k]) == class)
        to[placed++] = from[k];
    for (size_t k = first; k < placed; k++) {
      to[k].rank_best = before + (uint32_t)first + 1;
      to[k].rank = before + (uint32_t)placed;
    }
    i = end;
  }
  return placed;
}

static void order_equals(const ChangedLines *c, Suspect *s, size_t n,
                         uint32_t before) {
  Suspect *from = mem_dup(s, n * sizeof *s);
  size_t placed = 0;
  for (LineClass class = LINE_CHANGED; class <= LINE_OTHER; class ++)
    placed = move_class(c, class, from, n, before, s, placed);
  free(from);
}

static bool is_executed(const Ranking *r, const Suite *suite, uint32_t source,
                        const Hunk *h) {
  for (size_t i = 0; i < r->suspects.len; i++) {
    const Suspect *s = &r->suspects.items[i];
    const Entity *e = &suite->entities[s->entity];
    if (s->ef && e->source == source && in_hunk(h, e->line))
      return true;
  }
  return false;
}

static void note_hunks(const ChangedLines *c, Ranking *r) {
  size_t executed = 0;
  for (uint32_t i = 0; i < c->suite->nsources; i++)
    for (size_t k = 0; k < c->of[i].len; k++)
      executed += is_executed(r, c->suite, i, &c->of[i].items[k]);
  ranking_note(r, EVIDENCE_SINCE,
               mem_printf("failing tests execute %zu of the %zu hunk%s changed "
                          "since %s",
                          executed, c->nhunks, plural(c->nhunks), c->since));
}

static void tell_class(const ChangedLines *c, Suspect *s) {
  static const char *const words[] = {[LINE_CHANGED] = "changed since",
                                      [LINE_DEPENDS] =
                                          "depends on a line changed since"};
  LineClass class = changed_lines_class(c, s);
  if (class != LINE_OTHER)
    suspect_note(s, EVIDENCE_SINCE,
                 mem_printf("%s %s", words[class], c->since));
}

void changed_lines_apply(const ChangedLines *c, Ranking *r) {
  size_t n = r->suspects.len;
  for (size_t i = 0; i < n;) {
    size_t end = i + 1;
    const Suspect *first = &r->suspects.items[i];
    while (end < n && score_same(r->suspects.items[end].score, first->score) &&
           r->suspects.items[end].test == first->test)
      end++;
    order_equals(c, &r->suspects.items[i], end - i, (uint32_t)i);
    i = end;
  }
  for (size_t i = 0; i < n; i++)
    tell_class(c, &r->suspects.items[i]);
  if (n)
    note_hunks(c, r);
}
