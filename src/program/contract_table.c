// The contracts a program carries and the records of broken ones: see
// contract_table.h.
#include "program/contract_table.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "program/sections.h"
#include "util/fs.h"
#include "util/str.h"

static const char *const kind_names[CLAUSE_KINDS] = {
    [CLAUSE_REQUIRES] = "requires", [CLAUSE_ENSURES] = "ensures",
    [CLAUSE_ASSERT] = "assert",     [CLAUSE_INVARIANT] = "invariant",
    [CLAUSE_ASSIGNS] = "assigns",   [CLAUSE_VARIANT] = "variant"};

const char *clause_kind_name(ClauseKind kind) { return kind_names[kind]; }

// --- strings ----------------------------------------------------------------

typedef struct {
  const char *at, *end;
  Arena *arena;
  bool bad;
} Strings;

static const char *next_string(Strings *s) {
  size_t left = (size_t)(s->end - s->at);
  const char *nul = left ? memchr(s->at, '\0', left) : NULL;
  if (!nul) {
    s->bad = true;
    return "";
  }
  const char *text = arena_strdup(s->arena, s->at);
  s->at = nul + 1;
  return text;
}

static uint32_t next_number(Strings *s) {
  const char *text = next_string(s);
  char *end;
  unsigned long v = strtoul(text, &end, 10);
  s->bad |= end == text || *end || v > UINT32_MAX;
  return (uint32_t)v;
}

static ClauseKind next_kind(Strings *s) {
  const char *text = next_string(s);
  for (int k = 0; k < CLAUSE_KINDS; k++)
    if (!strcmp(text, kind_names[k]))
      return (ClauseKind)k;
  s->bad = true;
  return CLAUSE_ASSERT;
}

static ContractClause next_clause(Strings *s) {
  ContractClause c = {.kind = next_kind(s)};
  c.name = next_string(s);
  c.file = next_string(s);
  c.line = next_number(s);
  c.col = next_number(s);
  c.text = next_string(s);
  return c;
}

bool contract_parse(ContractTable *t, const void *strings, size_t size,
                    Arena *arena) {
  const char *data = strings;
  Strings s = {data, data + size, arena, false};
  ARRAY(ContractClause) clauses = {0};
  *t = (ContractTable){.function = next_string(&s)};
  t->body = next_string(&s);
  t->file = next_string(&s);
  t->line = next_number(&s);
  while (!s.bad && s.at < s.end && clauses.len < CONTRACT_CLAUSES_MAX)
    array_push(&clauses, next_clause(&s));
  t->nclauses = s.bad ? 0 : clauses.len;
  t->clauses = arena_array(arena, ContractClause, t->nclauses + 1);
  if (t->nclauses)
    memcpy(t->clauses, clauses.items, t->nclauses * sizeof *t->clauses);
  array_release(&clauses);
  return !s.bad && s.at == s.end;
}

// --- programs ---------------------------------------------------------------

// Chunks are aligned; what the linker puts between them is skipped.
static int read_section(ContractTables *t, Bytes section, const char *path,
                        Err *err) {
  for (size_t at = 0; section.size - at >= sizeof(ContractHeader);) {
    ContractHeader h;
    memcpy(&h, section.data + at, sizeof h);
    if (h.magic != CONTRACT_MAGIC) {
      at += 8;
      if (at > section.size)
        break;
      continue;
    }
    ContractTable table;
    size_t left = section.size - at - sizeof h;
    if (h.version != CONTRACT_VERSION)
      return err_set(err,
                     "%s: contracts of version %u, this build reads %u; "
                     "build it again with culprit-cc",
                     path, h.version, CONTRACT_VERSION);
    if (h.size > left ||
        !contract_parse(&table, (const char *)section.data + at + sizeof h,
                        h.size, &t->arena))
      return err_set(err, "%s: damaged contracts; build it again", path);
    array_push(&t->tables, table);
    at += (sizeof h + h.size + 7) & ~(size_t)7;
    if (at > section.size)
      break;
  }
  return 0;
}

int contracts_read(ContractTables *t, const char *path, Err *err) {
  *t = (ContractTables){0};
  Bytes file;
  if (sections_open(path, &file, err))
    return -1;
  size_t index = 0;
  int rc = 0;
  for (Bytes s; !rc && (s = section_find(file, CONTRACT_SECTION, &index)).data;)
    rc = read_section(t, s, path, err);
  sections_close(file);
  return rc;
}

void contracts_release(ContractTables *t) {
  array_release(&t->tables);
  arena_release(&t->arena);
}

// Code that is wrapped has another name. It may have no clauses, if only
// assertions inside.
static bool is_of_function(const ContractTable *t) {
  return strcmp(t->function, t->body) != 0;
}

