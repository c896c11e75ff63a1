// Reads the program map: see map.h and map_format.h. The bytes come from a file
// that anyone may have made: every number is checked before it is used.
#include "program/map.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "program/map_format.h"
#include "program/sections.h"
#include "util/fs.h"
#include "util/leb.h"
#include "util/str.h"

typedef ARRAY(uint32_t) Counters;

// --- numbers and strings ----------------------------------------------------

// Once anything was wrong, `bad` says what and every further read gives 0.
typedef struct {
  const unsigned char *at, *end;
  const char *bad;
  Arena *arena;
  const char **strings;
  uint64_t nstrings;
} Reader;

static uint64_t get(Reader *r) {
  uint64_t v;
  if (!leb_get(&r->at, r->end, &v))
    r->bad = "a number runs over the end";
  return v;
}

static uint32_t get32(Reader *r) {
  uint64_t v = get(r);
  if (v > UINT32_MAX)
    r->bad = "a number is too large";
  return (uint32_t)v;
}

// A count of things that take at least `least` bytes each.
static uint64_t get_count(Reader *r, size_t least) {
  uint64_t n = get(r);
  if (n > (uint64_t)(r->end - r->at) / least) {
    r->bad = "a count is larger than the data";
    return 0;
  }
  return n;
}

static const char *get_string(Reader *r) {
  uint64_t i = get(r);
  if (r->bad || i >= r->nstrings) {
    r->bad = "a string number is out of range";
    return "";
  }
  return r->strings[i];
}

static const char *get_optional_string(Reader *r) {
  if (r->at < r->end && !*r->at) {
    r->at++;
    return NULL;
  }
  uint64_t i = get(r);
  if (r->bad || i == 0 || i > r->nstrings) {
    r->bad = "a string number is out of range";
    return NULL;
  }
  return r->strings[i - 1];
}

static void read_strings(Reader *r) {
  uint64_t n = get_count(r, 1);
  r->strings = arena_array(r->arena, const char *, n);
  for (r->nstrings = 0; r->nstrings < n && !r->bad; r->nstrings++) {
    uint64_t length = get_count(r, 1);
    if (memchr(r->at, 0, length))
      r->bad = "a string holds a zero byte";
    r->strings[r->nstrings] =
        arena_strndup(r->arena, (const char *)r->at, length);
    r->at += length;
  }
}

// --- the parts of a chunk ---------------------------------------------------

static void read_sources(Reader *r, Unit *u) {
  uint64_t n = get_count(r, 9);
  u->sources = arena_array(r->arena, Source, n);
  for (u->nsources = 0; u->nsources < n && !r->bad; u->nsources++) {
    Source *s = &u->sources[u->nsources];
    s->path = get_string(r);
    if (r->end - r->at < 8) {
      r->bad = "a source has no hash";
      return;
    }
    memcpy(&s->hash, r->at, 8);
    r->at += 8;
  }
}

static uint32_t add_difference(Reader *r, uint32_t last) {
  uint64_t z = get(r);
  return last + (uint32_t)(z >> 1 ^ -(z & 1));
}

#define GET_COLUMN(items, count, member, optional)                             \
  last = 0;                                                                    \
  for (uint64_t i = 0; i < (count) && !r->bad; i++) {                          \
    last = add_difference(r, last);                                            \
    (items)[i].member = last - (optional);                                     \
  }

static bool entity_is_sound(const Entity *e, const Unit *u, uint64_t total) {
  bool links =
      (e->kind != ENTITY_EDGE || e->from == ENTITY_NONE || e->from < total) &&
      (e->to == ENTITY_NONE || e->to < total) &&
      (e->kind != ENTITY_RETURN || e->from < RETURN_CLASSES) &&
      (e->kind != ENTITY_RELATION || e->from < RELATION_OUTCOMES) &&
      e->kind != ENTITY_PAIR && e->kind != ENTITY_SLICE;
  return e->kind < ENTITY_KINDS && e->source < u->nsources &&
         (e->function == ENTITY_NONE || e->function < total) && links;
}

