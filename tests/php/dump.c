// Prints a record of the PHP extension as text, for tests and curious people:
//
//   php_dump DIR [KIND...]
//
// DIR is a culprit.dir. Kinds: statement function block edge condition return
// output fault include branch opaque kept relation pair call map byte tag (all
// but the last three if none is given).
// One line each:
//
//   statement view.php:7 1
//   condition view.php:8 if 0 1        outcome 0, once
//   return    view.php:6 dirname non-empty 1
//   edge      view.php {main} 8->9 1   lines of the blocks; - entry or leave
//   output    3 7 plain view.php:7     offset, length
//   byte      3 7 <                    offset, line, byte; the page is read from
//                                      standard input
//   tag       3 literal /app/view.php:7  offset; the line that holds it, as
//                                      literal, text that is printed elsewhere,
//                                      or value that no literal holds
//   fault     warning view.php:9 Undefined variable $x [silenced]
//   branch    view.php:9 1 (GET.n < 10)          [false] if it does not hold
//   opaque    md5 3
//   kept      SESSION.user POST.user
//   relation  view.php:9 compare `$n` equals `3`
//   pair      view.php:7 view.php:9 $n          defined, used; name if known
//   call      view.php:9 show                   statement and function
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/web_oracle.h"
#include "php/record/php_record.h"
#include "php/record/record_format.h"
#include "util/fs.h"

static const char *base(const char *path) { return path_base(path); }

static bool wanted(char **kinds, const char *kind) {
  if (!*kinds)
    return strcmp(kind, "map") != 0 && strcmp(kind, "byte") != 0 &&
           strcmp(kind, "tag") != 0;
  for (; *kinds; kinds++)
    if (!strcmp(*kinds, kind))
      return true;
  return false;
}

static void print_line(const Unit *u, uint32_t e) {
  if (e < u->nentities)
    printf("%u", u->entities[e].line);
  else
    printf("-");
}

static const char *function_of(const Unit *u, const Entity *e) {
  return e->function < u->nentities ? u->entities[e->function].name : "?";
}

// Not the names of the reports: those may be worded differently one day.
static const char *class_name(uint32_t c) {
  static const char *const names[] = {
      "null",  "non-null", "zero",  "non-zero",  "negative", "true",
      "false", "nan",      "empty", "non-empty", "constant", "non-constant"};
  return c < RETURN_CLASSES ? names[c] : "?";
}

static void print_entity(const Unit *u, const Entity *e) {
  printf("%s %s", entity_kind_name(e->kind), base(u->name));
  switch (e->kind) {
  case ENTITY_EDGE:
    printf(" %s ", function_of(u, e));
    print_line(u, e->from);
    printf("->");
    print_line(u, e->to);
    break;
  case ENTITY_CONDITION:
    printf(":%u %s %u", e->line, e->name, e->from);
    break;
  case ENTITY_RETURN:
    printf(":%u %s %s", e->line, e->name ? e->name : "?", class_name(e->from));
    break;
  case ENTITY_FUNCTION:
    printf(":%u %s", e->line, e->name);
    break;
  default:
    printf(":%u", e->line);
  }
}

static int dump_script(const char *dir, const ScriptHits *s, char **kinds,
                       Arena *arena) {
  char name[33];
  Unit u;
  Err err;
  for (int i = 0; i < 16; i++)
    snprintf(name + 2 * i, 3, "%02x", s->unit.bytes[i]);
  if (php_map_read(arena_printf(arena, "%s/maps/%s.map", dir, name), &u, arena,
                   &err)) {
    fprintf(stderr, "%s\n", err.text);
    return -1;
  }
  for (size_t i = 0; i < u.nentities && wanted(kinds, "map"); i++) {
    printf("map ");
    print_entity(&u, &u.entities[i]);
    printf("\n");
  }
  for (size_t i = 0; i < s->ncounts; i++) {
    if (s->counts[i].entity >= u.nentities)
      return -1;
    const Entity *e = &u.entities[s->counts[i].entity];
    if (!wanted(kinds, entity_kind_name(e->kind)))
      continue;
    print_entity(&u, e);
    printf(" %llu\n", (unsigned long long)s->counts[i].count);
  }
  return 0;
}

