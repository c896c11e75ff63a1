// Reads what the runtime left behind for one test: see runfile.h and
// runtime/format.h.
//
// The counters of all processes are first united per unit, then translated into
// entities once: a shell test may start hundreds of short processes. Files are
// untrusted and may have been cut off at any byte.
#include "program/runfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program/collector.h"
#include "program/loaded.h"
#include "program/pair_log.h"
#include "program/sections.h"
#include "program/segments.h"
#include "program/turns_watch.h"
#include "program/unwind.h"
#include "runtime/format.h"
#include "util/fs.h"
#include "util/hashmap.h"
#include "util/str.h"

Collector *collector_new(AssignIds *assign, void *ctx) {
  Collector *c = mem_new(Collector);
  c->assign = assign;
  c->ctx = ctx;
  return c;
}

void collector_free(Collector *c) {
  if (!c)
    return;
  for (size_t i = 0; i < c->units.len; i++) {
    free(c->units.items[i].ids);
    free(c->units.items[i].hit);
    free(c->units.items[i].count);
    free(c->units.items[i].dead);
    free(c->units.items[i].sites);
    hashmap_release(&c->units.items[i].use_sites);
    hashmap_release(&c->units.items[i].lines);
  }
  for (size_t i = 0; i < c->modules.len; i++) {
    map_release(c->modules.items[i]);
    free(c->modules.items[i]);
  }
  array_release(&c->units);
  array_release(&c->modules);
  hashmap_release(&c->module_paths);
  hashmap_release(&c->unit_ids);
  str_release(&c->file);
  for (size_t i = 0; i < c->libraries.len; i++)
    free(c->libraries.items[i]);
  array_release(&c->libraries);
  array_release(&c->pairs);
  str_release(&c->turns);
  free(c);
}

size_t collector_units(const Collector *c) { return c->units.len; }

// --- modules and units ------------------------------------------------------

static int add_unit(Collector *c, const UnitMap *map, Err *err) {
  uint64_t index = c->units.len;
  const unsigned char *id = map->unit.id.bytes;
  if (hashmap_intern(&c->unit_ids, id, sizeof(UnitId), index) != index)
    return 0;
  KnownUnit u = {.map = map,
                 .ids = mem_array(uint32_t, map->unit.nentities),
                 .hit = mem_alloc(map->ncounters),
                 .dead = mem_alloc(map->unit.nentities)};
  if (map->counter_size == COUNTERS_COUNTS)
    u.count = mem_array(uint64_t, map->ncounters);
  int rc = c->assign(c->ctx, &map->unit, u.ids, err);
  array_push(&c->units, u);
  return rc;
}

int collector_add_module(Collector *c, const char *path, Err *err) {
  uint64_t index = c->modules.len, known;
  if (hashmap_get(&c->module_paths, path, strlen(path), &known))
    return 0;
  ProgramMap *m = mem_new(ProgramMap);
  if (map_read(m, path, err)) {
    free(m);
    return -1;
  }
  hashmap_put(&c->module_paths, path, strlen(path), index);
  array_push(&c->modules, m);
  for (size_t i = 0; i < m->units.len; i++)
    if (add_unit(c, &m->units.items[i], err))
      return -1;
  return 0;
}

static int add_library(void *collector, const char *path, Err *err) {
  Collector *c = collector;
  array_push(&c->libraries, mem_strdup(path));
  return collector_add_module(c, path, err);
}

void collector_seal(Collector *c) { c->sealed = true; }

bool collector_knows(const Collector *c, const unsigned char id[16]) {
  return collector_unit(c, id) != NULL;
}

typedef struct {
  const Collector *collector;
  const RunHeader *header;
} FileOrigin;

static const char *module_of_unit(const Collector *c, const unsigned char *id) {
  for (size_t i = 0; i < c->modules.len; i++)
    for (size_t k = 0; k < c->modules.items[i]->units.len; k++)
      if (!memcmp(c->modules.items[i]->units.items[k].unit.id.bytes, id,
                  sizeof(UnitId)))
        return c->modules.items[i]->path;
  return NULL;
}

// Where a module of a process lies here; NULL: nowhere. That which left the file
// is known by its units, whatever it is called.
static const char *module_here(void *origin, const char *path) {
  const Collector *c = ((const FileOrigin *)origin)->collector;
  const RunHeader *h = ((const FileOrigin *)origin)->header;
  const char *base = path_base(path);
  if (h->nunits && !strncmp(path, h->module, sizeof h->module))
    return module_of_unit(c, ((const RunUnit *)(h + 1))->id);
  for (size_t i = 0; i < c->modules.len; i++)
    if (!strcmp(path_base(c->modules.items[i]->path), base))
      return c->modules.items[i]->path;
  for (size_t i = 0; i < c->libraries.len; i++)
    if (!strcmp(path_base(c->libraries.items[i]), base))
      return c->libraries.items[i];
  return NULL;
}

