// patch_tool: the modules of src/patch/ for tests/e2e/patch.
//
//   patch_tool build PROGRAM FILE TEXT SCRATCH
//
// Builds the program with the text in the place of the file and prints the
// name of the result.
//
//   patch_tool edits PROGRAM CACHE SEED DIR MOST
//
// Takes changes of the program at random, at most MOST, and writes the first
// edit of each: DIR/N.c the new text, DIR/N.diff the diff. Prints a line each:
// N, file, line, kind of site, words; the last line says how many changes have
// an edit.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "patch/edit.h"
#include "patch/patch_build.h"
#include "program/trace_build.h"
#include "try/changes.h"
#include "util/fs.h"

static int build(char **argv) {
  Err err = {0};
  Str text = {0};
  char *program = NULL;
  char *file = path_absolute(argv[1], NULL);
  int rc = fs_read(argv[2], 0, &text, &err);
  if (!rc)
    rc = patch_build(argv[0], file, &text, argv[3], &program, &err);
  if (rc)
    fprintf(stderr, "%s\n", err.text);
  else
    puts(program);
  free(program);
  free(file);
  str_release(&text);
  return rc ? 1 : 0;
}

static void write_file(const char *dir, size_t n, const char *end,
                       const Str *text) {
  Err err;
  char *path = mem_printf("%s/%zu%s", dir, n, end);
  if (fs_write(path, str_text(text), text->len, &err))
    fprintf(stderr, "%s\n", err.text);
  free(path);
}

static void write_edit(const Change *c, const SourceEdit *e, const Str *text,
                       const char *dir, size_t n) {
  Str new = {0}, diff = {0};
  edit_apply(e, str_text(text), text->len, &new);
  edit_diff(e, path_base(c->site->file), str_text(text), text->len, &diff);
  write_file(dir, n, ".c", &new);
  write_file(dir, n, ".diff", &diff);
  printf("%zu\t%s\t%u\t%s\t%s\n", n, c->site->file, c->site->line,
         change_kind(c), e->words);
  str_release(&new);
  str_release(&diff);
}

// False: the change has no edit.
static bool try_change(const Change *c, const char *dir, size_t n) {
  Arena arena = {0};
  SourceEdits found = {0};
  Str text = {0};
  Err err;
  EditChange change = {c->change, c->a, c->b};
  if (!fs_read(c->site->file, 0, &text, &err))
    edits_find(c->site, change, str_text(&text), text.len, &arena, &found);
  bool any = found.len > 0;
  if (any)
    write_edit(c, &found.items[0], &text, dir, n);
  else if (getenv("PATCH_TOOL_NONE"))
    printf("none\t%s\t%u:%u\t%s\t%d %lld %lld\t%s\n", c->site->file,
           c->site->line, c->site->column, change_kind(c), c->change,
           (long long)c->a, (long long)c->site->value, c->site->text);
  array_release(&found);
  arena_release(&arena);
  str_release(&text);
  return any;
}

static int edits(char **argv) {
  Err err = {0};
  TraceBuild build;
  SiteTable table;
  if (try_build(&build, argv[0], argv[1], &err) ||
      site_table_read(&table, build.program, &err)) {
    fprintf(stderr, "%s\n", err.text);
    return 1;
  }
  Changes all = {0};
  for (size_t i = 0; i < table.sites.len; i++)
    changes_of(&table.sites.items[i], NULL, 0, &all);
  unsigned seed = (unsigned)atoi(argv[2]);
  size_t most = (size_t)atoi(argv[4]), n = 0, tried = 0;
  for (; tried < most && all.len; tried++) {
    size_t k = (size_t)rand_r(&seed) % all.len;
    n += try_change(&all.items[k], argv[3], n);
    all.items[k] = all.items[--all.len];
  }
  printf("%zu of %zu changes have an edit\n", n, tried);
  array_release(&all);
  site_table_release(&table);
  trace_build_release(&build);
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 6 && !strcmp(argv[1], "build"))
    return build(argv + 2);
  if (argc == 7 && !strcmp(argv[1], "edits"))
    return edits(argv + 2);
  fputs("usage: patch_tool build PROGRAM FILE TEXT SCRATCH\n"
        "       patch_tool edits PROGRAM CACHE SEED DIR MOST\n",
        stderr);
  return 2;
}