// How many counters each entity has, then which.
static void read_refs(Reader *r, UnitMap *m, uint64_t n) {
  uint64_t total = 0;
  uint32_t counter = 0;
  m->first_ref = arena_array(r->arena, uint32_t, n + 1);
  for (uint64_t i = 0; i < n && !r->bad; i++) {
    total += get32(r);
    if (total > (uint64_t)(r->end - r->at))
      r->bad = "a count is larger than the data";
    m->first_ref[i + 1] = (uint32_t)total;
  }
  if (r->bad)
    return;
  m->refs = arena_array(r->arena, uint32_t, total);
  for (uint64_t i = 0; i < total && !r->bad; i++) {
    m->refs[i] = counter = add_difference(r, counter);
    if (counter >= m->ncounters)
      r->bad = "a counter is out of range";
  }
}

static void check_entity(Reader *r, const Unit *u, const Entity *e,
                         uint64_t n) {
  if (!entity_is_sound(e, u, n))
    r->bad = "an entity points outside its unit";
  else if (e->kind == ENTITY_FUNCTION && !e->name)
    r->bad = "a function has no name";
}

static void read_entities(Reader *r, UnitMap *m) {
  Unit *u = &m->unit;
  uint64_t n = get_count(r, 12);
  uint32_t last;
  Entity *e = u->entities = arena_array(r->arena, Entity, n);
#define GET(member, optional) GET_COLUMN(e, n, member, optional)
  MAP_ENTITY_FIELDS(GET)
#undef GET
  for (uint64_t i = 0; i < n && !r->bad; i++)
    e[i].name = get_optional_string(r);
  for (uint64_t i = 0; i < n && !r->bad; i++)
    e[i].text = get_optional_string(r);
  for (uint64_t i = 0; i < n && !r->bad; i++)
    check_entity(r, u, &e[i], n);
  read_refs(r, m, n);
  u->nentities = r->bad ? 0 : n;
}

static bool is_kind(const Unit *u, uint32_t entity, EntityKind kind) {
  return entity < u->nentities && u->entities[entity].kind == kind;
}

static void read_standings(Reader *r, Unit *u) {
  uint64_t n = get_count(r, 2);
  Standing last = {0};
  u->standings = arena_array(r->arena, Standing, n);
  for (u->nstandings = 0; u->nstandings < n && !r->bad; u->nstandings++) {
    last.statement += get32(r);
    last.block = add_difference(r, last.block);
    if (!is_kind(u, last.statement, ENTITY_STATEMENT) ||
        !is_kind(u, last.block, ENTITY_BLOCK))
      r->bad = "a statement stands in no block";
    u->standings[u->nstandings] = last;
  }
}

static void check_call(Reader *r, const Unit *u, const CallSite *c) {
  if (c->function >= u->nentities || c->block >= u->nentities ||
      c->source >= u->nsources || c->type >= RESULT_TYPES)
    r->bad = "a call site points outside its unit";
}

static void read_calls(Reader *r, UnitMap *m) {
  uint64_t n = get_count(r, 7);
  uint32_t last;
  CallSite *c = m->calls = arena_array(r->arena, CallSite, n);
#define GET(member, optional) GET_COLUMN(c, n, member, optional)
  MAP_CALL_FIELDS(GET)
#undef GET
  for (uint64_t i = 0; i < n && !r->bad; i++)
    c[i].callee = get_optional_string(r);
  for (uint64_t i = 0; i < n && !r->bad; i++)
    check_call(r, &m->unit, &c[i]);
  m->ncalls = r->bad ? 0 : n;
}

static uint32_t *read_statements(Reader *r, const Unit *u, uint32_t *last,
                                 uint32_t *n) {
  *n = (uint32_t)get_count(r, 1);
  uint32_t *statements = arena_array(r->arena, uint32_t, *n);
  for (uint32_t i = 0; i < *n && !r->bad; i++) {
    statements[i] = *last = add_difference(r, *last);
    if (!is_kind(u, *last, ENTITY_STATEMENT))
      r->bad = "a variable is not defined or used by a statement";
  }
  return statements;
}

static void read_definers(Reader *r, UnitMap *m) {
  uint64_t n = get_count(r, 1);
  uint32_t last = 0;
  m->definers = arena_array(r->arena, VariableDefiners, n);
  for (m->ndefiners = 0; m->ndefiners < n && !r->bad; m->ndefiners++) {
    VariableDefiners *d = &m->definers[m->ndefiners];
    d->statements = read_statements(r, &m->unit, &last, &d->n);
  }
}

