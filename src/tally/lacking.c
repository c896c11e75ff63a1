// Why a session lacks entities of a kind: see lacking.h.
#include "tally/lacking.h"

#include "util/str.h"

unsigned kinds_present(const Suite *suite) {
  unsigned present = 0;
  for (size_t i = 0; i < suite->nentities; i++)
    present |= 1u << suite->entities[i].kind;
  return present;
}

const char *lacking_reason(const Suite *suite, EntityKind kind) {
  const char *command = suite->command ? suite->command : "";
  bool web = text_starts(command, "culprit web ");
  // Only culprit's own front ends tell blocks and edges.
  bool own = kinds_present(suite) & 1u << ENTITY_BLOCK;
  if (own && kind == ENTITY_CONDITION)
    return "none of its code has a condition";
  if (own && kind == ENTITY_RETURN && web)
    return "none of its calls returns a value";
  if (kind == ENTITY_RETURN)
    return "build with CULPRIT_MODE=hits+returns and run the tests again (if "
           "you did, none of its calls returns a value)";
  if (CLOSE_KINDS & 1u << kind)
    return web ? "only a closer look records them: `culprit web` without "
                 "`--close 0`"
               : "only a closer look records them: `culprit run` without "
                 "`--close 0`";
  if (text_starts(command, "culprit import "))
    return "imported coverage does not contain them; build with culprit-cc and "
           "run the tests with culprit";
  return "build with culprit-cc and run the tests again";
}
