// Unit tests of src/php/record/php_record.c over a real record and its maps
// (tests/data/php: page.php with part.php, recorded by culprit.so), and over
// thousands of damaged copies of them.
#include "test.h"

#include <stdlib.h>
#include <xxhash.h>

#include "php/record/php_record.h"
#include "php/record/record_format.h"
#include "util/fs.h"
#include "util/str.h"

#define DATA TEST_DATA "/php/"

static Str load(const char *path) {
  Str s = {0};
  Err err;
  assert_int_equal(fs_read(path, 0, &s, &err), 0);
  return s;
}

static const PhpRecord *sample(Arena *a) {
  static PhpRecord r;
  Err err;
  assert_int_equal(php_record_read(DATA "request.rec", &r, a, &err), 0);
  return &r;
}

// How often the entities of a kind on a line were executed, together.
static uint64_t count(const ScriptHits *s, const Unit *u, EntityKind kind,
                      uint32_t line) {
  uint64_t sum = 0;
  for (size_t i = 0; i < s->ncounts; i++) {
    const Entity *e = &u->entities[s->counts[i].entity];
    if (e->kind == kind && e->line == line)
      sum += s->counts[i].count;
  }
  return sum;
}

static void read_map(const char *name, Unit *u, Arena *a) {
  Err err = {0};
  char path[4096];
  snprintf(path, sizeof path, "%s%s", DATA, name);
  assert_int_equal(php_map_read(path, u, a, &err), 0);
}

// --- a real record ----------------------------------------------------------

TEST(a_record_names_its_scripts_in_order) {
  Arena a = {0};
  const PhpRecord *r = sample(&a);
  Unit page, part;
  read_map("page.map", &page, &a);
  read_map("part.map", &part, &a);
  assert_true(r->finished);
  assert_null(r->note);
  assert_string_equal(path_base(r->script), "page.php");
  assert_int_equal(r->nscripts, 2);
  assert_memory_equal(&r->scripts[0].unit, &page.id, sizeof page.id);
  assert_memory_equal(&r->scripts[1].unit, &part.id, sizeof part.id);
  assert_int_equal(r->nincludes, 1);
  assert_string_equal(path_base(r->includes[0]), "part.php");
  arena_release(&a);
}

TEST(counts_are_those_of_the_request) {
  Arena a = {0};
  const PhpRecord *r = sample(&a);
  Unit u;
  read_map("page.map", &u, &a);
  const ScriptHits *s = &r->scripts[0];
  assert_int_equal(count(s, &u, ENTITY_STATEMENT, 4), 3);
  assert_int_equal(count(s, &u, ENTITY_STATEMENT, 5), 1);
  assert_int_equal(count(s, &u, ENTITY_STATEMENT, 6), 2);
  assert_int_equal(count(s, &u, ENTITY_STATEMENT, 2), 0);
  assert_int_equal(count(s, &u, ENTITY_CONDITION, 8), 3);
  assert_int_equal(count(s, &u, ENTITY_CONDITION, 4), 4);
  assert_int_equal(count(s, &u, ENTITY_FUNCTION, 3), 3);
  for (size_t i = 1; i < s->ncounts; i++)
    assert_true(s->counts[i - 1].entity < s->counts[i].entity);
  arena_release(&a);
}

TEST(the_last_statement_is_that_of_the_last_line) {
  Arena a = {0};
  const PhpRecord *r = sample(&a);
  Unit u;
  read_map("page.map", &u, &a);
  assert_int_equal(r->last_script, 0);
  assert_int_equal(u.entities[r->last_entity].kind, ENTITY_STATEMENT);
  assert_int_equal(u.entities[r->last_entity].line, 15);
  arena_release(&a);
}

