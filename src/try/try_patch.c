// A change tried in the source: see try_patch.h.
#include "try/try_patch.h"

#include <stdlib.h>
#include <string.h>

#include "patch/edit.h"
#include "patch/patch_build.h"
#include "util/fs.h"
#include "util/mem.h"

enum {
  EDITS_MOST = 3,    // places that are tried
  PROGRAMS_MOST = 4, // that have the unit
};

// The programs of one edit, in a directory where the session's programs find
// them.
typedef struct {
  char *dir;
  const char *only; // the one that was built; NULL: several were
} PatchedPrograms;

static bool has_unit(const SiteTable *t, const UnitId *unit) {
  for (size_t i = 0; i < t->sites.len; i++)
    if (!memcmp(&t->sites.items[i].unit, unit, sizeof *unit))
      return true;
  return false;
}

static int build_program(const char *program, const char *file, const Str *text,
                         const char *dir, const char *scratch, char **out,
                         Err *err) {
  if (fs_mkdirs(scratch, err) ||
      patch_build(program, file, text, scratch, out, err))
    return -1;
  return close_builds_link(dir, program, *out, err);
}

// Builds every program that has the changed unit.
static int build_programs(TryPatches *p, const FoundChange *c, const Str *text,
                          Arena *arena, PatchedPrograms *out, Err *err) {
  const Site *site = c->change.site;
  size_t built = 0;
  int rc = 0;
  out->dir = arena_printf(arena, "%s/patch%zu", p->scratch, p->made);
  rc = fs_mkdirs(out->dir, err);
  for (size_t i = 0; !rc && i < p->builds->programs.len; i++) {
    char *made = NULL;
    if (!has_unit(&p->tables[i], &site->unit))
      continue;
    if (built == PROGRAMS_MOST)
      return err_set(err, "too many programs have it");
    char *scratch = arena_printf(arena, "%s/patched%zu", p->scratch, p->made++);
    rc = build_program(p->builds->programs.items[i].program, site->file, text,
                       out->dir, scratch, &made, err);
    out->only = made ? arena_strdup(arena, made) : NULL;
    free(made);
    built++;
  }
  if (built > 1)
    out->only = NULL;
  return rc;
}

// Do all tests pass that should? *done: they were all run.
static bool passes(const TryPatches *p, const PatchedPrograms *programs,
                   size_t failure, bool *done, Err *err) {
  const TrySession *s = p->session;
  const FailureGroup *g = &s->suite->failures[failure];
  bool good = true, *wanted = mem_array(bool, s->suite->nruns + 1);
  TryJob *jobs = mem_array(TryJob, s->ntests + 1);
  for (uint32_t i = 0; i < s->suite->nruns; i++)
    wanted[i] = s->suite->runs[i].verdict == VERDICT_PASS;
  for (size_t i = 0; i < g->nruns; i++)
    wanted[g->runs[i]] = true;
  for (size_t i = 0; i < s->ntests; i++)
    jobs[i] =
        (TryJob){.test = i,
                 .program = programs->only ? programs->only : "",
                 .dir = programs->dir,
                 .verdicts = mem_array(TriedVerdict, s->tests[i].nruns + 1)};
  *done = !try_runs_do(s->runs, jobs, s->ntests, err);
  for (size_t i = 0; i < s->ntests; i++) {
    *done &= jobs[i].result.ran;
    for (size_t k = 0; k < s->tests[i].nruns; k++)
      if (wanted[s->tests[i].runs[k]] && !s->dropped[s->tests[i].runs[k]])
        good &= jobs[i].verdicts[k] == TRIED_PASS;
    free(jobs[i].verdicts);
  }
  free(jobs);
  free(wanted);
  return good && *done;
}

bool try_patch(TryPatches *p, const FoundChange *c, size_t failure,
               Arena *arena, TryPatch *out, Err *err) {
  const Site *site = c->change.site;
  const char *shown = suite_shown(p->session->suite, site->file);
  EditChange change = {c->change.change, c->change.a, c->change.b};
  SourceEdits edits = {0};
  Str text = {0};
  bool done = true;
  *out = (TryPatch){0};
  Err ignored;
  if (!fs_read(site->file, 0, &text, &ignored))
    edits_find(site, change, str_text(&text), text.len, arena, &edits);
  for (size_t i = 0; i < edits.len && i < EDITS_MOST && !out->diff && done;
       i++) {
    Str changed = {0}, diff = {0};
    PatchedPrograms programs = {0};
    edit_apply(&edits.items[i], str_text(&text), text.len, &changed);
    if (!build_programs(p, c, &changed, arena, &programs, &ignored) &&
        passes(p, &programs, failure, &done, err)) {
      edit_diff(&edits.items[i], shown, str_text(&text), text.len, &diff);
      out->diff = arena_strdup(arena, str_text(&diff));
      out->words = edits.items[i].words;
    }
    str_release(&changed);
    str_release(&diff);
  }
  array_release(&edits);
  str_release(&text);
  return done;
}
