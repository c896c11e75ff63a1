// Experiments of `culprit try` and of --try: see run_try.h.
#include "cli/run_try.h"

#include <stdlib.h>
#include <string.h>

#include "command/cli.h"
#include "locate/localizer.h"
#include "try/try_session.h"
#include "try/web/web_session.h"
#include "util/clock.h"
#include "util/escape.h"
#include "util/stop.h"

enum {
  STOP_SECONDS = 20, // to keep what is done when a signal comes
};

static const char *const kinds[] = {"clauses",   "variables",  "statements",
                                    "constants", "insertions", NULL};

void run_try_options_init(RunTryOptions *o) {
  *o = (RunTryOptions){.seconds = 10,
                       .runs = 5000,
                       .lines = 60,
                       .memory = (size_t)1 << 30,
                       .seed = 1,
                       .capture = "auto"};
}

const Option run_try_options[] = {
    {"budget", "SECONDS", &option_real, offsetof(RunTryOptions, seconds),
     "time for experiments, without building (default: 10)"},
    {"runs", "N", &option_count, offsetof(RunTryOptions, runs),
     "runs of the program, at most (default: 5000)"},
    {"lines", "N", &option_count, offsetof(RunTryOptions, lines),
     "first lines of the ranking at which something is changed (default: 60)"},
    {"without", "KIND", &option_list, offsetof(RunTryOptions, without),
     "leave out a kind of experiment: clauses, variables, statements, "
     "constants or insertions"},
    {"memory", "SIZE", &option_size, offsetof(RunTryOptions, memory),
     "memory that a changed program may take beyond what it starts with "
     "(default: 1G)"},
    {"seed", "N", &option_count, offsetof(RunTryOptions, seed),
     "seed of the choice of passing tests (default: 1)"},
    {"resume", NULL, &option_flag, offsetof(RunTryOptions, resume),
     "take over what the last experiments on the session ran, and go on"},
    {"no-diff", NULL, &option_flag, offsetof(RunTryOptions, no_diff),
     "do not try the changes in a copy of the source"},
    {"no-question", NULL, &option_flag, offsetof(RunTryOptions, no_question),
     "do not look for an input that tells apart the changes that pass all "
     "tests"},
    {"capture", "WHEN", &option_text, offsetof(RunTryOptions, capture),
     "repeat the starts of the program in a script without the script: auto "
     "(default: where that is quicker), always or never"},
    {0}};

static bool is_left_out(const RunTryOptions *o, const char *kind) {
  for (size_t i = 0; i < o->without.len; i++)
    if (!strcmp(o->without.items[i], kind))
      return true;
  return false;
}

static const char *const captures[] = {[CAPTURE_NEVER] = "never",
                                       [CAPTURE_QUICKER] = "auto",
                                       [CAPTURE_ALWAYS] = "always"};

static TryCapture capture_of(const char *word) {
  for (int i = CAPTURE_NEVER; i <= CAPTURE_ALWAYS; i++)
    if (!strcmp(word, captures[i]))
      return (TryCapture)i;
  return CAPTURE_UNKNOWN;
}

int run_try_check(const RunTryOptions *o) {
  if (capture_of(o->capture) == CAPTURE_UNKNOWN)
    return cli_fail(EXIT_USAGE, "--capture %s: expected auto, always or never",
                    o->capture);
  for (size_t i = 0; i < o->without.len; i++) {
    bool known = false;
    for (size_t k = 0; kinds[k]; k++)
      known |= !strcmp(o->without.items[i], kinds[k]);
    if (!known)
      return cli_fail(EXIT_USAGE,
                      "--without %s: expected clauses, variables, statements, "
                      "constants or insertions",
                      o->without.items[i]);
  }
  return EXIT_DONE;
}

// --- progress ---------------------------------------------------------------

typedef struct {
  const RunTry *options;
  double drawn;
} Trying;

static void show_progress(void *context, uint64_t runs, size_t found) {
  Trying *t = context;
  double now = clock_now();
  if (!t->options->show_progress || now - t->drawn < 0.1)
    return;
  t->drawn = now;
  if (!runs)
    fprintf(stderr, "\rbuilding for experiments\033[K");
  else
    fprintf(stderr, "\rtrying [%llu/%zu], changes that help: %zu\033[K",
            (unsigned long long)runs, t->options->options->runs, found);
  fflush(stderr);
}

