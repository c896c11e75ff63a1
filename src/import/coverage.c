// What coverage files say, whatever their format: see coverage.h.
#include "import/coverage.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "util/fs.h"

void coverage_init(Coverage *c, const Places *places) {
  *c = (Coverage){.places = places};
}

void coverage_release(Coverage *c) {
  for (size_t i = 0; i < c->files.len; i++)
    array_release(&c->files.items[i].statements);
  array_release(&c->files);
  for (size_t i = 0; i < c->tests.len; i++)
    bitset_release(&c->tests.items[i].hits);
  array_release(&c->tests);
  array_release(&c->entities);
  array_release(&c->leftovers);
  hashmap_release(&c->file_of);
  hashmap_release(&c->test_of);
  hashmap_release(&c->entity_of);
  hashmap_release(&c->default_of);
  arena_release(&c->arena);
  str_release(&c->key);
}

// --- tests and files -------------------------------------------------------

uint32_t coverage_test(Coverage *c, const char *name) {
  size_t n = strlen(name);
  uint64_t test = hashmap_intern(&c->test_of, name, n, c->tests.len);
  if (test == c->tests.len)
    array_push(&c->tests,
               (CoveredTest){.name = arena_strndup(&c->arena, name, n)});
  return (uint32_t)test;
}

int coverage_test_of(Coverage *c, const ImportFile *in, uint32_t *test,
                     Err *err) {
  if (!*in->test)
    return import_file_fail(
        in, 0, err, "its test has no name: NAME=%s gives it one", in->path);
  if (!in->named) {
    char *path = arena_strdup(&c->arena, in->path);
    const char *other = (const char *)(uintptr_t)hashmap_intern(
        &c->default_of, in->test, strlen(in->test), (uintptr_t)path);
    if (strcmp(other, in->path) != 0)
      return import_file_fail(
          in, 0, err,
          "%s would be test '%s', too: name their tests, as in "
          "NAME=%s (the same name twice: parts of one test)",
          other, in->test, in->path);
  }
  *test = coverage_test(c, in->test);
  return 0;
}

// What was asked for is remembered, too: the disk is looked at once per name.
uint32_t coverage_file(Coverage *c, const char *path, const char *const *dirs) {
  uint64_t file;
  str_clear(&c->key);
  for (const char *const *d = dirs; d && *d; d++)
    str_addn(&c->key, *d, strlen(*d) + 1);
  str_addn(&c->key, "\0", 1); // no absolute path begins like that
  str_add(&c->key, path);
  if (hashmap_get(&c->file_of, c->key.data, c->key.len, &file))
    return (uint32_t)file;
  char *full = places_find(c->places, path, dirs);
  file = hashmap_intern(&c->file_of, full, strlen(full), c->files.len);
  if (file == c->files.len)
    array_push(&c->files, (CoveredFile){.path = arena_strdup(&c->arena, full)});
  free(full);
  hashmap_put(&c->file_of, c->key.data, c->key.len, file);
  return (uint32_t)file;
}

// --- entities --------------------------------------------------------------

static void note_hit(Coverage *c, uint32_t test, uint32_t entity, bool hit) {
  if (hit)
    bitset_add(&c->tests.items[test].hits, entity);
}

void coverage_line(Coverage *c, uint32_t test, uint32_t file, uint32_t line,
                   bool hit) {
  assert(line && line <= LINE_MOST);
  CoveredFile *f = &c->files.items[file];
  while (f->statements.len <= line)
    array_push(&f->statements, 0);
  uint32_t *at = &f->statements.items[line];
  if (!*at) {
    array_push(
        &c->entities,
        (Entity){.kind = ENTITY_STATEMENT, .source = file, .line = line});
    *at = (uint32_t)c->entities.len;
  }
  note_hit(c, test, *at - 1, hit);
}

