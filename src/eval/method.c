// The methods that are compared: see method.h.
#include "eval/method.h"

#include <stdlib.h>
#include <string.h>

#include "tally/owner.h"
#include "util/mem.h"
#include "util/str.h"

// The classical formulas as they were published, over statements; then with all
// that we record; then the others.
const char methods_default[] =
    METHOD_DEFAULT ",tarantula:statement,sbi:statement,jaccard:statement,"
                   "ochiai:statement,dstar:statement,op2:statement,branch,cp,"
                   "cbi,sober,tarantula,ochiai,dstar,op2";

static int parse_kinds(const char *text, unsigned *set) {
  char *copy = mem_strdup(text), *rest = copy;
  int rc = 0;
  *set = 0;
  for (char *word; !rc && (word = strsep(&rest, "+"));) {
    int kind = entity_kind_parse(word);
    if (kind < 0)
      rc = -1;
    else
      *set |= 1u << kind;
  }
  free(copy);
  return rc;
}

static int parse_method(MethodList *l, char *word, Str *lost, Err *err) {
  EvaluatedMethod m = {.name = mem_strdup(word), .of = l->items.len};
  char *kinds = strchr(word, ':');
  if (kinds)
    *kinds++ = '\0';
  bool known = localizer_find(word, &m.method);
  int rc = 0;
  if (kinds && parse_kinds(kinds, &m.entities))
    rc = err_set(err,
                 "method %s: expected kinds of entities after the colon, "
                 "as in %s:statement+condition",
                 m.name, word);
  else if (!known && !lost)
    rc = err_set(err,
                 "no method '%s'; `culprit rank --list-methods` lists "
                 "them",
                 word);
  else if (known)
    array_push(&l->items, m);
  else
    str_addf(lost, "%s%s", lost->len ? ", " : "", m.name);
  if (rc || !known)
    free(m.name);
  return rc;
}

int methods_parse(MethodList *l, const char *text, Str *lost, Err *err) {
  char *copy = mem_strdup(text), *rest = copy;
  int rc = 0;
  *l = (MethodList){0};
  for (char *word; !rc && (word = strsep(&rest, ","));)
    if (*word)
      rc = parse_method(l, word, lost, err);
  if (!rc && !l->items.len)
    rc = err_set(err, "no method in '%s'", text);
  free(copy);
  if (rc)
    methods_release(l);
  return rc;
}

// What is left out, of every formula and of the default method alone: only that
// one takes what a closer look recorded unless asked to.
static const unsigned of_formulas[] = {1u << ENTITY_CONDITION,
                                       1u << ENTITY_RETURN, TUPLE_KINDS};
static const unsigned of_cascade[] = {1u << ENTITY_RELATION, 1u << ENTITY_PAIR,
                                      1u << ENTITY_RELATION | 1u << ENTITY_PAIR,
                                      1u << ENTITY_SLICE, CLOSE_KINDS};

static void add_without(MethodList *l, size_t of, unsigned dropped) {
  EvaluatedMethod less = l->items.items[of];
  unsigned all = 1u << ENTITY_STATEMENT | TUPLE_KINDS;
  if (less.method.cascade)
    all |= CLOSE_KINDS;
  less.name = mem_strdup(less.name);
  less.dropped = dropped;
  less.entities = all & ~dropped;
  less.of = of;
  array_push(&l->items, less);
}

void methods_ablate(MethodList *l) {
  size_t n = l->items.len;
  for (size_t i = 0; i < n; i++) {
    Localizer m = l->items.items[i].method;
    if (m.rank || l->items.items[i].entities)
      continue; // it chooses its entities, or the user did
    for (size_t j = 0; j < sizeof of_formulas / sizeof *of_formulas; j++)
      add_without(l, i, of_formulas[j]);
    for (size_t j = 0; m.cascade && j < sizeof of_cascade / sizeof *of_cascade;
         j++)
      add_without(l, i, of_cascade[j]);
  }
}

void kinds_add(unsigned kinds, const char *between, const char *ending,
               Str *out) {
  bool first = true;
  for (int k = 0; k < ENTITY_KINDS; k++) {
    if (!(kinds & 1u << k))
      continue;
    str_addf(out, "%s%s%s", first ? "" : between,
             entity_kind_name((EntityKind)k), ending);
    first = false;
  }
}

void methods_release(MethodList *l) {
  for (size_t i = 0; i < l->items.len; i++)
    free(l->items.items[i].name);
  array_release(&l->items);
}
