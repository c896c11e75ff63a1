// Writes a plan as a chunk of the program map: see map_write.h.
#include "plan/map_write.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "program/map_format.h"
#include "util/leb.h"

enum { LEVEL = 6 }; // of compression

typedef struct {
  Hashmap numbers;
  Str bytes; // length and text of each
  uint64_t count;
} Strings;

static uint64_t string_number(Strings *s, const char *text) {
  size_t n = strlen(text);
  uint64_t id = hashmap_intern(&s->numbers, text, n, s->count);
  if (id == s->count) {
    s->count++;
    leb_put(&s->bytes, n);
    str_addn(&s->bytes, text, n);
  }
  return id;
}

static void put_optional_string(Str *out, Strings *s, const char *text) {
  leb_put(out, text ? string_number(s, text) + 1 : 0);
}

static uint64_t zigzag(int64_t v) {
  return (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
}

static void put_difference(Str *out, uint32_t v, uint32_t *last) {
  leb_put(out, zigzag((int64_t)v - *last));
  *last = v;
}

#define PUT_COLUMN(items, count, member, optional)                             \
  last = 0;                                                                    \
  for (size_t i = 0; i < (count); i++)                                         \
    put_difference(out, (items)[i].member + (optional), &last);

static void put_refs(Str *out, const Plan *p) {
  uint32_t last = 0;
  for (size_t i = 0; i < p->entities.len; i++)
    leb_put(out, p->first_ref.items[i + 1] - p->first_ref.items[i]);
  for (size_t i = 0; i < p->refs.len; i++)
    put_difference(out, p->refs.items[i], &last);
}

static void put_entities(Str *out, Strings *s, const Plan *p) {
  uint32_t last;
  leb_put(out, p->entities.len);
#define PUT(member, optional)                                                  \
  PUT_COLUMN(p->entities.items, p->entities.len, member, optional)
  MAP_ENTITY_FIELDS(PUT)
#undef PUT
  for (size_t i = 0; i < p->entities.len; i++)
    put_optional_string(out, s, p->entities.items[i].name);
  for (size_t i = 0; i < p->entities.len; i++)
    put_optional_string(out, s, p->entities.items[i].text);
  put_refs(out, p);
}

static void put_standings(Str *out, const Plan *p) {
  Standing last = {0};
  leb_put(out, p->standings.len);
  for (size_t i = 0; i < p->standings.len; i++) {
    const Standing *s = &p->standings.items[i];
    leb_put(out, s->statement - last.statement);
    leb_put(out, zigzag((int64_t)s->block - last.block));
    last = *s;
  }
}

static void put_calls(Str *out, Strings *s, const Plan *p) {
  uint32_t last;
  leb_put(out, p->calls.len);
#define PUT(member, optional)                                                  \
  PUT_COLUMN(p->calls.items, p->calls.len, member, optional)
  MAP_CALL_FIELDS(PUT)
#undef PUT
  for (size_t i = 0; i < p->calls.len; i++)
    put_optional_string(out, s, p->calls.items[i].callee);
}

static void put_statements(Str *out, const uint32_t *statements, uint32_t n,
                           uint32_t *last) {
  leb_put(out, n);
  for (uint32_t i = 0; i < n; i++)
    put_difference(out, statements[i], last);
}

static void put_use_sites(Str *out, const Plan *p) {
  uint32_t statement = 0, counter = 0;
  leb_put(out, p->use_sites.len);
  for (size_t i = 0; i < p->use_sites.len; i++) {
    const UseSite *s = &p->use_sites.items[i];
    put_difference(out, s->counter, &counter);
    put_statements(out, s->statements, s->n, &statement);
  }
}

static void put_uses(Str *out, const Plan *p) {
  uint32_t statement = 0;
  VariableUse last = {0};
  leb_put(out, p->definers.len);
  for (size_t i = 0; i < p->definers.len; i++)
    put_statements(out, p->definers.items[i].statements, p->definers.items[i].n,
                   &statement);
  leb_put(out, p->uses.len);
  for (size_t i = 0; i < p->uses.len; i++) {
    const VariableUse *u = &p->uses.items[i];
    put_difference(out, u->definers, &last.definers);
    put_difference(out, u->use, &last.use);
    put_difference(out, u->first, &last.first);
  }
  put_use_sites(out, p);
}

static void put_body(Str *body, Strings *s, const Plan *p) {
  leb_put(body, string_number(s, p->name));
  leb_put(body, p->sources.len);
  for (size_t i = 0; i < p->sources.len; i++) {
    leb_put(body, string_number(s, p->sources.items[i].path));
    str_addn(body, &p->sources.items[i].hash, 8);
  }
  put_entities(body, s, p);
  put_standings(body, p);
  put_calls(body, s, p);
  if (p->uses.len || p->use_sites.len)
    put_uses(body, p);
}

// Appends the payload as it is or compressed, whichever is shorter; returns its
// full size, 0: it is not compressed.
static uint32_t put_payload(Str *out, const Str *payload) {
  size_t bound = ZSTD_compressBound(payload->len);
  void *packed = mem_alloc(bound);
  size_t size =
      ZSTD_compress(packed, bound, payload->data, payload->len, LEVEL);
  bool gains =
      !ZSTD_isError(size) && size < payload->len && payload->len <= MAP_LARGEST;
  if (gains)
    str_addn(out, packed, size);
  else
    str_addn(out, payload->data, payload->len);
  free(packed);
  return gains ? (uint32_t)payload->len : 0;
}

void map_write(const Plan *p, CounterSize counter_size, Str *out) {
  Strings strings = {0};
  Str body = {0}, payload = {0}, packed = {0};
  put_body(&body, &strings, p);
  leb_put(&payload, strings.count);
  str_addn(&payload, str_text(&strings.bytes), strings.bytes.len);
  str_addn(&payload, str_text(&body), body.len);
  MapHeader h = {.magic = MAP_MAGIC,
                 .version = MAP_VERSION,
                 .counter_size = counter_size,
                 .ncounters = p->ncounters,
                 .full_size = put_payload(&packed, &payload)};
  h.size = sizeof h + packed.len;
  memcpy(h.id, p->id.bytes, sizeof h.id);
  h.checksum = map_checksum(&h, packed.data, packed.len);
  str_addn(out, &h, sizeof h);
  str_addn(out, packed.data, packed.len);
  str_release(&body);
  str_release(&payload);
  str_release(&packed);
  str_release(&strings.bytes);
  hashmap_release(&strings.numbers);
}
