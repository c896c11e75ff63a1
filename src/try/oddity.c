// How odd a change is: see oddity.h.
#include "try/oddity.h"

enum { USUAL, UNUSUAL, ODD };

static unsigned of_negation(const Site *s) {
  bool explicit = s->kind == SITE_COMPARE && !(s->flags & SITE_IMPLICIT);
  return explicit ? USUAL : UNUSUAL; // `<` to `>=`
}

static unsigned of_sum(const Site *s) {
  return s->kind == SITE_CONSTANT || s->kind == SITE_INDEX ? USUAL : UNUSUAL;
}

static unsigned of_value(int64_t v) {
  return v >= -1 && v <= 1 ? UNUSUAL : ODD;
}

// A statement put in front: returning in any case takes the rest away.
static unsigned of_statement(const Change *c) {
  bool always = (c->a >> 8 & 0xff) == TRY_ALWAYS;
  if (always && c->change == CHANGE_LEAVE)
    return ODD;
  return c->a & TRY_NAMED ? UNUSUAL : of_value(c->b);
}

unsigned change_oddity(const Change *c) {
  switch (c->change) {
  case CHANGE_COMPARE:
  case CHANGE_ARITH:
  case CHANGE_LOGIC:
  case CHANGE_SWAP:
    return USUAL;
  case CHANGE_NAME:
    return c->site->kind == SITE_CONSTANT ? UNUSUAL : USUAL;
  case CHANGE_NEGATE:
    return of_negation(c->site);
  case CHANGE_ADD:
    return of_sum(c->site);
  case CHANGE_AND:
  case CHANGE_OR:
    return of_value(c->b);
  case CHANGE_LEAVE:
  case CHANGE_ASSIGN:
    return of_statement(c);
  case CHANGE_FORCE:
  case CHANGE_SKIP:
  case CHANGE_LEFT:
  case CHANGE_RIGHT:
    return ODD;
  default:
    return UNUSUAL;
  }
}
