// site_tool: what can be changed in a program, for tests/e2e/try-hooks.
//
//   site_tool PROGRAM CACHE
//
// Makes the build for experiments and lists its sites, one a line: unit, number,
// kind, op, flags, line, column, operand, owner, value, text, names. The first
// line is the path of the build.
//
//   site_tool edits PROGRAM CACHE DIR MOST
//
// Prints changes that the source can have too, at most MOST of each kind of site
// and change: number, kind, change, what CULPRIT_TRY begins with, line, words,
// number of edits, file. The edited text of edit K of change N is DIR/N.K. The
// first line is the path of the build, the last says how many changes the source
// cannot have.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "patch/edit.h"
#include "program/site_table.h"
#include "program/trace_build.h"
#include "try/changes.h"
#include "util/fs.h"
#include "util/mem.h"

static const char *const kinds[SITE_KINDS] = {
    "other", "compare",  "test",  "arith", "constant",
    "store", "return",   "call",  "swap",  "argument",
    "index", "variable", "field", "logic", "before"};

static void print_unit(const Site *s) {
  for (size_t i = 0; i < sizeof s->unit.bytes; i++)
    printf("%02x", s->unit.bytes[i]);
}

static void print_site(const Site *s) {
  print_unit(s);
  printf("\t%u\t%s\t%u\t%u\t%u\t%u\t%u\t%s\t%lld\t%s\t", s->number,
         kinds[s->kind], s->op, s->flags, s->line, s->column, s->operand,
         kinds[s->owner], (long long)s->value, s->text);
  for (size_t i = 0; i < s->nnames; i++)
    printf("%s%c:%s", i ? "," : "", s->names[i].kind, s->names[i].name);
  putchar('\n');
}

// --- edits ------------------------------------------------------------------

// Clauses that a search could make.
static void add_clauses(const Site *s, Changes *out) {
  static const TryCompare ops[] = {OP_GT, OP_EQ, OP_LE};
  if (s->kind != SITE_COMPARE && s->kind != SITE_TEST)
    return;
  for (size_t i = 0; i < s->nnames && i < 3; i++) {
    bool pointer = s->names[i].kind == 'p';
    int64_t a = (int64_t)i | (int64_t)(pointer ? OP_NE : ops[i]) << 8;
    array_push(out, ((Change){.site = s, .change = CHANGE_AND, .a = a}));
    array_push(out, ((Change){.site = s, .change = CHANGE_OR, .a = a}));
    if (i && s->names[i].kind == s->names[0].kind)
      array_push(out,
                 ((Change){.site = s,
                           .change = i % 2 ? CHANGE_AND_NAME : CHANGE_OR_NAME,
                           .a = a}));
  }
}

// Any order that is always the same.
static int by_hash(const void *a, const void *b) {
  const Change *x = a, *y = b;
  const int64_t one[] = {x->site->number, x->change, x->a, x->b},
                two[] = {y->site->number, y->change, y->a, y->b};
  uint64_t h = XXH3_64bits(one, sizeof one), k = XXH3_64bits(two, sizeof two);
  return (h > k) - (h < k);
}

static size_t write_edits(const Change *c, const char *dir, size_t number) {
  enum { MOST = 3 };
  Arena arena = {0};
  Str text = {0};
  SourceEdits edits = {0};
  Err err = {0};
  if (!fs_read(c->site->file, 0, &text, &err))
    edits_find(c->site, (EditChange){c->change, c->a, c->b}, str_text(&text),
               text.len, &arena, &edits);
  size_t n = edits.len < MOST ? edits.len : MOST;
  for (size_t i = 0; i < n; i++) {
    Str edited = {0};
    char *path = mem_printf("%s/%zu.%zu", dir, number, i);
    edit_apply(&edits.items[i], str_text(&text), text.len, &edited);
    if (fs_write(path, edited.data, edited.len, &err))
      n = 0;
    free(path);
    str_release(&edited);
  }
  array_release(&edits);
  arena_release(&arena);
  str_release(&text);
  return n;
}

static void print_change(const Change *c, size_t number, size_t edits) {
  Str words = {0};
  change_describe(c, &words);
  printf("%zu\t%s\t%d\t", number, kinds[c->site->kind], c->change);
  print_unit(c->site);
  printf(":%u:%d:%lld:%lld\t%u\t%s\t%zu\t%s\n", c->site->number, c->change,
         (long long)c->a, (long long)c->b, c->site->line, str_text(&words),
         edits, c->site->file);
  str_release(&words);
}

static void print_edits(const SiteTable *t, const char *dir, size_t most) {
  size_t taken[SITE_KINDS][CHANGES] = {{0}}, without = 0;
  Changes all = {0};
  for (size_t i = 0; i < t->sites.len; i++) {
    changes_of(&t->sites.items[i], NULL, 0, &all);
    add_clauses(&t->sites.items[i], &all);
  }
  if (all.len)
    qsort(all.items, all.len, sizeof *all.items, by_hash);
  for (size_t i = 0; i < all.len; i++) {
    const Change *c = &all.items[i];
    size_t *n = &taken[c->site->kind][c->change], edits;
    if (*n == most)
      continue;
    edits = write_edits(c, dir, i);
    without += !edits;
    *n += edits > 0;
    if (edits)
      print_change(c, i, edits);
  }
  printf("%zu\n", without);
  array_release(&all);
}

int main(int argc, char **argv) {
  Err err = {0};
  TraceBuild build;
  SiteTable table;
  bool edits = argc == 6 && !strcmp(argv[1], "edits");
  if (argc != 3 && !edits) {
    fputs("usage: site_tool [edits] PROGRAM CACHE [DIR MOST]\n", stderr);
    return 2;
  }
  char **program = argv + (edits ? 2 : 1);
  if (try_build(&build, program[0], program[1], &err) ||
      site_table_read(&table, build.program, &err)) {
    fprintf(stderr, "site_tool: %s\n", err.text);
    return 2;
  }
  puts(build.program);
  if (edits)
    print_edits(&table, argv[4], strtoul(argv[5], NULL, 10));
  for (size_t i = 0; i < table.sites.len && !edits; i++)
    print_site(&table.sites.items[i]);
  site_table_release(&table);
  trace_build_release(&build);
  return 0;
}