static void read_use_sites(Reader *r, UnitMap *m) {
  uint64_t n = get_count(r, 2);
  uint32_t last = 0, counter = 0;
  m->use_sites = arena_array(r->arena, UseSite, n);
  for (m->nuse_sites = 0; m->nuse_sites < n && !r->bad; m->nuse_sites++) {
    UseSite *s = &m->use_sites[m->nuse_sites];
    s->counter = counter = add_difference(r, counter);
    s->statements = read_statements(r, &m->unit, &last, &s->n);
    if (s->counter >= m->ncounters)
      r->bad = "a use of a variable points outside its unit";
  }
}

static void read_uses(Reader *r, UnitMap *m) {
  VariableUse last = {0};
  read_definers(r, m);
  uint64_t n = get_count(r, 3);
  m->uses = arena_array(r->arena, VariableUse, n);
  for (m->nuses = 0; m->nuses < n && !r->bad; m->nuses++) {
    last.definers = add_difference(r, last.definers);
    last.use = add_difference(r, last.use);
    last.first = add_difference(r, last.first);
    if (last.definers >= m->ndefiners || last.first >= m->ncounters ||
        m->definers[last.definers].n >= m->ncounters - last.first ||
        !is_kind(&m->unit, last.use, ENTITY_STATEMENT))
      r->bad = "a use of a variable points outside its unit";
    m->uses[m->nuses] = last;
  }
  read_use_sites(r, m);
}

static const char *read_unit(Reader *r, UnitMap *m) {
  read_strings(r);
  m->unit.name = get_string(r);
  read_sources(r, &m->unit);
  read_entities(r, m);
  read_standings(r, &m->unit);
  read_calls(r, m);
  if (!r->bad && r->at < r->end)
    read_uses(r, m);
  return r->bad;
}

static bool unpack(const MapHeader *h, const void *payload, Str *out) {
  out->data = mem_alloc(h->full_size);
  out->len =
      ZSTD_decompress(out->data, h->full_size, payload, h->size - sizeof *h);
  return out->len == h->full_size;
}

static const char *read_payload(ProgramMap *p, UnitMap *m, const MapHeader *h,
                                const unsigned char *payload) {
  Str full = {0};
  Reader r = {.at = payload,
              .end = payload + (h->size - sizeof *h),
              .arena = &p->arena};
  bool packed = h->full_size != 0;
  if (packed && (h->full_size > MAP_LARGEST || !unpack(h, payload, &full)))
    r.bad = "its compressed part";
  if (packed) {
    r.at = (const unsigned char *)full.data;
    r.end = r.at + h->full_size;
  }
  const char *bad = r.bad ? r.bad : read_unit(&r, m);
  free(full.data);
  return bad;
}

static int read_chunk(ProgramMap *p, const MapHeader *h,
                      const unsigned char *payload, Err *err) {
  if (map_checksum(h, payload, h->size - sizeof *h) != h->checksum)
    return err_set(err, "the program map is damaged (checksum)");
  if (h->counter_size != COUNTERS_HITS && h->counter_size != COUNTERS_COUNTS)
    return err_set(err, "the program map is damaged (counter size %u)",
                   h->counter_size);
  UnitMap m = {.counter_size = h->counter_size, .ncounters = h->ncounters};
  memcpy(m.unit.id.bytes, h->id, sizeof m.unit.id.bytes);
  const char *bad = read_payload(p, &m, h, payload);
  if (bad)
    return err_set(err, "the program map is damaged (%s)", bad);
  array_push(&p->units, m);
  return 0;
}

int map_parse(ProgramMap *p, const void *data, size_t size, Err *err) {
  const unsigned char *at = data, *end = at + size;
  while (end - at >= (ptrdiff_t)sizeof(MapHeader)) {
    MapHeader h;
    memcpy(&h, at, sizeof h);
    if (h.magic != MAP_MAGIC) {
      if (*at) // the linker pads with zeros only
        return err_set(err, "the program map is damaged (no chunk where one "
                            "should begin)");
      at++;
      continue;
    }
    if (h.version != MAP_VERSION)
      return err_set(err,
                     "program map version %u, this culprit reads %u; "
                     "build the program again",
                     h.version, MAP_VERSION);
    if (h.size < sizeof h || h.size > (uint64_t)(end - at))
      return err_set(err, "the program map is cut off");
    if (read_chunk(p, &h, at + sizeof h, err))
      return -1;
    at += h.size;
  }
  return 0;
}

