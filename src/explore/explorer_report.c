// What an exploration reached and what it did not: explorer_report and
// explorer_gaps of explorer.h.
#include <stdlib.h>
#include <string.h>

#include "explore/explorer_internal.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

enum { OUTCOMES_SHOWN = 5, FILES_SHOWN = 8 };

// --- what was not reached ---------------------------------------------------

static int by_place(const void *a, const void *b) {
  const OutcomeGoal *x = *(const OutcomeGoal *const *)a,
                    *y = *(const OutcomeGoal *const *)b;
  int order = strcmp(x->file, y->file);
  if (order)
    return order;
  if (x->line != y->line)
    return x->line < y->line ? -1 : 1;
  return x < y ? -1 : x > y;
}

static void find_outcomes(const Explorer *e, ExplorerGaps *out, Arena *arena) {
  const OutcomeGoals *g = &e->goals;
  out->outcomes = arena_array(arena, const OutcomeGoal *, g->goals.len + 1);
  for (uint32_t i = 0; i < g->goals.len; i++)
    if (outcome_goals_is_open(g, i + 1)) {
      out->outcomes[out->noutcomes++] = &g->goals.items[i];
      out->unasked += !g->goals.items[i].tries;
    }
  qsort(out->outcomes, out->noutcomes, sizeof *out->outcomes, by_place);
}

static bool is_entry(const Explorer *e, const char *path) {
  for (size_t i = 0; i < e->entries.len; i++)
    if (!strcmp(e->entries.items[i], path))
      return true;
  return false;
}

static void find_files(const Explorer *e, ExplorerGaps *out, Arena *arena) {
  const ScriptSurvey *s = &e->survey;
  uint64_t ran;
  out->scripts = s->scripts.len + s->left_out;
  out->files = arena_array(arena, const char *, s->scripts.len + 1);
  for (int pages = 1; pages >= 0; pages--)
    for (size_t i = 0; i < s->scripts.len; i++) {
      const SurveyedScript *script = &s->scripts.items[i];
      if (script->ran || is_entry(e, script->path) != pages ||
          hashmap_get(&e->units, &script->unit, sizeof script->unit, &ran))
        continue;
      out->files[out->nfiles++] = script->path;
      out->npages += (size_t)pages;
      out->nuncompiled += !script->compiled;
    }
}

void explorer_gaps(const Explorer *e, ExplorerGaps *out, Arena *arena) {
  *out = (ExplorerGaps){0};
  find_outcomes(e, out, arena);
  find_files(e, out, arena);
  out->scripted = e->scripted.items;
  out->nscripted = e->scripted.len;
}

// --- as lines ---------------------------------------------------------------

static void report_outcome(const Explorer *e, const OutcomeGoal *o, Str *out) {
  str_addf(out, "  %s:%u: %s %s; ",
           path_below(o->file, e->options->visits->app.root), o->line, o->text,
           o->outcome ? "true" : "false");
  if (o->tries)
    str_addf(out, "%u request%s did not show it\n", o->tries, plural(o->tries));
  else
    str_add(out, "not asked for\n");
}

static void report_outcomes(const Explorer *e, const ExplorerGaps *g,
                            Str *out) {
  if (!g->noutcomes)
    return;
  str_addf(out, "Solved but not reached: %zu outcome%s", g->noutcomes,
           plural(g->noutcomes));
  if (g->unasked)
    str_addf(out, ", %zu of them not asked for", g->unasked);
  str_add(out, ".\n");
  for (size_t i = 0; i < g->noutcomes && i < OUTCOMES_SHOWN; i++)
    report_outcome(e, g->outcomes[i], out);
  if (g->noutcomes > OUTCOMES_SHOWN)
    str_addf(out, "  ... and %zu more; --json lists them all.\n",
             g->noutcomes - OUTCOMES_SHOWN);
}

static void report_scripted(const ExplorerGaps *g, Str *out) {
  if (!g->nscripted)
    return;
  str_addf(out,
           "JavaScript is not run; scripts of %zu page%s make forms or "
           "requests that were not seen",
           g->nscripted, plural(g->nscripted));
  for (size_t i = 0; i < g->nscripted && i < FILES_SHOWN; i++)
    str_addf(out, "%s %s", i ? "," : ":",
             g->scripted[i][1] ? g->scripted[i] + 1 : g->scripted[i]);
  str_add(out, g->nscripted > FILES_SHOWN ? ", ...; --json lists them all.\n"
                                          : ".\n");
}

// The directory below the root: "lib" of "/lib/a/b.php".
typedef struct {
  const char *name;
  size_t length, files;
} TopDirectory;
typedef ARRAY(TopDirectory) TopDirectories;

static int by_files(const void *a, const void *b) {
  const TopDirectory *x = a, *y = b;
  if (x->files != y->files)
    return x->files < y->files ? 1 : -1;
  return strcmp(x->name, y->name);
}

static void count_in_directory(const char *path, TopDirectories *out) {
  const char *name = path + 1;
  size_t n = strcspn(name, "/");
  n = name[n] ? n : 0;
  for (size_t i = 0; i < out->len; i++)
    if (out->items[i].length == n && !memcmp(out->items[i].name, name, n)) {
      out->items[i].files++;
      return;
    }
  array_push(out, (TopDirectory){name, n, 1});
}