static void dump_rest(const PhpRecord *r, char **kinds) {
  static const char *const output[] = {"plain", "template", "changed",
                                       "unknown"};
  for (size_t i = 0; i < r->npieces && wanted(kinds, "output"); i++) {
    const OutputPiece *p = &r->pieces[i];
    printf("output %llu %llu %s %s:%u\n", (unsigned long long)p->offset,
           (unsigned long long)p->length, output[p->kind], base(p->file),
           p->line);
  }
  for (size_t i = 0; i < r->nfaults && wanted(kinds, "fault"); i++) {
    const PhpFault *f = &r->faults[i];
    printf("fault %s %s:%u %s", php_severity_name(f->severity), base(f->file),
           f->line, f->message);
    if (f->sql)
      printf(" <%s>", f->sql);
    if (f->sent.function)
      printf(" %s<%s>", f->sent.function, f->sent.text);
    printf("%s%s%s\n", f->silenced ? " [silenced]" : "",
           f->caught ? " [caught]" : "", f->handled ? " [handled]" : "");
  }
  if (r->status && wanted(kinds, "fault"))
    printf("%s %s:%u %s<%s>\n", r->status->message, base(r->status->file),
           r->status->line, r->status->sent.function, r->status->sent.text);
  for (size_t i = 0; i < r->nincludes && wanted(kinds, "include"); i++)
    printf("include %s\n", base(r->includes[i]));
}

// As the oracle finds the lines of a fault in the page.
static void dump_tag(ExecutedText *x, const OutputPiece *p, const char *page,
                     size_t at) {
  TextOrigins found = {0};
  WrittenByte w = {.is_literal = true, .line = web_line_at(p, page, at)};
  if (p->kind == OUTPUT_PLAIN)
    w = origin_in_statement(x, p->file, p->line, page + p->offset, p->length,
                            at - p->offset);
  if (!w.is_literal)
    origin_of_byte(x, page + p->offset + w.from, w.to - w.from,
                   at - p->offset - w.from, true, &found);
  for (size_t i = 0; i < found.len; i++)
    printf("tag %zu text %s:%u\n", at, found.items[i].file,
           found.items[i].line);
  if (!found.len)
    printf("tag %zu %s %s:%u\n", at, w.is_literal ? "literal" : "value",
           p->file, w.line ? w.line : p->line);
  array_release(&found);
}

static void dump_tags(ExecutedText *x, const PhpRecord *r, const Str *page) {
  for (size_t i = 0; i + 1 < page->len; i++) {
    const char *at = page->data + i;
    const OutputPiece *p = web_piece_at(r, i);
    if (p && *at == '<' && (isalpha((unsigned char)at[1]) || at[1] == '/') &&
        p->kind != OUTPUT_UNKNOWN && p->length <= page->len - p->offset)
      dump_tag(x, p, page->data, i);
  }
}

// The line of every byte of the page, inside statements of several lines too.
static void dump_bytes(const char *dir, const PhpRecord *r, bool tags,
                       Arena *arena) {
  Str page = {0};
  for (int c; (c = getchar()) != EOF;)
    str_addc(&page, (char)c);
  LiteralCache *literals =
      literal_cache_new(arena_printf(arena, "%s/maps", dir));
  ExecutedText *x = executed_text(literals, r, arena);
  if (tags)
    dump_tags(x, r, &page);
  for (size_t i = 0; !tags && i < page.len; i++) {
    const OutputPiece *p = web_piece_at(r, i);
    if (!p)
      continue;
    printf("byte %zu %u %c\n", i, web_exact_line(x, p, page.data, i),
           isprint((unsigned char)page.data[i]) ? page.data[i] : '.');
  }
  literal_cache_free(literals);
  str_release(&page);
}

