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
#include "util/hashmap.h"
#include "util/str.h"

typedef struct {
  ARRAY(char *) places; // of each entity
  ARRAY(char *) pairs;
  Hashmap numbers; // text -> number of the pair
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
  char *text = mem_printf("%s %s", s->places.items[def], s->places.items[use]);
  uint64_t id = hashmap_intern(&s->numbers, text, strlen(text), s->pairs.len);
  if (id == s->pairs.len)
    array_push(&s->pairs, text);
  else
    free(text);
  return (uint32_t)id;
}

static int by_text(const void *a, const void *b) {
  const char *const *x = a, *const *y = b;
  return strverscmp(*x, *y);
}

static void show(Shown *s, const Run *run) {
  Texts lines = {0};
  for (uint32_t i = 0; i < s->pairs.len; i++)
    if (bitset_has(&run->hits[ENTITY_PAIR], i))
      array_push(&lines, s->pairs.items[i]);
  if (lines.len)
    qsort(lines.items, lines.len, sizeof *lines.items, by_text);
  for (size_t i = 0; i < lines.len; i++)
    puts(lines.items[i]);
  if (run->note)
    printf("note: %s\n", run->note);
  array_release(&lines);
}

static int show_run(const char *dir, bool apart, Err *err) {
  Shown s = {0};
  Run run = {0};
  Segments list = {0};
  Collector *c = collector_new(assign, &s);
  collector_take_pairs(c, take, &s);
  int rc = collector_collect(c, dir, &run, err);
  if (!rc && !apart)
    show(&s, &run);
  if (!rc && apart)
    rc = collector_collect_segments(c, dir, &list, err);
  for (size_t i = 0; i < list.len; i++) {
    printf("segment %s\n", list.items[i].name);
    show(&s, &list.items[i].run);
  }
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
    err_set(&err,
            "usage: pairs_tool build PROGRAM CACHE | show DIR | segments DIR");
  if (rc)
    fprintf(stderr, "pairs_tool: %s\n", err.text);
  return rc ? 1 : 0;
}
