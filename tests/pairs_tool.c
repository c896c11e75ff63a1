// For tests of definition-use pairs.
//
//   pairs_tool build PROGRAM CACHE    makes the close build; prints its path
//   pairs_tool show DIR               the pairs of the run files in DIR, one a
//                                     line: where defined, where used; with
//                                     the run's note, if it has one
//   pairs_tool segments DIR           the same of each segment
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/runfile.h"
#include "program/segments.h"
#include "program/trace_build.h"
#include "util/array.h"
#include "util/fs.h"
#include "util/str.h"

typedef struct {
  ARRAY(char *) places; // of each entity
  Texts lines;
} Shown;

static int assign(void *ctx, const Unit *unit, uint32_t *ids, Err *err) {
  (void)err;
  Shown *s = ctx;
  for (size_t i = 0; i < unit->nentities; i++) {
    const Entity *e = &unit->entities[i];
    const char *path = unit->sources[e->source].path;
    ids[i] = (uint32_t)s->places.len;
    array_push(&s->places, mem_printf("%s:%u", path_base(path), e->line));
  }
  return 0;
}

static uint32_t take(void *ctx, uint32_t def, uint32_t use) {
  Shown *s = ctx;
  array_push(&s->lines,
             mem_printf("%s %s", s->places.items[def], s->places.items[use]));
  return 0;
}

static int by_text(const void *a, const void *b) {
  const char *const *x = a, *const *y = b;
  return strverscmp(*x, *y);
}

static void show(Shown *s, const Run *run) {
  if (s->lines.len)
    qsort(s->lines.items, s->lines.len, sizeof *s->lines.items, by_text);
  for (size_t i = 0; i < s->lines.len; i++)
    if (!i || strcmp(s->lines.items[i], s->lines.items[i - 1]) != 0)
      puts(s->lines.items[i]);
  if (run->note)
    printf("note: %s\n", run->note);
  s->lines.len = 0;
}

static int show_run(const char *dir, bool segments, Err *err) {
  Shown s = {0};
  Run run = {0};
  Segments list = {0};
  Collector *c = collector_new(assign, &s);
  collector_take_pairs(c, take, &s);
  int rc = collector_collect(c, dir, &run, err);
  if (!rc && !segments)
    show(&s, &run);
  s.lines.len = 0;
  // Pairs are taken as segments are read, one after the other.
  if (!rc && segments)
    rc = collector_collect_segments(c, dir, &list, err);
  if (!rc && segments)
    show(&s, &run);
  collector_free(c);
  return rc;
}

static int build(const char *program, const char *cache, Err *err) {
  TraceBuild b;
  if (close_build(&b, program, cache, err))
    return -1;
  puts(b.program);
  trace_build_release(&b);
  return 0;
}

int main(int argc, char **argv) {
  Err err = {0};
  int rc = -1;
  if (argc == 4 && !strcmp(argv[1], "build"))
    rc = build(argv[2], argv[3], &err);
  else if (argc == 3 && !strcmp(argv[1], "show"))
    rc = show_run(argv[2], false, &err);
  else if (argc == 3 && !strcmp(argv[1], "segments"))
    rc = show_run(argv[2], true, &err);
  else
    err_set(&err, "usage: pairs_tool build PROGRAM CACHE | show DIR");
  if (rc)
    fprintf(stderr, "pairs_tool: %s\n", err.text);
  return rc ? 1 : 0;
}