// --- from a file -------------------------------------------------------------

int map_read(ProgramMap *m, const char *path, Err *err) {
  Bytes file;
  *m = (ProgramMap){0};
  if (sections_open(path, &file, err))
    return -1;
  m->path = arena_strdup(&m->arena, path);
  int rc = 0;
  size_t index = 0;
  for (Bytes s; !rc && (s = section_find(file, MAP_SECTION, &index)).data;)
    rc = map_parse(m, s.data, s.size, err);
  sections_close(file);
  if (rc) {
    err_prefix(err, "%s", path);
    map_release(m);
  }
  return rc;
}

void map_release(ProgramMap *m) {
  array_release(&m->units);
  arena_release(&m->arena);
  *m = (ProgramMap){0};
}

// --- why there is none ------------------------------------------------------

static bool contains(Bytes file, const char *text) {
  return file.data && memmem(file.data, file.size, text, strlen(text));
}

// The compiler that a file names, unless it is culprit-cc. Caller frees.
static char *other_compiler(const char *path, const char *pattern) {
  char *found = fs_match(path, pattern);
  if (found && strstr(found, "culprit-cc")) {
    free(found);
    found = NULL;
  }
  return found;
}

// What in this directory kept culprit-cc from being used; NULL: nothing seen.
static char *reason_in(const char *dir) {
  static const char *const files[] = {"CMakeCache.txt", "GNUmakefile",
                                      "makefile", "Makefile"};
  char *reason = NULL;
  for (size_t i = 0; i < sizeof files / sizeof *files && !reason; i++) {
    char *path = mem_printf("%s/%s", dir, files[i]);
    char *cc = other_compiler(path, i ? "^[ \t]*CC[ \t]*:?=[ \t]*([^\n]*)"
                                      : "^CMAKE_C_COMPILER:[^=\n]*=([^\n]*)");
    if (cc && i)
      reason = mem_printf("%s sets CC = %s, which overrides the environment: "
                          "use `make CC=culprit-cc` after `make clean`",
                          path, cc);
    else if (cc)
      reason = mem_printf("%s keeps the compiler it was configured with, %s: "
                          "configure a new build directory with CC=culprit-cc",
                          path, cc);
    free(cc);
    free(path);
  }
  return reason;
}

// Looks where the program lies and in the directories above: that is its build
// tree.
static char *likely_reason(const char *program) {
  enum { LEVELS = 4 };
  char *dir = path_absolute(program, NULL), *reason = NULL, *slash;
  for (int i = 0; i < LEVELS && !reason && (slash = strrchr(dir, '/')); i++) {
    *slash = '\0';
    reason = reason_in(dir);
  }
  free(dir);
  if (!reason)
    reason = reason_in(".");
  if (!reason)
    reason = mem_strdup("build it again from clean with CC=culprit-cc "
                        "(`culprit doctor` checks the rest)");
  return reason;
}

char *map_absence_reason(const char *path) {
  Bytes file = {0};
  Err ignored;
  sections_open(path, &file, &ignored);
  char *reason;
  if (file.size >= 2 && !memcmp(file.data, "#!", 2)) {
    reason = mem_printf("%s is a script, not a program built by culprit-cc: "
                        "name the program itself (with --exe, if the command "
                        "has that option)",
                        path);
  } else if (!file.data || file.size < SELFMAG ||
             memcmp(file.data, ELFMAG, SELFMAG)) {
    reason = mem_printf("%s is not an ELF program", path);
  } else if (contains(file, "culprit_link")) {
    reason = mem_printf("%s was linked by culprit-cc, but none of its C files "
                        "was compiled by it (objects left from an earlier "
                        "build, or CULPRIT_NOOP=1): build from clean",
                        path);
  } else if (contains(file, "libstdc++.so") || contains(file, "libc++.so")) {
    reason = mem_printf("%s is a C++ program: culprit records only C files, "
                        "and none in it was compiled by culprit-cc",
                        path);
  } else {
    char *likely = likely_reason(path);
    reason = mem_printf("%s was built without culprit-cc: %s", path, likely);
    free(likely);
  }
  sections_close(file);
  return reason;
}