static uint32_t intern_entity(Coverage *c, const Entity *e) {
  uint64_t id =
      hashmap_intern(&c->entity_of, c->key.data, c->key.len, c->entities.len);
  if (id == c->entities.len) {
    array_push(&c->entities, *e);
    array_last(&c->entities).name = arena_strdup(&c->arena, e->name);
  }
  return (uint32_t)id;
}

void coverage_function(Coverage *c, uint32_t test, uint32_t file, uint32_t line,
                       uint32_t last, const char *name, bool hit) {
  uint32_t numbers[] = {ENTITY_FUNCTION, file, line};
  Entity e = {.kind = ENTITY_FUNCTION,
              .source = file,
              .line = line,
              .to = last,
              .name = name};
  str_clear(&c->key);
  str_addn(&c->key, numbers, sizeof numbers);
  str_add(&c->key, name);
  uint32_t id = intern_entity(c, &e);
  if (c->entities.items[id].to < last)
    c->entities.items[id].to = last;
  note_hit(c, test, id, hit);
}

void coverage_branch(Coverage *c, uint32_t test, uint32_t file, const Branch *b,
                     bool hit) {
  uint32_t numbers[] = {ENTITY_CONDITION, file,         b->line,   b->col_lo,
                        b->col_hi,        b->condition, b->outcome};
  Entity e = {.kind = ENTITY_CONDITION,
              .source = file,
              .line = b->line,
              .col_lo = b->col_lo,
              .col_hi = b->col_hi,
              .index = b->condition,
              .from = b->outcome,
              .name = b->name};
  str_clear(&c->key);
  str_addn(&c->key, numbers, sizeof numbers);
  note_hit(c, test, intern_entity(c, &e), hit);
}

// --- branches known by those that were not taken ---------------------------
//
//   test   line 7 executed   missed     so it took
//   1      yes               12         8
//   2      yes               8          12
//   3      no                8, 12
//
// A branch that no test missed is not known, but tells no tests apart either.

static int compare_u32(uint32_t a, uint32_t b) { return a < b ? -1 : a > b; }

static int by_number(const void *a, const void *b) {
  return compare_u32(*(const uint32_t *)a, *(const uint32_t *)b);
}

static int by_line(const void *a, const void *b) {
  const Leftover *x = a, *y = b;
  int r = compare_u32(x->file, y->file);
  if (!r)
    r = compare_u32(x->line, y->line);
  return r ? r : compare_u32(x->test, y->test);
}

void coverage_leftover(Coverage *c, const Leftover *l) {
  Leftover copy = *l;
  copy.missed = arena_array(&c->arena, uint32_t, l->nmissed);
  if (l->nmissed)
    memcpy(copy.missed, l->missed, l->nmissed * sizeof *l->missed);
  array_push(&c->leftovers, copy);
}

static bool missed(const Leftover *l, uint32_t target) {
  for (size_t i = 0; i < l->nmissed; i++)
    if (l->missed[i] == target)
      return true;
  return false;
}

// All that the tests say of one line.
static void resolve_line(Coverage *c, const Leftover *l, size_t n) {
  ARRAY(uint32_t) targets = {0};
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < l[i].nmissed; k++)
      array_push(&targets, l[i].missed[k]);
  if (targets.len)
    qsort(targets.items, targets.len, sizeof *targets.items, by_number);
  Branch b = {.line = l->line};
  for (size_t k = 0; k < targets.len; k++) {
    uint32_t target = targets.items[k];
    if (k && target == targets.items[k - 1])
      continue;
    b.name = target == UINT32_MAX
                 ? BRANCH_NAME " out of the function"
                 : arena_printf(&c->arena, BRANCH_NAME " to line %u", target);
    for (size_t i = 0; i < n; i++)
      coverage_branch(c, l[i].test, l->file, &b,
                      l[i].executed && !missed(&l[i], target));
    b.outcome++;
  }
  array_release(&targets);
}