int collector_add_program(Collector *c, const char *path, Err *err) {
  if (collector_add_module(c, path, err))
    return -1;
  return loaded_libraries(path, add_library, c, err);
}

KnownUnit *collector_unit(const Collector *c, const unsigned char *id) {
  uint64_t index;
  if (!hashmap_get(&c->unit_ids, id, sizeof(UnitId), &index))
    return NULL;
  return &c->units.items[index];
}

// --- one run file -----------------------------------------------------------

// What could not be read goes into the run's note: the first of its kind.
void collector_add_note(Run *run, const char *text) {
  if (run->note && strstr(run->note, text))
    return;
  char *note =
      run->note ? mem_printf("%s; %s", run->note, text) : mem_strdup(text);
  free(run->note);
  run->note = note;
}

static void unite(KnownUnit *u, const unsigned char *counters) {
  u->processes++;
  size_t size = u->map->counter_size;
  for (size_t i = 0; i < u->map->ncounters; i++) {
    if (size == COUNTERS_HITS) {
      u->hit[i] |= counters[i];
    } else {
      uint64_t count;
      memcpy(&count, counters + i * size, sizeof count);
      u->hit[i] |= count != 0;
      u->count[i] += count;
    }
  }
}

static const char *check_header(const RunHeader *h, size_t size) {
  if (size == 0)
    return "no space was left for its counters";
  if (size < sizeof *h)
    return "cut off";
  if (h->magic != RUNFILE_MAGIC)
    return h->magic ? "not a run file" : "it ended before it was ready";
  if (h->version != RUNFILE_VERSION)
    return "made by another version of culprit-cc; build again";
  if ((size - sizeof *h) / sizeof(RunUnit) < h->nunits)
    return "cut off";
  if (h->counters > size || h->counters_size > size - h->counters)
    return "cut off";
  return NULL;
}

static const char *add_counters(KnownUnit *u, const RunUnit *r,
                                const RunHeader *h, size_t size) {
  const UnitMap *m = u->map;
  if (r->ncounters != m->ncounters || r->counter_size != m->counter_size)
    return "its counters do not fit its map";
  uint64_t bytes = (uint64_t)r->ncounters * r->counter_size;
  if (r->offset > size || bytes > size - r->offset)
    return "cut off";
  unite(u, (const unsigned char *)h + r->offset);
  return NULL;
}

int collector_read_units(Collector *c, const RunHeader *h, size_t size,
                         Run *run, Err *err) {
  const RunUnit *units = (const RunUnit *)(h + 1);
  bool looked = false;
  for (uint32_t i = 0; i < h->nunits; i++) {
    KnownUnit *u = collector_unit(c, units[i].id);
    if (is_pair_log(units[i].id))
      continue;
    if (!u && !looked && !c->sealed) {
      char module[sizeof h->module + 1] = {0};
      memcpy(module, h->module, sizeof h->module);
      Err map_err = {0};
      size_t before = c->units.len;
      if (collector_add_module(c, module, &map_err)) {
        if (c->units.len != before) { // refused by the store
          *err = map_err;
          return -1;
        }
        collector_add_note(run, map_err.text);
      }
      looked = true;
      u = collector_unit(c, units[i].id);
    }
    if (!u) {
      collector_add_note(
          run, "a program was rebuilt or removed while the tests ran");
      continue;
    }
    const char *bad = add_counters(u, &units[i], h, size);
    if (bad)
      collector_add_note(run, bad);
  }
  pair_log_read(c, h, size);
  return 0;
}

// --- death ------------------------------------------------------------------

typedef struct {
  uint32_t source, line;
} LineKey;

static void index_lines(KnownUnit *u) {
  const Unit *unit = &u->map->unit;
  for (size_t i = 0; i < unit->nentities; i++) {
    const Entity *e = &unit->entities[i];
    LineKey key = {e->source, e->line};
    if (e->kind == ENTITY_STATEMENT)
      hashmap_intern(&u->lines, &key, sizeof key, i);
  }
}

static const Entity *statement_at(KnownUnit *u, const CodePlace *p) {
  const Unit *unit = &u->map->unit;
  if (!u->lines.len)
    index_lines(u);
  for (uint32_t s = 0; s < unit->nsources; s++) {
    LineKey key = {s, p->line};
    uint64_t i;
    if (!strcmp(unit->sources[s].path, p->file) &&
        hashmap_get(&u->lines, &key, sizeof key, &i))
      return &unit->entities[i];
  }
  return NULL;
}

