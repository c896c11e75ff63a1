// The sites of a build for experiments: see site_table.h.
#include "program/site_table.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

typedef struct {
  SiteTable *table;
  TrySitesHeader head;
  const unsigned char *records;
  const char *strings;
} Chunk;

static const char *text_of(const Chunk *c, uint32_t at) {
  return at < c->head.strings ? c->strings + at : NULL;
}

// Takes "i:count\nu:n\n" apart; -1: it is something else, or of another number.
static int take_names(Chunk *c, Site *s, const char *text, uint32_t n) {
  Arena *arena = &c->table->arena;
  SiteName *names = arena_array(arena, SiteName, n + 1);
  for (uint32_t i = 0; i < n; i++) {
    const char *end = strchr(text, '\n');
    if (!end || end - text < 3 || text[1] != ':' || !strchr("iuprIUPR", *text))
      return -1;
    names[i] = (SiteName){
        .kind = (char)tolower(*text),
        .fixed = isupper(*text),
        .name = arena_strndup(arena, text + 2, (size_t)(end - text) - 2)};
    text = end + 1;
  }
  s->names = names;
  s->nnames = n;
  return *text ? -1 : 0;
}

// Is it an operator of such a site?
static bool has_operator(const TrySite *r) {
  return r->kind == SITE_COMPARE ? r->op < OP_COMPARES
         : r->kind == SITE_ARITH ? r->op < OP_ARITHS
                                 : true;
}

static int take_site(Chunk *c, uint32_t index) {
  TrySite r;
  memcpy(&r, c->records + (size_t)index * sizeof r, sizeof r);
  const char *file = text_of(c, r.file), *function = text_of(c, r.function);
  const char *names = text_of(c, r.names), *text = text_of(c, r.text);
  if (!file || !function || !names || !text || !r.kind ||
      r.kind >= SITE_KINDS || !has_operator(&r) || r.nnames > TRY_NAMES_MOST ||
      r.owner >= SITE_KINDS)
    return -1;
  Arena *arena = &c->table->arena;
  Site s = {.number = index + 1,
            .kind = r.kind,
            .op = r.op,
            .width = r.width,
            .flags = r.flags,
            .file = arena_strdup(arena, file),
            .function = arena_strdup(arena, function),
            .text = arena_strdup(arena, text),
            .line = r.line,
            .column = r.column,
            .operand = r.operand,
            .owner = r.owner,
            .value = r.value};
  memcpy(s.unit.bytes, c->head.id, sizeof s.unit.bytes);
  if (take_names(c, &s, names, r.nnames))
    return -1;
  array_push(&c->table->sites, s);
  return 0;
}

// The bytes of the chunk at the start of `data`; 0: it is damaged.
static size_t take_chunk(SiteTable *t, const unsigned char *data, size_t size) {
  Chunk c = {.table = t};
  memcpy(&c.head, data, sizeof c.head);
  size_t left = size - sizeof c.head;
  size_t records = (size_t)c.head.nsites * sizeof(TrySite);
  if (c.head.nsites > left / sizeof(TrySite) ||
      c.head.strings > left - records || !c.head.strings)
    return 0;
  c.records = data + sizeof c.head;
  c.strings = (const char *)c.records + records;
  if (c.strings[0] || c.strings[c.head.strings - 1])
    return 0;
  for (uint32_t i = 0; i < c.head.nsites; i++)
    if (take_site(&c, i))
      return 0;
  return sizeof c.head + records + c.head.strings;
}

// What aligns the chunks.
static bool is_padding(const unsigned char *at, const unsigned char *end) {
  while (at < end && !*at)
    at++;
  return at == end;
}

int site_table_parse(SiteTable *t, Bytes section, const char *path, Err *err) {
  const unsigned char *at = section.data, *end = at + section.size;
  *t = (SiteTable){0};
  while (!is_padding(at, end)) {
    TrySitesHeader head = {0};
    if ((size_t)(end - at) < sizeof head)
      return err_set(err, "%s: its table of sites is damaged", path);
    memcpy(&head, at, sizeof head);
    if (!head.magic) {
      at += sizeof head.magic; // between two chunks
      continue;
    }
    if (head.magic == TRY_MAGIC && head.version != TRY_VERSION)
      return err_set(err, "%s: its sites have version %u, this build reads %d",
                     path, head.version, TRY_VERSION);
    size_t n =
        head.magic == TRY_MAGIC ? take_chunk(t, at, (size_t)(end - at)) : 0;
    if (!n)
      return err_set(err, "%s: its table of sites is damaged", path);
    at += n;
  }
  return 0;
}

int site_table_read(SiteTable *t, const char *program, Err *err) {
  Bytes file;
  size_t index = 0;
  *t = (SiteTable){0};
  if (sections_open(program, &file, err))
    return -1;
  Bytes section = section_find(file, TRY_SECTION, &index);
  int rc = section.data
               ? site_table_parse(t, section, program, err)
               : err_set(err, "%s: not a build for experiments", program);
  sections_close(file);
  return rc;
}

void site_table_release(SiteTable *t) {
  array_release(&t->sites);
  arena_release(&t->arena);
  *t = (SiteTable){0};
}
