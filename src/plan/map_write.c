// Writes a plan as a chunk of the program map: see map_write.h.
#include "plan/map_write.h"

#include <string.h>
#include <xxhash.h>

#include "program/map_format.h"
#include "util/leb.h"

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

static void put_refs(Str *out, const Plan *p, size_t entity) {
  uint32_t first = p->first_ref.items[entity];
  uint32_t end = p->first_ref.items[entity + 1];
  leb_put(out, end - first);
  uint32_t last = 0;
  for (uint32_t i = first; i < end; i++) {
    leb_put(out, p->refs.items[i] - last);
    last = p->refs.items[i];
  }
}

#define PUT_FIELD(member, optional)                                            \
  leb_put(out, optional ? (uint64_t)(uint32_t)(item->member + 1u)              \
                        : (uint64_t)item->member);

static void put_entities(Str *out, Strings *s, const Plan *p) {
  leb_put(out, p->entities.len);
  for (size_t i = 0; i < p->entities.len; i++) {
    const Entity *item = &p->entities.items[i];
    MAP_ENTITY_FIELDS(PUT_FIELD)
    put_optional_string(out, s, item->name);
    put_optional_string(out, s, item->text);
    put_refs(out, p, i);
  }
}

static uint64_t zigzag(int64_t v) {
  return (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
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
  leb_put(out, p->calls.len);
  for (size_t i = 0; i < p->calls.len; i++) {
    const CallSite *item = &p->calls.items[i];
    MAP_CALL_FIELDS(PUT_FIELD)
    put_optional_string(out, s, item->callee);
  }
}

static void put_difference(Str *out, uint32_t v, uint32_t *last) {
  leb_put(out, zigzag((int64_t)v - *last));
  *last = v;
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

void map_write(const Plan *p, CounterSize counter_size, Str *out) {
  Strings strings = {0};
  Str body = {0}, payload = {0};
  put_body(&body, &strings, p);
  leb_put(&payload, strings.count);
  str_addn(&payload, str_text(&strings.bytes), strings.bytes.len);
  str_addn(&payload, str_text(&body), body.len);
  MapHeader h = {.magic = MAP_MAGIC,
                 .size = sizeof h + payload.len,
                 .version = MAP_VERSION,
                 .counter_size = counter_size,
                 .ncounters = p->ncounters};
  memcpy(h.id, p->id.bytes, sizeof h.id);
  h.checksum = map_checksum(&h, payload.data, payload.len);
  str_addn(out, &h, sizeof h);
  str_addn(out, payload.data, payload.len);
  str_release(&body);
  str_release(&payload);
  str_release(&strings.bytes);
  hashmap_release(&strings.numbers);
}