TEST(pieces_follow_each_other_without_gaps) {
  Arena a = {0};
  const PhpRecord *r = sample(&a);
  uint64_t at = 0;
  assert_int_equal(r->npieces, 5);
  for (size_t i = 0; i < r->npieces; i++) {
    assert_int_equal(r->pieces[i].offset, at);
    at += r->pieces[i].length;
  }
  assert_int_equal(r->pieces[0].kind, OUTPUT_TEMPLATE);
  assert_int_equal(r->pieces[0].line, 1);
  assert_string_equal(path_base(r->pieces[3].file), "part.php");
  assert_int_equal(r->pieces[3].line, 7);
  arena_release(&a);
}

TEST(faults_tell_what_was_caught) {
  Arena a = {0};
  const PhpRecord *r = sample(&a);
  assert_int_equal(r->nfaults, 2);
  assert_int_equal(r->faults[0].severity, PHP_WARNING);
  assert_string_equal(r->faults[0].message, "Undefined variable $missing");
  assert_int_equal(r->faults[0].line, 10);
  assert_false(r->faults[0].caught);
  assert_true(r->faults[1].caught);
  assert_null(r->faults[1].sql);
  assert_string_equal(php_severity_name(PHP_QUERY), "query");
  arena_release(&a);
}

static uint64_t flow(const ScriptHits *s, const Unit *u, uint32_t block,
                     bool out) {
  uint64_t sum = 0;
  for (size_t i = 0; i < s->ncounts; i++) {
    const Entity *e = &u->entities[s->counts[i].entity];
    if (e->kind == ENTITY_EDGE && (out ? e->from : e->to) == block)
      sum += s->counts[i].count;
  }
  return sum;
}

TEST(what_flows_into_a_block_flows_out_of_it) {
  Arena a = {0};
  const PhpRecord *r = sample(&a);
  Unit u;
  read_map("page.map", &u, &a);
  const ScriptHits *s = &r->scripts[0];
  size_t blocks = 0;
  for (size_t i = 0; i < s->ncounts; i++) {
    uint32_t e = s->counts[i].entity;
    if (u.entities[e].kind != ENTITY_BLOCK)
      continue;
    blocks++;
    assert_int_equal(flow(s, &u, e, false), s->counts[i].count);
    assert_int_equal(flow(s, &u, e, true), s->counts[i].count);
  }
  assert_int_equal(blocks, 7);
  arena_release(&a);
}

// --- a real map -------------------------------------------------------------

TEST(a_map_is_a_unit_with_sound_links) {
  Arena a = {0};
  Unit u;
  read_map("page.map", &u, &a);
  assert_int_equal(u.nsources, 1);
  assert_string_equal(u.name, u.sources[0].path);
  Str text = load(DATA "page.php");
  assert_true(u.sources[0].hash == XXH3_64bits(text.data, text.len));
  str_release(&text);
  for (size_t i = 0; i < u.nentities; i++) {
    const Entity *e = &u.entities[i];
    assert_int_equal(u.entities[e->function].kind, ENTITY_FUNCTION);
    if (e->kind == ENTITY_EDGE && e->from != ENTITY_NONE)
      assert_int_equal(u.entities[e->from].kind, ENTITY_BLOCK);
    if (e->kind == ENTITY_CONDITION || e->kind == ENTITY_RETURN)
      assert_int_equal(u.entities[e->to].kind, ENTITY_BLOCK);
    if (e->kind == ENTITY_CONDITION || e->kind == ENTITY_FUNCTION)
      assert_non_null(e->name);
  }
  for (size_t i = 0; i < u.nstandings; i++) {
    assert_int_equal(u.entities[u.standings[i].statement].kind,
                     ENTITY_STATEMENT);
    assert_int_equal(u.entities[u.standings[i].block].kind, ENTITY_BLOCK);
  }
  arena_release(&a);
}

// --- damage -----------------------------------------------------------------

