// Which hunks of a change break the tests: see taken_back.h.
#include "since/taken_back.h"

#include <stdlib.h>
#include <string.h>

#include "util/ddmin.h"
#include "util/mem.h"

// --- the hunks ---------------------------------------------------------------

// Where the files of the change are now, and which lines of theirs moved.
typedef struct {
  TakenBack *back;
  FileChanges later;
  const char *path;
  VersionFile now;
  Hunks moved;
  bool gone, binary;
} Moves;

static void find_now(Moves *m, const FileChange *f) {
  m->path = f->path;
  m->now = f->now;
  m->gone = false;
  for (size_t i = 0; i < m->later.len; i++)
    if (!strcmp(m->later.items[i].old_path, f->path)) {
      m->gone = m->later.items[i].status == 'D';
      m->now = m->later.items[i].now;
      m->path = m->later.items[i].path;
      return;
    }
}

static int find_moved(Moves *m, const FileChange *f, Err *err) {
  find_now(m, f);
  m->moved.len = 0;
  m->binary = false;
  if (m->gone || !entry_is_text(&m->now) || !strcmp(m->now.oid, f->now.oid))
    return 0;
  return hunks_between(&m->back->search->checkout->repo, f->now.oid, m->now.oid,
                       &m->moved, &m->binary, &m->back->arena, err);
}

static ChangeHunk *add_hunk(const Moves *m, const FileChange *f) {
  ChangeHunk h = {.path = m->path,
                  .made_path = f->path,
                  .old_path = f->old_path,
                  .line = 1,
                  .old = f->old,
                  .made = f->now,
                  .now = m->now};
  array_push(&m->back->hunks, h);
  return &array_last(&m->back->hunks);
}

static void add_whole(const Moves *m, const FileChange *f) {
  ChangeHunk *h = add_hunk(m, f);
  h->whole = true;
  h->movable = !m->gone && !strcmp(m->now.oid, f->now.oid) &&
               !strcmp(m->now.mode, f->now.mode);
  h->hunk.declaration = "";
}

static void add_lines(const Moves *m, const FileChange *f, const Hunks *lines) {
  for (size_t i = 0; i < lines->len; i++) {
    ChangeHunk *h = add_hunk(m, f);
    h->hunk = lines->items[i];
    h->lines = h->hunk.count;
    h->line = h->hunk.start;
    h->movable = !m->gone && !m->binary &&
                 hunks_map(&m->moved, h->hunk.start, h->hunk.count, &h->line);
  }
}

static int add_file(Moves *m, const FileChange *f, Err *err) {
  Hunks lines = {0};
  TakenBack *b = m->back;
  bool binary = false, texts = entry_is_text(&f->old) && entry_is_text(&f->now);
  if (entry_is_submodule(&f->old) || entry_is_submodule(&f->now)) {
    b->submodules = true;
    return 0;
  }
  int rc = find_moved(m, f, err);
  if (!rc && texts)
    rc = hunks_between(&b->search->checkout->repo, f->old.oid, f->now.oid,
                       &lines, &binary, &b->arena, err);
  if (!rc && commits_is_test(b->search, f->path))
    b->in_tests += lines.len ? lines.len : 1;
  else if (!rc && lines.len)
    add_lines(m, f, &lines);
  else if (!rc && f->status != 'R' && f->status != 'C')
    add_whole(m, f);
  array_release(&lines);
  return rc;
}

static void group_hunks(ChangeHunks *list) {
  for (size_t i = 0; i < list->len; i++) {
    ChangeHunk *h = &list->items[i];
    h->group = i;
    for (size_t k = 0; k < i && h->group == i && !h->whole; k++) {
      const ChangeHunk *other = &list->items[k];
      if (*h->hunk.declaration && !strcmp(h->path, other->path) &&
          !strcmp(h->hunk.declaration, other->hunk.declaration))
        h->group = other->group;
    }
  }
}

