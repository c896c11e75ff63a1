// What a session suspects, by lines: see line_suspects.h.
#include "since/line_suspects.h"

#include <string.h>

#include "locate/localizer.h"
#include "util/fs.h"

static void add_suspect(LineSuspects *out, const CurrentRanking *now,
                        const Suspect *s, const char *top) {
  const Entity *e = &now->suite.entities[s->entity];
  const char *path = now->suite.sources[e->source].path;
  if (!s->ef || !path_lies_in(path, top))
    return;
  array_push(&out->lines,
             (LineSuspect){arena_strdup(&out->arena, path_below(path, top)),
                           suspect_line(s, e), s->rank, s->ef, s->ep,
                           s->score});
}

int line_suspects_load(LineSuspects *out, Store *store, int64_t session,
                       const char *top, Err *err) {
  CurrentRanking now = {0};
  *out = (LineSuspects){0};
  int rc = current_ranking_make(&now, store, session, NULL, err);
  for (size_t i = 0; !rc && now.ranked && i < now.ranking.suspects.len; i++)
    add_suspect(out, &now, &now.ranking.suspects.items[i], top);
  current_ranking_release(&now);
  return rc;
}

void line_suspects_release(LineSuspects *s) {
  array_release(&s->lines);
  arena_release(&s->arena);
}

bool line_suspect_in(const LineSuspect *s, const char *path, uint32_t line,
                     uint32_t lines) {
  // Of deleted lines, those next to them.
  uint32_t first = lines || line == 1 ? line : line - 1;
  uint32_t end = lines ? line + lines : line + 1;
  return s->line >= first && s->line < end && !strcmp(s->path, path);
}

double line_suspects_of(void *suspects, const char *path, uint32_t line,
                        uint32_t lines) {
  const LineSuspects *s = suspects;
  for (size_t i = 0; i < s->lines.len; i++)
    if (line_suspect_in(&s->lines.items[i], path, line, lines))
      return 1 / (double)(i + 1);
  return 0;
}
