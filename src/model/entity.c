// Names of entity kinds: see entity.h.
#include "model/entity.h"

#include <string.h>

static const char *const names[ENTITY_KINDS] = {
    "statement", "function", "block", "edge", "condition", "return",
};

const char *entity_kind_name(EntityKind kind) { return names[kind]; }

int entity_kind_parse(const char *name) {
  for (int k = 0; k < ENTITY_KINDS; k++)
    if (!strcmp(name, names[k]))
      return k;
  return -1;
}