static void resolve_leftovers(Coverage *c) {
  const Leftover *l = c->leftovers.items;
  size_t n = c->leftovers.len;
  if (n)
    qsort(c->leftovers.items, n, sizeof *l, by_line);
  for (size_t i = 0, next; i < n; i = next) {
    for (next = i + 1; next < n; next++)
      if (l[next].file != l[i].file || l[next].line != l[i].line)
        break;
    resolve_line(c, l + i, next - i);
  }
}

// --- units -----------------------------------------------------------------

// By file; in it functions, statements, conditions, each in source order.
static int by_place(const void *a, const void *b, void *ctx) {
  const Coverage *c = ctx;
  uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
  const Entity *x = &c->entities.items[i], *y = &c->entities.items[j];
  int r = compare_u32(x->source, y->source);
  if (!r)
    r = (y->kind == ENTITY_FUNCTION) - (x->kind == ENTITY_FUNCTION);
  if (!r)
    r = compare_u32(x->kind, y->kind);
  if (!r)
    r = compare_u32(x->line, y->line);
  if (!r)
    r = compare_u32(x->col_lo, y->col_lo);
  if (!r)
    r = compare_u32(x->col_hi, y->col_hi);
  if (!r)
    r = compare_u32(x->index, y->index);
  if (!r)
    r = compare_u32(x->from, y->from);
  if (!r && x->name && y->name)
    r = strcmp(x->name, y->name);
  return r ? r : compare_u32(i, j);
}

// A function's last line; it may reach to the end of the file.
static uint32_t last_line(const Entity *f) {
  return f->to ? f->to : UINT32_MAX;
}

// The function a line stands in: of those that hold it, the one that begins
// last. functions[] are sorted by line; reach[i] is the last line that any of
// functions[0..i] holds.
static uint32_t enclosing(const Entity *functions, const uint32_t *reach,
                          size_t n, uint32_t line) {
  size_t lo = 0, hi = n;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (functions[mid].line <= line)
      lo = mid + 1;
    else
      hi = mid;
  }
  uint32_t found = ENTITY_NONE;
  for (size_t i = lo; i-- > 0 && reach[i] >= line;) {
    if (found != ENTITY_NONE && functions[i].line < functions[found].line)
      break;
    if (last_line(&functions[i]) >= line)
      found = (uint32_t)i; // of several that begin there, the first
  }
  return found;
}

static bool same_condition(const Entity *a, const Entity *b) {
  return a->kind == ENTITY_CONDITION && b->kind == ENTITY_CONDITION &&
         a->line == b->line && a->col_lo == b->col_lo &&
         a->col_hi == b->col_hi && a->index == b->index;
}

// Fills `function`, and gives the conditions of a function their numbers.
static void place_in_functions(Entity *e, size_t n) {
  size_t nfunctions = 0;
  while (nfunctions < n && e[nfunctions].kind == ENTITY_FUNCTION)
    nfunctions++;
  uint32_t *reach = mem_array(uint32_t, nfunctions + 1);
  uint32_t *conditions = mem_array(uint32_t, nfunctions + 1);
  for (size_t i = 0; i < nfunctions; i++) {
    uint32_t last = last_line(&e[i]);
    reach[i] = i && reach[i - 1] > last ? reach[i - 1] : last;
    e[i].function = (uint32_t)i;
  }
  for (size_t i = nfunctions, next; i < n; i = next) {
    uint32_t f = enclosing(e, reach, nfunctions, e[i].line);
    for (next = i + 1; next < n && same_condition(&e[i], &e[next]); next++)
      ;
    uint32_t number = e[i].kind == ENTITY_CONDITION
                          ? conditions[f == ENTITY_NONE ? nfunctions : f]++
                          : 0;
    for (size_t k = i; k < next; k++) {
      e[k].function = f;
      e[k].index = number;
    }
  }
  free(reach);
  free(conditions);
}

