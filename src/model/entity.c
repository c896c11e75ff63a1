// Names of entity kinds: see entity.h.
#include "model/entity.h"

#include <string.h>

static const char *const names[ENTITY_KINDS] = {
    "statement", "function", "block", "edge",  "condition",
    "return",    "relation", "pair",  "slice",
};

const char *entity_kind_name(EntityKind kind) { return names[kind]; }

int entity_kind_parse(const char *name) {
  for (int k = 0; k < ENTITY_KINDS; k++)
    if (!strcmp(name, names[k]))
      return k;
  return -1;
}

static const char *const classes[RETURN_CLASSES] = {
    "null",
    "non-null",
    "zero",
    "non-zero",
    "a negative value",
    "true",
    "false",
    "NaN",
    "empty",
    "non-empty",
    "always the same value",
    "different values",
};

const char *return_class_name(ReturnClass c) {
  return c < RETURN_CLASSES ? classes[c] : "?";
}

size_t unit_statements(const Unit *unit) {
  size_t n = 0;
  for (size_t i = 0; i < unit->nentities; i++)
    n += unit->entities[i].kind == ENTITY_STATEMENT;
  return n;
}
