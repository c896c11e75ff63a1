// Reads the maps of the PHP extension: see php_record.h and record_format.h.
// The bytes come from files that anyone may have made: every number is checked
// before it is used.
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "php/record/php_record.h"
#include "php/record/record_format.h"
#include "util/array.h"
#include "util/fs.h"
#include "util/leb.h"
#include "util/str.h"

// Applications can write to these files: what is larger was not made by us.
static const size_t FILE_MOST = 256 << 20;

_Static_assert((int)CLASS_NULL == (int)RETURN_NULL &&
                   (int)CLASS_NEGATIVE == (int)RETURN_NEGATIVE &&
                   (int)CLASS_EMPTY == (int)RETURN_EMPTY &&
                   (int)CLASS_NON_CONSTANT == (int)RETURN_NON_CONSTANT &&
                   (int)CLASSES == (int)RETURN_CLASSES,
               "the extension has its own names for ReturnClass");

// --- maps: numbers and text -------------------------------------------------

// Once anything was wrong, `bad` says what and every further read gives 0.
typedef struct {
  const unsigned char *at, *end;
  const char *bad;
  Arena *arena;
  Unit *unit;
  size_t max; // entities there may be
} Reader;

static uint64_t get(Reader *r) {
  uint64_t v;
  if (!r->bad && !leb_get(&r->at, r->end, &v))
    r->bad = "a number runs over the end";
  return r->bad ? 0 : v;
}

static uint32_t get32(Reader *r) {
  uint64_t v = get(r);
  if (v >= UINT32_MAX) {
    r->bad = "a number is too large";
    return 0;
  }
  return (uint32_t)v;
}

// A count of things that take at least a byte each.
static uint32_t get_count(Reader *r) {
  uint32_t n = get32(r);
  if (n > (size_t)(r->end - r->at)) {
    r->bad = "a count is larger than the data";
    return 0;
  }
  return n;
}

// NULL if it is empty.
static const char *get_text(Reader *r) {
  uint32_t n = get_count(r);
  if (!r->bad && memchr(r->at, 0, n))
    r->bad = "a text holds a zero byte";
  if (r->bad || !n)
    return NULL;
  const char *text = arena_strndup(r->arena, (const char *)r->at, n);
  r->at += n;
  return text;
}

// --- maps: entities ---------------------------------------------------------

static Entity *add(Reader *r, EntityKind kind, uint32_t function, uint32_t line,
                   uint32_t index) {
  static Entity nowhere;
  Unit *u = r->unit;
  if (u->nentities >= r->max) {
    r->bad = "it has more entities than it says";
    return &nowhere;
  }
  Entity *e = &u->entities[u->nentities++];
  *e = (Entity){.kind = kind,
                .line = line,
                .function = function,
                .index = index,
                .from = ENTITY_NONE,
                .to = ENTITY_NONE};
  return e;
}

// The function being read: its entity and how many blocks follow it.
typedef struct {
  uint32_t entity, nblocks;
} Function;

// The entity of a block given as its number plus one.
static uint32_t get_block(Reader *r, const Function *f) {
  uint32_t b = get32(r);
  if (b > f->nblocks) {
    r->bad = "a block is out of range";
    return ENTITY_NONE;
  }
  return b ? f->entity + b : ENTITY_NONE;
}

static void read_blocks(Reader *r, Function *f) {
  f->nblocks = get_count(r);
  for (uint32_t i = 0; i < f->nblocks && !r->bad; i++)
    add(r, ENTITY_BLOCK, f->entity, get32(r), i);
}

static uint32_t line_of(const Reader *r, uint32_t block) {
  return block < r->unit->nentities ? r->unit->entities[block].line : 0;
}

static void read_edges(Reader *r, const Function *f) {
  uint32_t n = get_count(r);
  for (uint32_t i = 0; i < n && !r->bad; i++) {
    uint32_t from = get_block(r, f), to = get_block(r, f);
    uint32_t line = line_of(r, from == ENTITY_NONE ? to : from);
    Entity *e = add(r, ENTITY_EDGE, f->entity, line, i);
    e->from = from;
    e->to = to;
  }
}

static const char *condition_name(uint32_t kind) {
  static const char *const names[] = {"if", "loop", "foreach", "switch",
                                      "?:", "??",   "?->",     "operand"};
  return kind < CONDITION_KINDS ? names[kind] : NULL;
}

static void read_conditions(Reader *r, const Function *f) {
  uint32_t n = get_count(r);
  for (uint32_t i = 0; i < n && !r->bad; i++) {
    uint32_t line = get32(r);
    const char *name = condition_name(get32(r));
    uint32_t outcomes = get32(r), block = get_block(r, f);
    if (!name)
      r->bad = "a condition is of no known kind";
    for (uint32_t k = 0; k < outcomes && !r->bad; k++) {
      Entity *e = add(r, ENTITY_CONDITION, f->entity, line, i);
      e->name = name;
      e->from = k;
      e->to = block;
    }
  }
}

static void read_calls(Reader *r, const Function *f) {
  uint32_t n = get_count(r);
  for (uint32_t i = 0; i < n && !r->bad; i++) {
    uint32_t line = get32(r);
    const char *callee = get_text(r);
    uint32_t classes = get32(r), block = get_block(r, f);
    if (classes >> RETURN_CLASSES)
      r->bad = "a call has classes that do not exist";
    for (uint32_t c = 0; c < RETURN_CLASSES && !r->bad; c++)
      if (classes >> c & 1) {
        Entity *e = add(r, ENTITY_RETURN, f->entity, line, i);
        e->name = callee;
        e->from = c;
        e->to = block;
      }
  }
}

typedef ARRAY(uint32_t) Numbers;