static void clear_scratch_fields(Entity *e) {
  e->source = 0;
  e->to = ENTITY_NONE;
  if (e->kind != ENTITY_CONDITION)
    e->from = ENTITY_NONE;
}

// 0: it cannot be read. Only files: reading a device or a pipe may never end.
static uint64_t hash_text(const char *path) {
  struct stat st;
  Str text = {0};
  Err ignored;
  uint64_t hash = 0;
  if (!stat(path, &st) && S_ISREG(st.st_mode) &&
      !fs_read(path, 0, &text, &ignored))
    hash = XXH3_64bits(str_text(&text), text.len);
  str_release(&text);
  return hash;
}

static UnitId identify(const Source *source) {
  Str all = {0};
  str_addn(&all, source->path, strlen(source->path) + 1);
  str_addn(&all, &source->hash, sizeof source->hash);
  XXH128_canonical_t hash;
  XXH128_canonicalFromHash(&hash, XXH3_128bits(all.data, all.len));
  str_release(&all);
  UnitId id;
  static_assert(sizeof id.bytes == sizeof hash.digest, "both 128 bits");
  memcpy(id.bytes, hash.digest, sizeof id.bytes);
  return id;
}

// One unit of the `n` entities `order`, all of one file.
static void add_unit(const Coverage *c, const uint32_t *order, size_t n,
                     Foreign *out) {
  Arena *arena = &out->arena;
  const char *path = c->files.items[c->entities.items[*order].source].path;
  Source *source = arena_new(arena, Source);
  *source = (Source){arena_strdup(arena, path), hash_text(path)};
  Entity *entities = arena_array(arena, Entity, n);
  uint32_t *ids = arena_array(arena, uint32_t, n);
  for (size_t i = 0; i < n; i++) {
    ids[i] = order[i];
    entities[i] = c->entities.items[order[i]];
    if (entities[i].name)
      entities[i].name = arena_strdup(arena, entities[i].name);
  }
  place_in_functions(entities, n);
  for (size_t i = 0; i < n; i++)
    clear_scratch_fields(&entities[i]);
  array_push(&out->units, (ForeignUnit){.unit = {.id = identify(source),
                                                 .name = source->path,
                                                 .sources = source,
                                                 .nsources = 1,
                                                 .entities = entities,
                                                 .nentities = n},
                                        .ids = ids});
}

static void add_units(Coverage *c, Foreign *out) {
  size_t n = c->entities.len;
  uint32_t *order = mem_array(uint32_t, n);
  for (size_t i = 0; i < n; i++)
    order[i] = (uint32_t)i;
  qsort_r(order, n, sizeof *order, by_place, c);
  for (size_t i = 0, next; i < n; i = next) {
    uint32_t file = c->entities.items[order[i]].source;
    for (next = i; next < n; next++)
      if (c->entities.items[order[next]].source != file)
        break;
    add_unit(c, order + i, next - i, out);
  }
  free(order);
}

static void add_runs(Coverage *c, Foreign *out) {
  for (size_t t = 0; t < c->tests.len; t++) {
    const CoveredTest *test = &c->tests.items[t];
    Run run = {.test = mem_strdup(test->name),
               .command = mem_strdup(""),
               .verdict = VERDICT_ERROR,
               .processes = 1};
    for (uint32_t i = 0; bitset_next(&test->hits, &i); i++)
      bitset_add(&run.hits[c->entities.items[i].kind], i);
    array_push(&out->runs, run);
  }
}

int coverage_finish(Coverage *c, Foreign *out, Err *err) {
  bool any = false;
  for (size_t i = 0; i < c->files.len; i++)
    any |= c->files.items[i].statements.len > 0;
  if (!any)
    return err_set(err, "no line of code in what was given: was the program "
                        "built and run with coverage on?");
  resolve_leftovers(c);
  add_units(c, out);
  add_runs(c, out);
  out->nids = (uint32_t)c->entities.len;
  return 0;
}