static int by_suspicion(const void *a, const void *b) {
  const ChangeHunk *x = a, *y = b;
  return (x->suspicion < y->suspicion) - (x->suspicion > y->suspicion);
}

static void order_hunks(TakenBack *b) {
  for (size_t i = 0; i < b->hunks.len; i++) {
    ChangeHunk *h = &b->hunks.items[i];
    b->later += !h->movable;
    uint32_t lines = h->whole ? UINT32_MAX / 2 : h->lines;
    h->suspicion =
        b->suspicion ? b->suspicion(b->context, h->path, h->line, lines) : 0;
    // Of what is equal, the order of the change.
    h->suspicion -= 1e-9 * (double)i;
  }
  qsort(b->hunks.items, b->hunks.len, sizeof *b->hunks.items, by_suspicion);
  group_hunks(&b->hunks);
}

int taken_back_list(TakenBack *b, const char *from, const char *to, Err *err) {
  Moves m = {.back = b};
  FileChanges files = {0};
  Checkout *c = b->search->checkout;
  int rc =
      changes_list(&c->repo, from, to, true, &files, &b->arena, err) ||
              changes_list(&c->repo, to, c->now, true, &m.later, &b->arena, err)
          ? -1
          : 0;
  for (size_t i = 0; !rc && i < files.len; i++)
    rc = add_file(&m, &files.items[i], err);
  order_hunks(b);
  array_release(&files);
  array_release(&m.later);
  array_release(&m.moved);
  return rc;
}

void taken_back_release(TakenBack *b) {
  array_release(&b->hunks);
  arena_release(&b->arena);
}

// --- trees without them ------------------------------------------------------

// The lines of a text from `start` on.
static void add_text_lines(Str *out, const Str *text, const LineStarts *at,
                           uint32_t start, uint32_t count) {
  size_t nlines = at->len ? at->len - 1 : 0;
  size_t first = start - 1 < nlines ? start - 1 : nlines;
  size_t last = first + count < nlines ? first + count : nlines;
  if (last <= first)
    return;
  if (out->len && out->data[out->len - 1] != '\n')
    str_addc(out, '\n');
  str_addn(out, text->data + at->items[first],
           at->items[last] - at->items[first]);
}

typedef struct {
  Str text;
  LineStarts at;
} LinedText;

static int lines_read(LinedText *l, const Repository *r, const char *oid,
                      Err *err) {
  *l = (LinedText){0};
  if (blob_read(r, oid, &l->text, err))
    return -1;
  line_starts(str_text(&l->text), l->text.len, &l->at);
  return 0;
}

static void lines_release(LinedText *l) {
  str_release(&l->text);
  array_release(&l->at);
}

static uint32_t line_of(const TakenBack *b, const ChangeHunk *h) {
  return b->on_commit ? h->hunk.start : h->line;
}

// The file of `first` with all chosen hunks of it taken back, in line order.
static int without_lines(TakenBack *b, const ChangeHunk *const *chosen,
                         size_t n, VersionFile *out, Err *err) {
  Checkout *c = b->search->checkout;
  const VersionFile *from = b->on_commit ? &chosen[0]->made : &chosen[0]->now;
  LinedText now, old;
  Str text = {0};
  uint32_t next = 1;
  if (lines_read(&now, &c->repo, from->oid, err))
    return -1;
  int rc = lines_read(&old, &c->repo, chosen[0]->old.oid, err);
  for (size_t i = 0; !rc && i < n; i++) {
    const Hunk *h = &chosen[i]->hunk;
    uint32_t line = line_of(b, chosen[i]);
    add_text_lines(&text, &now.text, &now.at, next, line - next);
    add_text_lines(&text, &old.text, &old.at, h->old_start, h->old_count);
    next = line + h->count;
  }
  if (!rc)
    add_text_lines(&text, &now.text, &now.at, next, UINT32_MAX / 2);
  if (!rc) {
    *out = *from;
    rc = checkout_keep(c, str_text(&text), text.len, out->oid, err);
  }
  str_release(&text);
  lines_release(&now);
  lines_release(&old);
  return rc;
}