TEST(what_is_no_record_is_refused_with_a_remedy) {
  Arena a = {0};
  PhpRecord r;
  Unit u;
  Err err;
  assert_int_equal(php_record_parse("", 0, &r, &a, &err), -1);
  assert_int_equal(php_map_parse("x", 1, &u, &a, &err), -1);
  assert_int_equal(php_record_read("/nonexistent", &r, &a, &err), -1);
  assert_non_null(strstr(err.text, "/nonexistent"));
  Str s = load(DATA "request.rec");
  s.data[8]++;
  assert_int_equal(php_record_parse(s.data, s.len, &r, &a, &err), -1);
  assert_non_null(strstr(err.text, "version"));
  str_release(&s);
  arena_release(&a);
}

TEST(a_record_without_its_end_is_refused) {
  Arena a = {0};
  PhpRecord r;
  Err err;
  Str s = load(DATA "request.rec");
  for (size_t n = 0; n < s.len; n++) {
    char *cut = mem_dup(s.data, n); // its own block: overruns show
    assert_int_equal(php_record_parse(cut, n, &r, &a, &err), -1);
    free(cut);
  }
  str_release(&s);
  arena_release(&a);
}

static uint32_t next_random(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

// The record with items of a closer look behind it: a relation and a pair
// between the statements of the first script.
static Str with_close_items(uint32_t outcome) {
  Str s = load(DATA "request.rec");
  PhpRecordHeader h;
  memcpy(&h, s.data, sizeof h);
  s.len = h.used;
  ItemRelation r = {.head = {ITEM_RELATION, sizeof r + 8},
                    .statement = h.last,
                    .function = h.last,
                    .outcome = outcome,
                    .length = 5};
  ItemPair p = {.head = {ITEM_PAIR, sizeof p + 8},
                .def = h.last,
                .use = h.last,
                .length = 2};
  str_addn(&s, &r, sizeof r);
  str_addn(&s, "a < b\0\0\0", 8);
  str_addn(&s, &p, sizeof p);
  str_addn(&s, "$a\0\0\0\0\0\0", 8);
  h.used = s.len;
  memcpy(s.data, &h, sizeof h);
  return s;
}

TEST(relations_and_pairs_lead_to_statements) {
  Arena a = {0};
  PhpRecord r;
  Err err;
  Str s = with_close_items(RELATION_LESS);
  assert_int_equal(php_record_parse(s.data, s.len, &r, &a, &err), 0);
  assert_int_equal(r.nrelations, 1);
  assert_string_equal(r.relations[0].text, "a < b");
  assert_int_equal(r.relations[0].statement.script, r.last_script);
  assert_int_equal(r.relations[0].statement.entity, r.last_entity);
  assert_int_equal(r.npairs, 1);
  assert_string_equal(r.pairs[0].name, "$a");
  assert_int_equal(r.pairs[0].use.entity, r.last_entity);
  str_release(&s);
  s = with_close_items(RELATION_OUTCOMES);
  assert_int_not_equal(php_record_parse(s.data, s.len, &r, &a, &err), 0);
  assert_non_null(strstr(err.text, "a relation is of no known kind"));
  str_release(&s);
  arena_release(&a);
}

static void damage(char *bytes, size_t n, size_t from, uint32_t *random) {
  static const unsigned char nasty[] = {0, 1, 0x7f, 0x80, 0xff};
  for (uint32_t k = 1 + next_random(random) % 4; k; k--) {
    size_t at = from + next_random(random) % (n - from);
    uint32_t how = next_random(random);
    bytes[at] =
        how & 1 ? (char)(how >> 1) : (char)nasty[(how >> 1) % sizeof nasty];
  }
}

// Reads all that a caller may read.
static uint64_t touch(const PhpRecord *r) {
  uint64_t sum = strlen(r->script);
  for (size_t i = 0; i < r->nscripts; i++)
    for (size_t k = 0; k < r->scripts[i].ncounts; k++)
      sum += r->scripts[i].counts[k].count;
  for (size_t i = 0; i < r->npieces; i++)
    sum += strlen(r->pieces[i].file) + (r->pieces[i].kind > OUTPUT_UNKNOWN);
  for (size_t i = 0; i < r->nfaults; i++) {
    sum += strlen(r->faults[i].message) + strlen(r->faults[i].file);
    sum += r->faults[i].sql ? strlen(r->faults[i].sql) : 0;
  }
  for (size_t i = 0; i < r->nincludes; i++)
    sum += strlen(r->includes[i]);
  for (size_t i = 0; i < r->nrelations; i++)
    sum += strlen(r->relations[i].text) + r->relations[i].outcome;
  for (size_t i = 0; i < r->npairs; i++)
    sum += r->pairs[i].name ? strlen(r->pairs[i].name) : 0;
  return sum;
}

// Damage from byte `from` on, or in half of the copies anywhere.
static void check_damaged(Str s, size_t from) {
  uint32_t random = 1;
  int good = 0, bad = 0;
  for (int i = 0; i < 20000; i++) {
    Arena a = {0};
    PhpRecord r;
    Err err;
    char *copy = mem_dup(s.data, s.len);
    damage(copy, s.len, i % 2 ? from : 0, &random);
    if (php_record_parse(copy, s.len, &r, &a, &err)) {
      assert_true(err.text[0]);
      bad++;
    } else {
      touch(&r);
      good++;
    }
    free(copy);
    arena_release(&a);
  }
  assert_true(good > 100 && bad > 100); // or the test tests nothing
  str_release(&s);
}

TEST(a_damaged_record_is_refused_or_read_within_bounds) {
  check_damaged(load(DATA "request.rec"), sizeof(PhpRecordHeader));
}

TEST(damaged_relations_and_pairs_are_refused_or_read_within_bounds) {
  Str s = with_close_items(RELATION_LESS);
  check_damaged(s, s.len - sizeof(ItemRelation) - sizeof(ItemPair) - 16);
}

// A map has a checksum: damage that should get through is signed again.
static void sign(char *bytes, size_t n) {
  PhpMapHeader h;
  memcpy(&h, bytes, sizeof h);
  h.checksum =
      XXH3_64bits_withSeed(bytes + sizeof h, n - sizeof h, h.source_hash);
  memcpy(bytes, &h, sizeof h);
}

static void check_unit(const Unit *u) {
  for (size_t i = 0; i < u->nentities; i++) {
    const Entity *e = &u->entities[i];
    assert_true(e->kind < ENTITY_KINDS && e->function < u->nentities);
    assert_true(e->to == ENTITY_NONE || e->to < u->nentities);
    if (e->kind == ENTITY_EDGE)
      assert_true(e->from == ENTITY_NONE || e->from < u->nentities);
    if (e->name)
      assert_true(strlen(e->name) > 0);
  }
  for (size_t i = 0; i < u->nstandings; i++)
    assert_true(u->standings[i].statement < u->nentities &&
                u->standings[i].block < u->nentities);
}

TEST(a_damaged_map_is_refused_or_sound) {
  Str s = load(DATA "page.map");
  uint32_t random = 7;
  int good = 0, bad = 0;
  for (int i = 0; i < 20000; i++) {
    Arena a = {0};
    Unit u;
    Err err;
    char *copy = mem_dup(s.data, s.len);
    damage(copy, s.len, i % 4 ? sizeof(PhpMapHeader) : 0, &random);
    sign(copy, s.len);
    if (php_map_parse(copy, s.len, &u, &a, &err)) {
      bad++;
    } else {
      check_unit(&u);
      good++;
    }
    free(copy);
    arena_release(&a);
  }
  assert_true(good > 100 && bad > 100);
  str_release(&s);
}

TEST(a_map_whose_checksum_is_wrong_is_refused) {
  Arena a = {0};
  Unit u;
  Err err;
  Str s = load(DATA "page.map");
  s.data[s.len - 1] ^= 1;
  assert_int_equal(php_map_parse(s.data, s.len, &u, &a, &err), -1);
  assert_non_null(strstr(err.text, "checksum"));
  str_release(&s);
  arena_release(&a);
}