static bool any_hit(const KnownUnit *u, size_t entity) {
  const UnitMap *m = u->map;
  const Entity *e = &m->unit.entities[entity];
  uint32_t first = m->first_ref[entity], end = m->first_ref[entity + 1];
  // A constant result: called, and the last counter says: never changed.
  if (e->kind == ENTITY_RETURN && e->from == RETURN_CONSTANT && first < end &&
      u->hit[m->refs[--end]])
    return false;
  for (uint32_t i = first; i < end; i++)
    if (u->hit[m->refs[i]])
      return true;
  return false;
}

static bool same_counters(const UnitMap *m, size_t a, size_t b) {
  uint32_t n = m->first_ref[a + 1] - m->first_ref[a];
  return n == m->first_ref[b + 1] - m->first_ref[b] &&
         !memcmp(m->refs + m->first_ref[a], m->refs + m->first_ref[b],
                 n * sizeof *m->refs);
}

// A function's entities follow it up to the next function.
static size_t function_end(const Unit *unit, const Entity *e) {
  size_t i = e->function == ENTITY_NONE ? unit->nentities : e->function + 1;
  while (i < unit->nentities && unit->entities[i].kind != ENTITY_FUNCTION)
    i++;
  return i;
}

typedef enum { NEVER, AT_LEAST_ONCE, UNKNOWN } Completed;

// Was edge `edge` taken, if it has no counter of its own but that of the block
// it leaves? It was not if the block it leads to was never entered, and was if
// nobody else can have entered that.
static Completed edge_taken(const KnownUnit *u, size_t edge) {
  const Unit *unit = &u->map->unit;
  const Entity *e = &unit->entities[edge];
  if (e->to == ENTITY_NONE || !any_hit(u, e->to))
    return NEVER;
  for (size_t i = e->function; i < function_end(unit, e); i++)
    if (i != edge && unit->entities[i].kind == ENTITY_EDGE &&
        unit->entities[i].to == e->to && any_hit(u, i))
      return UNKNOWN;
  return AT_LEAST_ONCE;
}

// main() does not return before the process ends, unless it calls itself.
static bool is_main(const KnownUnit *u, uint32_t function) {
  for (size_t i = 0; i < u->map->ncalls; i++)
    if (u->map->calls[i].callee && !strcmp(u->map->calls[i].callee, "main"))
      return false;
  return !strcmp(u->map->unit.entities[function].name, "main");
}

// Did the block with this statement come to its end?
static Completed block_completed(const KnownUnit *u, size_t statement) {
  const Unit *unit = &u->map->unit;
  const Entity *at = &unit->entities[statement];
  // A block that returns leaves no other trace.
  Completed answer =
      u->processes == 1 && is_main(u, at->function) ? NEVER : UNKNOWN;
  for (size_t i = at->function; i < function_end(unit, at); i++) {
    const Entity *e = &unit->entities[i];
    bool later =
        e->kind == ENTITY_STATEMENT && e->to == at->to && e->line > at->line;
    bool leaves = e->kind == ENTITY_EDGE && e->from == at->to;
    bool own = !same_counters(u->map, i, statement);
    if (own && (later || leaves) && any_hit(u, i))
      return AT_LEAST_ONCE;
    if (leaves)
      answer = own ? NEVER : edge_taken(u, i);
  }
  return answer;
}

// The lines behind the point of death in the same straight piece of code share
// its counter, and so may the edge out of it, but were not executed if the
// piece never came to its end. Returns false if that is not known.
static bool cut_after(KnownUnit *u, const Entity *at) {
  const Unit *unit = &u->map->unit;
  size_t statement = (size_t)(at - unit->entities);
  Completed completed = block_completed(u, statement);
  bool others = false;
  for (size_t i = at->function; i < function_end(unit, at); i++) {
    const Entity *e = &unit->entities[i];
    bool behind =
        e->kind == ENTITY_STATEMENT && e->to == at->to && e->line > at->line;
    bool leaves = e->kind == ENTITY_EDGE && e->from == at->to;
    if ((!behind && !leaves) || !same_counters(u->map, i, statement))
      continue;
    others = true;
    if (completed == NEVER)
      u->dead[i] = 1;
  }
  return completed != UNKNOWN || !others;
}

static const char *signal_name(uint32_t number) {
  const char *name = number < NSIG ? sigabbrev_np((int)number) : NULL;
  return name ? name : "?";
}