static void describe_stops(const TrySummary *s, FILE *out) {
  Str text = {0};
  if (tried_tell_stops(&s->stops, s->runs, &text))
    fprintf(out, "  %s\n", str_text(&text));
  str_release(&text);
}

static void describe(const RunTry *t, const TrySummary *s) {
  FILE *out = t->json ? stderr : stdout;
  if (t->quiet)
    return;
  if (s->runs)
    fprintf(out, "tried changes in %llu run%s of the program, %.1f s%s\n",
            (unsigned long long)s->runs, plural(s->runs), s->seconds,
            s->interrupted ? "; interrupted"
            : s->cut       ? "; the search is incomplete (--runs, --budget)"
                           : "");
  else if (!s->notes.len && !s->interrupted)
    fputs("no change was tried: no program of the session's tests could be run "
          "again\n",
          out);
  if (s->asked)
    fprintf(out, "  and %llu run%s to tell apart what passes all tests\n",
            (unsigned long long)s->asked, plural(s->asked));
  if (s->recalled)
    fprintf(out, "  %llu of them %s made before (--resume)\n",
            (unsigned long long)s->recalled, s->recalled == 1 ? "was" : "were");
  if (s->decided)
    fprintf(out, "  %llu of %llu runs were decided without the test's script\n",
            (unsigned long long)s->decided, (unsigned long long)s->runs);
  describe_stops(s, out);
  for (size_t i = 0; i < s->notes.len; i++)
    escape_printf(out, "  %s\n", s->notes.items[i]);
  fflush(out);
}

// --- the experiments --------------------------------------------------------

static TryOptions options_of(const RunTryOptions *o, Trying *progress) {
  return (TryOptions){.seconds = o->seconds,
                      .runs = o->runs,
                      .seed = o->seed,
                      .memory = o->memory,
                      .method = METHOD_DEFAULT,
                      .lines = o->lines,
                      .clauses = !is_left_out(o, "clauses"),
                      .variables = !is_left_out(o, "variables"),
                      .statements = !is_left_out(o, "statements"),
                      .constants = !is_left_out(o, "constants"),
                      .insertions = !is_left_out(o, "insertions"),
                      .diffs = !o->no_diff,
                      .question = !o->no_question,
                      .capture = capture_of(o->capture),
                      .resume = o->resume,
                      .progress = show_progress,
                      .progress_context = progress};
}

// Says what came of it, and ranks.
static int end_try(const RunTry *t, int rc, TrySummary *summary,
                   const Trying *progress, Store *store, int64_t session,
                   const RankOptions *rank, const Err *err) {
  stop_orderly(0);
  if (t->show_progress && progress->drawn > 0)
    cli_progress_end();
  RankOptions by = *rank;
  by.session = session;
  int status = rc ? cli_error(err) : EXIT_DONE;
  if (!rc)
    describe(t, summary);
  if (!rc)
    status = rank_print(store, &by, stdout);
  try_summary_release(summary);
  return status;
}

int run_try(const RunTry *t, RunTests *run, void *context, const Runner *like,
            Store *store, int64_t session, const RankOptions *rank) {
  Trying progress = {.options = t};
  TryOptions options = options_of(t->options, &progress);
  options.run = run;
  options.run_context = context;
  options.modules = t->modules;
  options.nmodules = t->nmodules;
  TrySummary summary;
  Err err = {0};
  stop_orderly(STOP_SECONDS);
  int rc = try_session(&options, like, store, session, &summary, &err);
  return end_try(t, rc, &summary, &progress, store, session, rank, &err);
}

int run_try_web(const RunTry *t, const Visits *v, const Requests *list,
                const Explorer *e, Store *store, int64_t session,
                const RankOptions *rank) {
  Trying progress = {.options = t};
  TryOptions options = options_of(t->options, &progress);
  WebTryOptions web = {.options = &options,
                       .visits = v,
                       .list = list,
                       .explorer = e,
                       .workers = visits_workers(v)};
  TrySummary summary;
  Err err = {0};
  stop_orderly(STOP_SECONDS);
  int rc = web_try_session(&web, store, session, &summary, &err);
  return end_try(t, rc, &summary, &progress, store, session, rank, &err);
}
