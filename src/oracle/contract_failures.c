// Broken contracts as failures of a run: see contract_failures.h.
#include "oracle/contract_failures.h"

#include <stdlib.h>
#include <string.h>

#include "oracle/failure.h"
#include "util/fs.h"
#include "util/str.h"

static bool is_precondition(const Violation *v) {
  return v->table.clauses[v->broken[0]].kind == CLAUSE_REQUIRES;
}

void contract_add_failure(const Violation *v, const char *root, Run *run) {
  const ContractClause *c = &v->table.clauses[v->broken[0]];
  char *names = violation_names(v);
  char *place = mem_printf("%s:%u", path_below(c->file, root), c->line);
  char *signature = mem_printf("%s: %s", v->table.function, names);
  Str message = {0};
  if (is_precondition(v))
    str_addf(&message, "%s called wrongly: requires %s", v->table.function,
             names);
  else
    str_addf(&message, "%s: %s %s violated", v->table.function, names,
             v->nbroken > 1 ? "are" : "is");
  if (v->call)
    str_addf(&message, " at call %llu", (unsigned long long)v->call);
  else if (v->within)
    str_addf(&message, " in call %llu of %s",
             (unsigned long long)v->within_call, v->within);
  str_addf(&message, " (%s): %s", place, c->text);
  failure_add(run, "contract", place, signature, message.data);
  str_release(&message);
  free(names);
  free(place);
  free(signature);
}

void contract_add_failures(const char *dir, const char *root, Run *run) {
  Violations v;
  violations_read(&v, dir);
  for (size_t i = 0; i < v.items.len; i++)
    contract_add_failure(&v.items.items[i], root, run);
  if (v.damaged)
    run_add_note(run, "a record of broken contracts cannot be read");
  violations_release(&v);
}

bool contract_failed(const Run *run) {
  for (size_t i = 0; i < run->failures.len; i++)
    if (!strcmp(run->failures.items[i].kind, "contract"))
      return true;
  return false;
}