const ContractTable *contracts_find(const ContractTables *t,
                                    const char *function) {
  for (size_t i = 0; i < t->tables.len; i++)
    if (!strcmp(t->tables.items[i].function, function) &&
        is_of_function(&t->tables.items[i]))
      return &t->tables.items[i];
  return NULL;
}

bool clause_same(const ContractClause *a, const ContractClause *b) {
  return a->kind == b->kind && a->line == b->line && a->col == b->col &&
         !strcmp(a->name, b->name) && !strcmp(a->file, b->file);
}

uint32_t contracts_number(const ContractTables *t, const ContractClause *c) {
  uint32_t number = 0;
  for (size_t i = 0; i < t->tables.len; i++)
    for (size_t k = 0; k < t->tables.items[i].nclauses; k++, number++)
      if (clause_same(&t->tables.items[i].clauses[k], c))
        return number;
  return UINT32_MAX;
}

const ContractClause *contracts_clause(const ContractTables *t,
                                       uint32_t number) {
  for (size_t i = 0; i < t->tables.len; i++) {
    const ContractTable *table = &t->tables.items[i];
    if (number < table->nclauses)
      return &table->clauses[number];
    number -= (uint32_t)table->nclauses;
  }
  return NULL;
}

// --- records ----------------------------------------------------------------

// Was `b` written after `a`, by the same call?
static bool is_same_call(const Violation *a, const Violation *b) {
  return b->call && a->call == b->call && a->pid == b->pid &&
         !strcmp(a->table.function, b->table.function);
}

// The record of the call in which the assertion before it was broken.
static bool parse_within(Violations *v, const ViolationHeader *h,
                         const char *strings) {
  ContractTable table;
  if (!v->items.len || h->broken || !h->call ||
      !contract_parse(&table, strings, h->size, &v->arena))
    return false;
  Violation *last = &array_last(&v->items);
  if (last->call || last->pid != h->pid)
    return false;
  last->within = table.function;
  last->within_call = h->call;
  return true;
}

// The record at `data`; its length, or 0 if it is none.
static size_t parse_record(Violations *v, const char *data, size_t size) {
  ViolationHeader h;
  if (size < sizeof h)
    return 0;
  memcpy(&h, data, sizeof h);
  size_t left = size - sizeof h, list = h.broken * sizeof(uint32_t);
  bool within = h.magic == VIOLATION_WITHIN_MAGIC;
  if ((h.magic != VIOLATION_MAGIC && !within) ||
      h.version != CONTRACT_VERSION || h.broken > CONTRACT_CLAUSES_MAX ||
      list > left || h.size > left - list)
    return 0;
  if (within)
    return parse_within(v, &h, data + sizeof h) ? sizeof h + h.size : 0;
  Violation item = {.call = h.call, .pid = h.pid, .nbroken = h.broken};
  item.broken = arena_array(&v->arena, uint32_t, h.broken + (size_t)1);
  memcpy(item.broken, data + sizeof h, list);
  if (!h.broken ||
      !contract_parse(&item.table, data + sizeof h + list, h.size, &v->arena))
    return 0;
  for (uint32_t i = 0; i < h.broken; i++)
    if (item.broken[i] >= item.table.nclauses)
      return 0;
  if (v->items.len && is_same_call(&array_last(&v->items), &item))
    array_last(&v->items) = item;
  else
    array_push(&v->items, item);
  return sizeof h + list + h.size;
}

void violations_parse(Violations *v, const void *data, size_t size) {
  for (size_t at = 0; at < size;) {
    size_t n = parse_record(v, (const char *)data + at, size - at);
    if (!n) {
      v->damaged = true;
      return;
    }
    at += n;
  }
}

static int is_record(const struct dirent *e) {
  return text_ends(e->d_name, ".contract");
}

void violations_read(Violations *v, const char *dir) {
  *v = (Violations){0};
  struct dirent **names = NULL;
  int n = scandir(dir, &names, is_record, alphasort);
  for (int i = 0; i < n; i++) {
    char *path = mem_printf("%s/%s", dir, names[i]->d_name);
    Str text = {0};
    Err ignored;
    if (fs_read_regular(path, 64 << 20, &text, &ignored))
      v->damaged = true;
    else
      violations_parse(v, str_text(&text), text.len);
    str_release(&text);
    free(path);
    free(names[i]);
  }
  free(names);
}

void violations_release(Violations *v) {
  array_release(&v->items);
  arena_release(&v->arena);
}

bool violation_is_of(const Violation *v, const char *function, uint64_t call) {
  const char *whose = v->call ? v->table.function : v->within;
  uint64_t number = v->call ? v->call : v->within_call;
  return whose && number == call && !strcmp(whose, function);
}

char *violation_names(const Violation *v) {
  Str out = {0};
  for (size_t i = 0; i < v->nbroken; i++)
    str_addf(&out, "%s%s", i ? ", " : "", v->table.clauses[v->broken[i]].name);
  return out.len ? str_take(&out) : mem_strdup("");
}
