// A session as localizers and reports see it: see suite.h.
#include "model/suite.h"

#include <stdlib.h>
#include <string.h>

#include "util/fs.h"
#include "util/str.h"

void suite_release(Suite *s) {
  arena_release(&s->arena);
  *s = (Suite){0};
}

bool is_web_session(const Suite *s) {
  return s->command && text_starts(s->command, "culprit web ");
}

void suite_filter_failures(Suite *s, FailureKeeps *keeps, const void *ctx) {
  size_t kept = 0;
  for (size_t i = 0; i < s->nfailures; i++) {
    FailureGroup g = s->failures[i];
    size_t n = 0;
    for (size_t k = 0; k < g.nruns; k++)
      if (keeps(&g, &s->runs[g.runs[k]], ctx))
        g.runs[n++] = g.runs[k];
    g.nruns = n;
    if (n)
      s->failures[kept++] = g;
  }
  s->nfailures = kept;
  s->nkept = 0; // they are about the failures as they were
}

const char *suite_shown(const Suite *s, const char *path) {
  bool has = s->project && *s->project;
  const char *below = has ? path_below(path, s->project) : path;
  return below != path ? below : path_below(path, s->cwd);
}

const char *suite_path(const Suite *s, uint32_t source) {
  return suite_shown(s, s->sources[source].path);
}

const char *suite_compiled(const Suite *s, const Entity *e) {
  bool is = e->kind == ENTITY_STATEMENT && e->text && *e->text == '/';
  return is ? suite_shown(s, e->text) : NULL;
}

const char *suite_file(const Suite *s, uint32_t source) {
  return path_below(s->sources[source].path, s->cwd);
}

const Source *suite_source(const Suite *s, const char *path) {
  for (size_t i = 0; i < s->nsources; i++)
    if (!strcmp(s->sources[i].path, path))
      return &s->sources[i];
  return NULL;
}

bool suite_has_sources(const Suite *s, const Suite *other) {
  for (size_t i = 0; i < other->nsources; i++) {
    const Source *there = suite_source(s, other->sources[i].path);
    if (!there || there->hash != other->sources[i].hash)
      return false;
  }
  return true;
}

bool suite_comes_last(const Suite *s, uint32_t entity) {
  const Source *source = &s->sources[s->entities[entity].source];
  return source->test || source->generated || source->outside;
}

int suite_by_place(const void *a, const void *b, void *suite) {
  const Suite *s = suite;
  const Entity *x = &s->entities[*(const uint32_t *)a];
  const Entity *y = &s->entities[*(const uint32_t *)b];
  if (x->source != y->source)
    return strcmp(s->sources[x->source].path, s->sources[y->source].path);
  return (x->line > y->line) - (x->line < y->line);
}

// "../src/a.c", seen from the session's directory.
static bool is_beside(const Suite *s, const char *path, const char *file) {
  char *full = path_absolute(file, s->cwd);
  bool same = !strcmp(full, path);
  free(full);
  return same;
}

bool suite_path_matches(const Suite *s, uint32_t source, const char *file) {
  const char *path = s->sources[source].path;
  if (text_starts(file, "../"))
    return is_beside(s, path, file);
  while (text_starts(file, "./"))
    file += 2;
  if (!strcmp(path, file) || !strcmp(suite_path(s, source), file))
    return true;
  size_t n = strlen(path), m = strlen(file);
  return m && n > m && !strcmp(path + n - m, file) && path[n - m - 1] == '/';
}