void collector_note_death(Collector *c, const RunHeader *h, size_t size,
                          DeadProcesses *dead) {
  if (h->state != RUN_DIED && h->state != RUN_DYING)
    return;
  DeadProcess d = {.signal = h->signal};
  FileOrigin origin = {c, h};
  ModuleFinder here = {module_here, &origin};
  d.n = unwind_death(h, size, c->sealed ? &here : NULL, d.places, MAX_FRAMES,
                     &d.complete);
  array_push(dead, d);
}

static char *name_end(uint32_t signal) {
  if (signal == RUNFILE_HANG)
    return mem_strdup("timeout");
  return signal ? mem_printf("SIG%s", signal_name(signal))
                : mem_strdup("sanitizer report");
}

// The statement at a place of code that ran, and its unit; NULL: none.
static const Entity *statement_run(Collector *c, const CodePlace *p,
                                   KnownUnit **unit) {
  for (size_t i = 0; i < c->units.len; i++) {
    KnownUnit *u = &c->units.items[i];
    const Entity *at = u->processes ? statement_at(u, p) : NULL;
    if (!at)
      continue;
    *unit = u;
    return at;
  }
  return NULL;
}

// The turns whose lines can be ranked. Caller frees.
static char *rankable_turns(Collector *c) {
  Str out = {0};
  DeathCaller t;
  for (const char *rest = str_text(&c->turns); death_caller(&rest, &t);) {
    KnownUnit *unit;
    CodePlace p = {mem_printf("%.*s", (int)t.file_size, t.file), t.line};
    const Entity *at = statement_run(c, &p, &unit);
    if (at)
      str_addf(&out, "%u %.*s %s\n", at->line, (int)t.function_size, t.function,
               p.file);
    free(p.file);
  }
  return str_take(&out);
}

// The innermost place we know is where it died; the callers were in the middle
// of a line, too.
void collector_add_death(Collector *c, DeadProcess *d, Run *run) {
  Death death = {.how = name_end(d->signal)};
  Str callers = {0};
  for (size_t i = 0; i < d->n; i++) {
    KnownUnit *u;
    const Entity *at = statement_run(c, &d->places[i], &u);
    if (at) {
      bool exact = cut_after(u, at);
      const char *function = u->map->unit.entities[at->function].name;
      if (!death.file) {
        death.file = mem_strdup(d->places[i].file);
        death.line = at->line;
        death.function = mem_strdup(function);
        death.exact = d->complete;
      } else {
        str_addf(&callers, "%u %s %s\n", at->line, function, d->places[i].file);
      }
      death.exact &= exact;
    }
    free(d->places[i].file);
  }
  if (!death.file) {
    death.exact = !d->signal && d->complete; // a report when all was over
    death.file = mem_strdup("");
    death.function = mem_strdup("");
  }
  run->imprecise |= !death.exact;
  death.callers = str_take(&callers);
  if (d->signal == RUNFILE_HANG)
    death.turns = rankable_turns(c);
  array_push(&run->deaths, death);
}

// --- a directory of run files -----------------------------------------------

// Reads `size` bytes of the file, or what is there.
static void load(Collector *c, int fd, size_t size) {
  char buf[65536];
  while (c->file.len < size) {
    size_t want = size - c->file.len;
    ssize_t n = pread(fd, buf, want < sizeof buf ? want : sizeof buf,
                      (off_t)c->file.len);
    if (n <= 0)
      return;
    str_addn(&c->file, buf, (size_t)n);
  }
}

// Header and counters; the death area only of a process that died.
static void load_run_file(Collector *c, int fd) {
  enum { LARGEST = 1 << 30 };
  RunHeader h;
  str_clear(&c->file);
  load(c, fd, sizeof h);
  if (c->file.len < sizeof h)
    return;
  memcpy(&h, c->file.data, sizeof h);
  if (h.magic != RUNFILE_MAGIC || h.version != RUNFILE_VERSION)
    return;
  uint64_t size = h.death;
  if (h.state == RUN_DIED)
    size += RUNFILE_STACK + RUNFILE_MAPS;
  load(c, fd, size < LARGEST ? size : LARGEST);
}

const RunHeader *collector_load(Collector *c, int dir, const char *name,
                                const char **bad) {
  Err ignored;
  int fd = fs_open_regular(dir, name, false, &ignored);
  *bad = "a run file cannot be read: not a regular file, or owned "
         "by another user";
  if (fd < 0)
    return NULL;
  load_run_file(c, fd);
  close(fd);
  const RunHeader *h = (const RunHeader *)c->file.data;
  *bad = check_header(h, c->file.len);
  return *bad ? NULL : h;
}