// The directories that most of the files lie in.
static void report_directories(const char *const *files, size_t n, Str *out) {
  TopDirectories list = {0};
  for (size_t i = 0; i < n; i++)
    count_in_directory(files[i], &list);
  qsort(list.items, list.len, sizeof *list.items, by_files);
  for (size_t i = 0; i < list.len && i < FILES_SHOWN; i++) {
    const TopDirectory *d = &list.items[i];
    str_addf(out, "%s%zu %s %.*s", i ? ", " : "", d->files,
             d->length ? "below" : "in", (int)d->length,
             d->length ? d->name : "");
    str_add(out, "/");
  }
  array_release(&list);
}

static void report_files(const ExplorerGaps *g, Str *out) {
  bool few = g->nfiles <= FILES_SHOWN;
  size_t shown = few ? g->nfiles : g->npages, i = 0;
  if (!g->nfiles)
    return;
  str_addf(out, "Never ran: %zu of %zu PHP file%s:", g->nfiles, g->scripts,
           plural(g->scripts));
  for (; i < shown && i < FILES_SHOWN; i++)
    str_addf(out, "%s %s", i ? "," : "", g->files[i] + 1);
  if (i < g->nfiles) {
    str_add(out, i ? "; " : " ");
    report_directories(g->files + i, g->nfiles - i, out);
    str_add(out, "; --json lists them all");
  }
  str_add(out, ".\n");
  if (g->nuncompiled)
    str_addf(out,
             "%zu of them %s not compiled, so the lines there are not "
             "counted.\n",
             g->nuncompiled, g->nuncompiled == 1 ? "was" : "were");
}

static void report_hash(const char *file, unsigned line, const char *function,
                        const Ask *login, Str *out) {
  str_addf(out,
           "A password is compared with its hash (%s) at %s:%u and cannot be "
           "derived from it; name an account: --login '",
           function, file, line);
  accounts_show_login(login, out);
  str_add(out, "'.\n");
}

// Comparisons with a hash that had one outcome only; or a login form and a
// comparison that was not reached, because no user has the name that was sent.
static void report_hashes(const Explorer *e, Str *out) {
  const Accounts *a = &e->accounts;
  const ScriptSurvey *s = &e->survey;
  if (e->options->first && e->options->first->len)
    return; // the user knows
  for (size_t i = 0; i < a->hashes.len; i++) {
    const HashCompare *h = &a->hashes.items[i];
    if (outcome_goals_one_sided(&e->goals, &h->compare))
      report_hash(path_below(h->compare.file, e->options->visits->app.root),
                  h->compare.line, h->function, &h->ask, out);
  }
  if (!a->hashes.len && s->hashes && a->logins.len)
    report_hash(s->hashes + 1, s->hash_line, s->hash_function,
                &a->logins.items[0].ask, out);
}

static void report_reached(const Explorer *e, Str *out) {
  const ExplorerProgress *p = &e->progress;
  size_t most = e->options->max_failures;
  str_addf(out,
           "Explored: %zu script%s, %zu of %zu lines, %zu branch%s, %zu "
           "state%s; %s.\n",
           p->scripts, plural(p->scripts), p->lines, p->statements, p->branches,
           p->branches == 1 ? "" : "es", p->states, plural(p->states),
           p->covered                    ? "the coverage goal is reached"
           : most && p->failures >= most ? "the failure limit is reached"
           : p->queued ? "the budget ended with requests left to try"
                       : "nothing is left to try");
  if (e->queue.late)
    str_addf(out,
             "%zu request%s had no answer within the time limit; %zu like "
             "%s not made.\n",
             e->queue.late, plural(e->queue.late), e->queue.spared,
             e->queue.spared == 1 ? "that was" : "those were");
  if (e->given_late)
    str_addf(out,
             "%zu request%s of --login or --seed-requests had no answer within "
             "the time limit, so pages behind a login may be missing; allow "
             "more: --timeout SECONDS.\n",
             e->given_late, plural(e->given_late));
  if (p->dropped)
    str_addf(out, "%zu queued request%s dropped: the queue holds %d.\n",
             p->dropped, p->dropped == 1 ? " was" : "s were", QUEUE_MOST);
}

static void report_host(const Explorer *e, Str *out) {
  const char *name = other_hosts_most(&e->hosts);
  if (name)
    str_addf(
        out,
        "Most pages lead to http://%s, which was not asked for; if that is "
        "the application's own address, name it: --host %s.\n",
        name, name);
}

void explorer_report(const Explorer *e, Str *out) {
  Arena arena = {0};
  ExplorerGaps gaps;
  explorer_gaps(e, &gaps, &arena);
  report_reached(e, out);
  report_files(&gaps, out);
  report_host(e, out);
  report_scripted(&gaps, out);
  report_outcomes(e, &gaps, out);
  report_hashes(e, out);
  solve_memory_report(e->solve_memory, out);
  arena_release(&arena);
}