static void dump_shadows(const PhpShadows *s, char **kinds) {
  char text[2048];
  TermEval *ev = term_eval_new(s);
  for (size_t i = 0; i < s->nbranches && wanted(kinds, "branch"); i++) {
    const PhpBranch *b = &s->branches[i];
    term_show(s, b->term, text, sizeof text);
    printf("branch %s:%u %d %s%s\n", base(b->file), b->line, b->outcome, text,
           term_decides(ev, b->term, b->outcome) ? "" : " [false]");
  }
  for (size_t i = 0; i < s->nkept && wanted(kinds, "kept"); i++) {
    term_show(s, s->kept[i].number, text, sizeof text);
    printf("kept %s %s\n", s->kept[i].name, text);
  }
  for (size_t i = 0; i < s->nopaque && wanted(kinds, "opaque"); i++)
    printf("opaque %s %u\n", s->opaque[i].name, s->opaque[i].number);
  term_eval_free(ev);
}

static void print_spot(const Unit *units, PhpSpot spot) {
  const Unit *u = &units[spot.script];
  if (spot.entity >= u->nentities) {
    printf(" ?");
    return;
  }
  const Entity *e = &u->entities[spot.entity];
  if (e->kind == ENTITY_FUNCTION)
    printf(" %s", e->name);
  else
    printf(" %s:%u", base(u->name), e->line);
}

static void dump_relations(const PhpRecord *r, const Unit *units) {
  static const char *const kinds[] = {"compare", "store", "return"};
  for (size_t i = 0; i < r->nrelations; i++) {
    printf("relation");
    print_spot(units, r->relations[i].statement);
    printf(" %s %s\n", kinds[r->relations[i].kind], r->relations[i].text);
  }
}

static void dump_pairs(const PhpRecord *r, const Unit *units, bool calls) {
  for (size_t i = 0; i < r->npairs; i++) {
    const PhpPair *p = &r->pairs[i];
    if (calls != (p->kind == PAIR_CALL))
      continue;
    printf("%s", calls ? "call" : "pair");
    print_spot(units, p->def);
    print_spot(units, p->use);
    printf("%s%s\n", p->name ? " " : "", p->name ? p->name : "");
  }
}

static int dump_close(const char *dir, const PhpRecord *r, char **kinds,
                      Arena *arena) {
  Unit *units = arena_array(arena, Unit, r->nscripts);
  Err err;
  for (size_t i = 0; i < r->nscripts; i++) {
    char name[33];
    for (int k = 0; k < 16; k++)
      snprintf(name + 2 * k, 3, "%02x", r->scripts[i].unit.bytes[k]);
    if (php_map_read(arena_printf(arena, "%s/maps/%s.map", dir, name),
                     &units[i], arena, &err))
      return -1;
  }
  if (wanted(kinds, "relation"))
    dump_relations(r, units);
  if (wanted(kinds, "pair"))
    dump_pairs(r, units, false);
  if (wanted(kinds, "call"))
    dump_pairs(r, units, true);
  return 0;
}

int main(int argc, char **argv) {
  Arena arena = {0};
  PhpRecord r;
  Err err;
  if (argc < 2)
    return 2;
  const char *path = arena_printf(&arena, "%s/request.rec", argv[1]);
  if (php_record_read(path, &r, &arena, &err)) {
    fprintf(stderr, "%s\n", err.text);
    return 1;
  }
  printf("%s %s\n", r.finished ? "finished" : "unfinished", base(r.script));
  if (r.note)
    printf("note %s\n", r.note);
  int rc = 0;
  for (size_t i = 0; i < r.nscripts && !rc; i++)
    rc = dump_script(argv[1], &r.scripts[i], argv + 2, &arena);
  dump_rest(&r, argv + 2);
  if (wanted(argv + 2, "byte") || wanted(argv + 2, "tag"))
    dump_bytes(argv[1], &r, wanted(argv + 2, "tag"), &arena);
  dump_shadows(r.shadows, argv + 2);
  if (!rc && (r.npairs || r.nrelations))
    rc = dump_close(argv[1], &r, argv + 2, &arena);
  arena_release(&arena);
  return rc ? 1 : 0;
}