static int read_run_file(Collector *c, int dir, const char *name, Run *run,
                         DeadProcesses *dead, Err *err) {
  const char *bad;
  const RunHeader *h = collector_load(c, dir, name, &bad);
  if (!h) {
    collector_add_note(run, bad);
    return 0;
  }
  run->processes++;
  char module[sizeof h->module + 1] = {0};
  memcpy(module, h->module, sizeof h->module);
  run_add_module(run, module);
  if (h->flags & RUN_REMAPPED)
    collector_add_note(run,
                       "the program mapped memory over its own counters, or "
                       "unmapped them: lines it executed are missing");
  if (h->flags & RUN_UNCUT)
    collector_add_note(run,
                       "a boundary between its tests could not be written");
  if (collector_read_units(c, h, c->file.len, run, err))
    return -1;
  collector_note_death(c, h, c->file.len, dead);
  return 0;
}

static uint64_t count_of(const KnownUnit *u, size_t entity) {
  uint64_t sum = 0;
  const UnitMap *m = u->map;
  for (uint32_t i = m->first_ref[entity]; i < m->first_ref[entity + 1]; i++)
    sum += u->count[m->refs[i]];
  return sum;
}

static bool is_counted(const Entity *e) {
  return e->kind == ENTITY_CONDITION ||
         (e->kind == ENTITY_RETURN && e->from < RETURN_CONSTANT);
}

static void translate(KnownUnit *u, Run *run) {
  const Unit *unit = &u->map->unit;
  for (size_t i = 0; i < unit->nentities; i++) {
    const Entity *e = &unit->entities[i];
    if (u->dead[i] || !any_hit(u, i))
      continue;
    bitset_add(&run->hits[e->kind], u->ids[i]);
    if (u->count && is_counted(e))
      array_push(&run->counts, (EntityCount){u->ids[i], count_of(u, i)});
  }
}

static int by_entity(const void *a, const void *b) {
  const EntityCount *x = a, *y = b;
  return (x->entity > y->entity) - (x->entity < y->entity);
}

void collector_translate(Collector *c, Run *run) {
  pair_log_translate(c, run);
  for (size_t i = 0; i < c->units.len; i++) {
    KnownUnit *u = &c->units.items[i];
    if (!u->processes)
      continue;
    translate(u, run);
    memset(u->hit, 0, u->map->ncounters);
    if (u->count)
      memset(u->count, 0, u->map->ncounters * sizeof *u->count);
    memset(u->dead, 0, u->map->unit.nentities);
    u->processes = 0;
  }
  if (run->counts.len)
    qsort(run->counts.items, run->counts.len, sizeof(EntityCount), by_entity);
}

static void read_turns(Collector *c, int dir, const char *name) {
  enum { LONGEST = 1 << 16 };
  Err ignored;
  int fd = fs_open_regular(dir, name, false, &ignored);
  if (fd < 0)
    return;
  fs_read_fd(fd, name, LONGEST, &c->turns, &ignored);
  close(fd);
}

static void end_run(Collector *c, DeadProcesses *dead, Run *run) {
  for (size_t i = 0; i < dead->len; i++)
    collector_add_death(c, &dead->items[i], run);
  array_release(dead);
  collector_translate(c, run);
}

int collector_collect(Collector *c, const char *path, Run *run, Err *err) {
  DIR *dir = opendir(path);
  if (!dir) {
    collector_add_note(run, "its directory of run files is gone");
    return 0;
  }
  DeadProcesses dead = {0};
  int rc = 0;
  c->files = 0;
  c->marked = false;
  str_clear(&c->turns);
  for (struct dirent *e; !rc && (e = readdir(dir));) {
    c->marked |= text_ends(e->d_name, ".seg");
    if (text_ends(e->d_name, TURNS_SUFFIX))
      read_turns(c, dirfd(dir), e->d_name);
    if (!text_ends(e->d_name, ".run"))
      continue;
    c->files++;
    rc = read_run_file(c, dirfd(dir), e->d_name, run, &dead, err);
  }
  closedir(dir);
  if (c->marked)
    segments_unite(c, path);
  end_run(c, &dead, run);
  return rc;
}

int collector_collect_files(Collector *c, int dir, const char *const *names,
                            size_t n, Run *run, Err *err) {
  DeadProcesses dead = {0};
  int rc = 0;
  str_clear(&c->turns);
  for (size_t i = 0; !rc && i < n; i++)
    rc = read_run_file(c, dir, names[i], run, &dead, err);
  end_run(c, &dead, run);
  return rc;
}
