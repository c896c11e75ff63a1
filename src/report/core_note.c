// The core of a broken contract: see core_note.h.
#include "report/core_note.h"

#include <jansson.h>
#include <stdlib.h>

#include "util/mem.h"

static uint32_t find_statement(const Suite *suite, const char *file,
                               json_int_t line) {
  for (uint32_t i = 0; i < suite->nentities; i++) {
    const Entity *e = &suite->entities[i];
    if (e->kind == ENTITY_STATEMENT && e->line == line &&
        suite_path_matches(suite, e->source, file))
      return i;
  }
  return ENTITY_NONE;
}

static void add_line(CoreNote *c, const Suite *suite, const json_t *place) {
  const char *file = json_string_value(json_object_get(place, "file"));
  json_int_t line = json_integer_value(json_object_get(place, "line"));
  uint32_t entity = file ? find_statement(suite, file, line) : ENTITY_NONE;
  if (entity == ENTITY_NONE)
    c->unknown++;
  else
    array_push(&c->statements, entity);
}

static int take(CoreNote *c, const json_t *root, const char *path,
                const Suite *suite, Err *err) {
  const json_t *core = json_object_get(root, "core"), *item;
  const json_t *violated = json_object_get(root, "violated");
  size_t i;
  if (!json_is_array(core) || !json_is_array(violated))
    return err_set(err,
                   "%s: no core in it; give what `culprit spec --json` printed",
                   path);
  json_array_foreach(core, i, item) add_line(c, suite, item);
  json_array_foreach(violated, i, item) if (json_is_string(item))
      array_push(&c->violated, mem_strdup(json_string_value(item)));
  return 0;
}

int core_note_read(CoreNote *c, const char *path, const Suite *suite,
                   Err *err) {
  *c = (CoreNote){0};
  json_error_t error;
  json_t *root = json_load_file(path, 0, &error);
  if (!root)
    return err_set(err, "%s: %s", path, error.text);
  int rc = take(c, root, path, suite, err);
  json_decref(root);
  return rc;
}

static bool has(const CoreNote *c, uint32_t entity) {
  for (size_t i = 0; i < c->statements.len; i++)
    if (c->statements.items[i] == entity)
      return true;
  return false;
}

void core_note_of(CoreNote *c, const SpecNote *note, const Suite *suite) {
  *c = (CoreNote){0};
  for (size_t i = 0; i < note->violated.len; i++)
    array_push(&c->violated, mem_strdup(note->violated.items[i]));
  for (size_t i = 0; i < note->core.len; i++) {
    uint32_t entity = note_statement(suite, note->core.items[i].file,
                                     note->core.items[i].line);
    if (entity == ENTITY_NONE)
      c->unknown++;
    else if (!has(c, entity)) // several clauses may share it
      array_push(&c->statements, entity);
  }
}

void core_note_release(CoreNote *c) {
  for (size_t i = 0; i < c->violated.len; i++)
    free(c->violated.items[i]);
  array_release(&c->violated);
  array_release(&c->statements);
}
