// What an outcome of a condition means, in words: see condition.h.
#include "model/condition.h"

#include <string.h>

static void add_which(Which which, Str *out) {
  if (which.column)
    str_addf(out, " at column %u", which.column);
}

// Its outcomes are numbered, or say where they lead.
static void add_branch(const Entity *e, Str *out) {
  if (!strcmp(e->name, "branch"))
    str_addf(out, "branch %u of the line is taken", e->from);
  else
    str_addf(out, "the %s is taken", e->name);
}

static void add_switch(const Entity *e, Which which, Str *out) {
  if (e->from && e->text)
    str_addf(out, "`%s` of the switch", e->text);
  else if (e->from)
    str_addf(out, "case %u of the switch", e->from);
  else if (e->text)
    str_addf(out, "no case of `switch (%s)`", e->text);
  else
    str_add(out, "no case of the switch");
  add_which(which, out);
  str_add(out, " is taken");
}

void condition_add(const Entity *e, Which which, Str *out) {
  if (e->name && text_starts(e->name, "branch")) {
    add_branch(e, out);
    return;
  }
  if (e->name && !strcmp(e->name, "switch")) {
    add_switch(e, which, out);
    return;
  }
  if (e->text)
    str_addf(out, "`%s`", e->text);
  else if (which.number)
    str_addf(out, "condition %u of the line", which.number);
  else
    str_add(out, "the condition");
  add_which(which, out);
  str_addf(out, " is %s", e->from ? "true" : "false");
}