// Of one file of the change, in line order.
static int by_line(const void *a, const void *b) {
  const ChangeHunk *x = *(const ChangeHunk *const *)a;
  const ChangeHunk *y = *(const ChangeHunk *const *)b;
  int order = strcmp(x->made_path, y->made_path);
  return order ? order
               : (x->hunk.start > y->hunk.start) -
                     (x->hunk.start < y->hunk.start);
}

static int add_edits(TakenBack *b, const ChangeHunk *const *list, size_t n,
                     TreeEdits *out, Err *err) {
  for (size_t i = 0; i < n;) {
    size_t end = i + 1;
    TreeEdit e = {.path = b->on_commit ? list[i]->made_path : list[i]->path,
                  .entry = list[i]->old};
    while (end < n && !strcmp(list[end]->made_path, list[i]->made_path))
      end++;
    if (!list[i]->whole && without_lines(b, list + i, end - i, &e.entry, err))
      return -1;
    array_push(out, e);
    i = end;
  }
  return 0;
}

// The base without the chosen hunks that can be taken back.
static int tree_without(TakenBack *b, const bool *chosen, char out[OID_SIZE],
                        Err *err) {
  ARRAY(const ChangeHunk *) list = {0};
  TreeEdits edits = {0};
  for (size_t i = 0; i < b->hunks.len; i++)
    if (chosen[i] && (b->hunks.items[i].movable || b->on_commit))
      array_push(&list, &b->hunks.items[i]);
  if (list.len)
    qsort(list.items, list.len, sizeof *list.items, by_line);
  int rc = add_edits(b, list.items, list.len, &edits, err);
  rc = rc ? rc : checkout_edit(b->search->checkout, b->base, &edits, out, err);
  array_release(&list);
  array_release(&edits);
  return rc;
}

int taken_back_one(TakenBack *b, size_t hunk, char tree[OID_SIZE], Err *err) {
  bool *chosen = mem_array(bool, b->hunks.len);
  chosen[hunk] = true;
  int rc = tree_without(b, chosen, tree, err);
  free(chosen);
  return rc;
}

// --- the search --------------------------------------------------------------

// Delta debugging over groups, or over the hunks of some of them.
typedef struct {
  TakenBack *back;
  size_t n;
  const size_t *part; // hunk -> part, SIZE_MAX: stays out
  bool *chosen;       // per hunk
  bool failed;        // a trial could not be made
  Err *err;
} Parts;

static bool passes(const CommitSearch *s, const char *letters) {
  for (size_t i = 0; i < s->tests->len; i++)
    if (s->used[i] && letters[i] != TRIAL_PASS)
      return false;
  return true;
}

static int try_without(TakenBack *b, const bool *chosen, bool *good, Err *err) {
  const char *letters;
  char tree[OID_SIZE];
  size_t n = 0;
  *good = false;
  for (size_t i = 0; i < b->hunks.len; i++)
    n += chosen[i];
  char *what = mem_printf("without %zu of %zu hunk%s", n, b->hunks.len,
                          b->hunks.len == 1 ? "" : "s");
  int rc = tree_without(b, chosen, tree, err);
  rc = rc ? rc : trial(b->trials, tree, what, &letters, err);
  if (!rc)
    *good = *letters != TRIAL_BROKEN && passes(b->search, letters);
  if (*good)
    memcpy(b->tree, tree, sizeof tree);
  free(what);
  return rc;
}

static bool parts_pass(void *context, const bool *keep, size_t n) {
  Parts *p = context;
  bool good = false;
  (void)n;
  for (size_t i = 0; i < p->back->hunks.len; i++)
    p->chosen[i] = p->part[i] != SIZE_MAX && keep[p->part[i]];
  if (!p->failed && !p->back->trials->spent)
    p->failed = try_without(p->back, p->chosen, &good, p->err) != 0;
  return good;
}