static void read_functions(Reader *r, Numbers *functions, Numbers *blocks) {
  uint32_t n = get_count(r);
  for (uint32_t i = 0; i < n && !r->bad; i++) {
    const char *name = get_text(r);
    Function f = {.entity = (uint32_t)r->unit->nentities};
    Entity *e = add(r, ENTITY_FUNCTION, f.entity, get32(r), i);
    e->name = name;
    if (!name)
      r->bad = "a function has no name";
    read_blocks(r, &f);
    read_edges(r, &f);
    read_conditions(r, &f);
    read_calls(r, &f);
    array_push(functions, f.entity);
    for (uint32_t b = 1; b <= f.nblocks && !r->bad; b++)
      array_push(blocks, f.entity + b);
  }
}

typedef ARRAY(Standing) Standings;

static void read_standing(Reader *r, const Numbers *blocks, Entity *e,
                          Standings *standings) {
  uint32_t n = get_count(r);
  for (uint32_t i = 0; i < n && !r->bad; i++) {
    uint32_t b = get32(r);
    if (b >= blocks->len) {
      r->bad = "a statement stands in no block";
      return;
    }
    Standing s = {(uint32_t)r->unit->nentities - 1, blocks->items[b]};
    if (!i)
      e->to = s.block;
    array_push(standings, s);
  }
}

static void read_statements(Reader *r, const Numbers *functions,
                            const Numbers *blocks) {
  uint32_t n = get_count(r);
  uint64_t line = 0;
  Standings standings = {0};
  for (uint32_t i = 0; i < n && !r->bad; i++) {
    line += get32(r);
    uint32_t f = get32(r);
    if (line >= UINT32_MAX || f >= functions->len) {
      r->bad = "a statement is nowhere";
      break;
    }
    Entity *e =
        add(r, ENTITY_STATEMENT, functions->items[f], (uint32_t)line, 0);
    if (!r->bad)
      read_standing(r, blocks, e, &standings);
  }
  Unit *u = r->unit;
  u->nstandings = standings.len;
  u->standings = arena_adopt(r->arena, &standings);
}

static void read_unit(Reader *r, const PhpMapHeader *h) {
  Unit *u = r->unit;
  Numbers functions = {0}, blocks = {0};
  const char *path = get_text(r);
  if (!path) {
    r->bad = r->bad ? r->bad : "it names no script";
    return;
  }
  u->name = path;
  u->sources = arena_new(r->arena, Source);
  u->nsources = 1;
  *u->sources = (Source){.path = path, .hash = h->source_hash};
  u->entities = arena_array(r->arena, Entity, r->max);
  read_functions(r, &functions, &blocks);
  read_statements(r, &functions, &blocks);
  if (!r->bad && (u->nentities != h->nentities || r->at != r->end))
    r->bad = "it is longer than it says";
  array_release(&functions);
  array_release(&blocks);
}

static int check_map(const PhpMapHeader *h, size_t size,
                     const unsigned char *payload, Err *err) {
  if (h->magic != PHP_MAP_MAGIC)
    return err_set(err, "not the map of a PHP script");
  if (h->version != PHP_FORMAT_VERSION)
    return err_set(err,
                   "map version %u, this culprit reads %u; remove the map "
                   "and run again",
                   h->version, PHP_FORMAT_VERSION);
  if (h->size != size)
    return err_set(err, "the map of a PHP script is cut off; remove it and "
                        "run again");
  size -= sizeof *h;
  if (XXH3_64bits_withSeed(payload, size, h->source_hash) != h->checksum)
    return err_set(err, "the map of a PHP script is damaged (checksum); remove "
                        "it and run again");
  return 0;
}

// Outcomes and classes need no byte of their own, but a script has not hundreds
// of them for each byte of its map: such a count would only cost memory.
static bool is_plausible(const PhpMapHeader *h, size_t size) {
  return h->nentities <= PHP_MAX_ENTITIES && h->nentities / 256 <= size;
}

int php_map_parse(const void *data, size_t size, Unit *out, Arena *arena,
                  Err *err) {
  PhpMapHeader h;
  *out = (Unit){0};
  if (size < sizeof h)
    return err_set(err, "not the map of a PHP script");
  memcpy(&h, data, sizeof h);
  const unsigned char *payload = (const unsigned char *)data + sizeof h;
  if (check_map(&h, size, payload, err))
    return -1;
  if (!is_plausible(&h, size))
    return err_set(err, "the map of a PHP script is damaged (entities)");
  memcpy(out->id.bytes, h.id, sizeof out->id.bytes);
  Reader r = {.at = payload,
              .end = payload + (size - sizeof h),
              .arena = arena,
              .unit = out,
              .max = h.nentities};
  read_unit(&r, &h);
  if (r.bad)
    return err_set(err, "the map of a PHP script is damaged (%s)", r.bad);
  return 0;
}

int php_map_read(const char *path, Unit *out, Arena *arena, Err *err) {
  Str bytes = {0};
  int rc = fs_read_regular(path, FILE_MOST, &bytes, err);
  if (!rc && php_map_parse(str_text(&bytes), bytes.len, out, arena, err))
    rc = err_prefix(err, "%s", path);
  str_release(&bytes);
  return rc;
}

int php_unit_read(const char *maps, const UnitId *id, Unit *out, Arena *arena,
                  Err *err) {
  char hex[2 * sizeof id->bytes + 1];
  for (size_t i = 0; i < sizeof id->bytes; i++)
    snprintf(hex + 2 * i, 3, "%02x", id->bytes[i]);
  char *path = mem_printf("%s/%s.map", maps, hex);
  int rc = php_map_read(path, out, arena, err);
  if (!rc && memcmp(&out->id, id, sizeof *id) != 0)
    rc = err_set(err, "%s is the map of another script", path);
  free(path);
  return rc;
}
