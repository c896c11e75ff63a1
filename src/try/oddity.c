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

unsigned change_oddity(const Change *c) {
  switch (c->change) {
  case CHANGE_COMPARE:
  case CHANGE_ARITH:
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
    return c->b >= -1 && c->b <= 1 ? UNUSUAL : ODD;
  case CHANGE_FORCE:
  case CHANGE_SKIP:
  case CHANGE_LEFT:
  case CHANGE_RIGHT:
    return ODD;
  default:
    return UNUSUAL;
  }
}