static size_t at_last(const ChangeHunks *list, size_t i) {
  return list->len - 1 - i;
}

// Numbers the parts of the hunks that are in: the least suspicious first, because
// what is tried first is to do without the first half. `whole`: by declaration.
static size_t number_parts(const TakenBack *b, const bool *in, bool whole,
                           size_t *part) {
  size_t n = 0;
  for (size_t i = 0; i < b->hunks.len; i++)
    part[i] = SIZE_MAX;
  for (size_t k = 0; k < b->hunks.len; k++) {
    size_t i = at_last(&b->hunks, k);
    for (size_t m = 0; whole && m < k && part[i] == SIZE_MAX && in[i]; m++) {
      size_t other = at_last(&b->hunks, m);
      if (in[other] && b->hunks.items[other].group == b->hunks.items[i].group)
        part[i] = part[other];
    }
    if (in[i] && part[i] == SIZE_MAX)
      part[i] = n++;
  }
  return n;
}

// Leaves in `in` a smallest set of parts. The whole set passes.
static int minimize(TakenBack *b, bool *in, bool whole, Err *err) {
  size_t *part = mem_array(size_t, b->hunks.len + 1);
  size_t n = number_parts(b, in, whole, part);
  bool *keep = mem_array(bool, n + 1);
  Parts p = {.back = b,
             .n = n,
             .part = part,
             .chosen = mem_array(bool, b->hunks.len + 1),
             .err = err};
  memset(keep, 0, n);
  // The most suspicious alone: often that is all.
  keep[n - 1] = true;
  bool alone = n > 1 && parts_pass(&p, keep, n);
  if (n > 1 && !alone && !p.failed) {
    memset(keep, 1, n);
    ddmin(n, keep, parts_pass, &p, &b->budget);
  }
  for (size_t i = 0; i < b->hunks.len; i++)
    in[i] = in[i] && keep[part[i]];
  free(p.chosen);
  free(keep);
  free(part);
  return p.failed ? -1 : 0;
}

// Do the tests pass without all hunks, on this base?
static int try_all(TakenBack *b, const char *base, bool on_commit, bool *good,
                   Err *err) {
  bool *all = mem_array(bool, b->hunks.len + 1);
  memset(all, 1, b->hunks.len);
  b->on_commit = on_commit;
  memcpy(b->base, base, OID_SIZE);
  int rc = try_without(b, all, good, err);
  free(all);
  return rc;
}

static int minimize_all(TakenBack *b, Err *err) {
  bool *in = mem_array(bool, b->hunks.len + 1);
  for (size_t i = 0; i < b->hunks.len; i++)
    in[i] = b->on_commit || b->hunks.items[i].movable;
  int rc = minimize(b, in, true, err);
  if (!rc && !b->trials->spent)
    rc = minimize(b, in, false, err);
  b->nkept = 0;
  for (size_t i = 0; i < b->hunks.len; i++)
    b->nkept += b->hunks.items[i].kept = in[i];
  bool good;
  if (!rc && !b->trials->spent) // b->tree: the last that passed
    rc = try_without(b, in, &good, err);
  free(in);
  return rc;
}

int taken_back_minimize(TakenBack *b, BackEnd *end, Err *err) {
  char commit[OID_SIZE];
  bool good = false;
  *end = BACK_NONE;
  if (!b->hunks.len)
    return 0;
  if (try_all(b, b->search->checkout->now, false, &good, err))
    return -1;
  if (!good && !b->trials->spent && *b->search->guilty &&
      (commits_tree(b->search, b->search->guilty, commit, err) ||
       try_all(b, commit, true, &good, err)))
    return -1;
  *end = BACK_FAILS;
  int rc = good ? minimize_all(b, err) : 0;
  if (good)
    *end = BACK_FOUND;
  if (!good && b->trials->spent)
    *end = BACK_SPENT;
  return rc;
}
