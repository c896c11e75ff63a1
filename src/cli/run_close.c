// The closer look of `culprit run`: see run_close.h.
#include "cli/run_close.h"

#include <stdlib.h>
#include <string.h>

#include "command/cli.h"
#include "look/close_look.h"
#include "report/json_out.h"
#include "util/clock.h"
#include "util/escape.h"
#include "util/mem.h"
#include "util/stop.h"

enum {
  SECONDS_LEAST = 5, // that a look may take, unless the user says otherwise
  SECONDS_MOST = 10,
  SOON = 1,          // second that a user waits for a ranking
  STOP_SECONDS = 20, // to keep what is done when a signal comes
};

typedef struct {
  const RunCloseOptions *options;
  const RankOptions *rank;
  Store *store;
  double start, drawn; // when it began; when progress was shown last
  int ranked;          // status of the ranking that was printed; -1: none was
} Closer;

double run_close_seconds(double given, double took) {
  const char *usual = getenv("CULPRIT_LOOK");
  if (given >= 0)
    return given;
  if (usual && *usual)
    return strtod(usual, NULL) > 0 ? strtod(usual, NULL) : 0;
  return took < SECONDS_LEAST  ? SECONDS_LEAST
         : took > SECONDS_MOST ? SECONDS_MOST
                               : took;
}

static void clear_progress(const Closer *c) {
  if (c->options->show_progress && c->drawn > 0)
    cli_progress_end();
}

static void show_progress(void *context, size_t taken, size_t all) {
  Closer *c = context;
  double now = clock_now();
  if (c->ranked < 0 && c->options->watched && now - c->start > SOON) {
    clear_progress(c);
    c->ranked = rank_print(c->store, c->rank, stdout);
  }
  if (!c->options->show_progress || now - c->drawn < 0.1)
    return;
  c->drawn = now;
  fprintf(stderr, "\rlooking closer [%zu/%zu]\033[K", taken, all);
  fflush(stderr);
}

// --- what it came to --------------------------------------------------------

static const char *ended_words(const char *ended) {
  return !strcmp(ended, "budget")        ? "; the time is up"
         : !strcmp(ended, "decided")     ? "; more would change nothing"
         : !strcmp(ended, "interrupted") ? "; interrupted"
                                         : "";
}

void run_close_describe(const CloseLookResult *r, const char *tests,
                        FILE *out) {
  if (*r->ended)
    fprintf(out,
            "looked closer at %zu of %zu failing and %zu of %zu passing %s, "
            "%.1f s%s\n",
            r->failing, r->of_failing, r->passing, r->of_passing, tests,
            r->seconds, ended_words(r->ended));
  if (r->dropped && *r->ended)
    fprintf(out, "  %zu ended differently than before and %s left out\n",
            r->dropped, r->dropped == 1 ? "is" : "are");
  for (size_t i = 0; i < r->notes.len; i++)
    escape_printf(out, "  %s\n", r->notes.items[i]);
  fflush(out);
}

static void describe(const Closer *c, const CloseLookResult *r) {
  FILE *out = c->options->json ? stderr : stdout;
  if (c->options->quiet)
    return;
  if (c->ranked >= 0 && *r->ended)
    fputc('\n', out);
  run_close_describe(r, "tests", out);
}

char *run_close_members(const CloseLookResult *r) {
  char *text = NULL;
  size_t size;
  bool first = true;
  FILE *out = open_memstream(&text, &size);
  fprintf(out, ",\"dropped\":%zu,\"notes\":[", r->dropped);
  for (size_t i = 0; i < r->notes.len; i++) {
    json_separator(&first, out);
    json_string(r->notes.items[i], out);
  }
  fputc(']', out);
  fclose(out);
  return text;
}

static int rank_after(Closer *c, const CloseLookResult *r) {
  RankOptions rank = *c->rank;
  clear_progress(c);
  describe(c, r);
  if (c->ranked >= 0 && !*r->ended)
    return c->ranked;
  if (c->options->later)
    return EXIT_DONE;
  char *members = c->options->json ? run_close_members(r) : NULL;
  rank.more_close = members;
  int status = rank_print(c->store, &rank, stdout);
  free(members);
  return status;
}

int run_close_rank(const RunCloseOptions *o, const RankOptions *rank,
                   RunTests *run, void *context, const Runner *r,
                   Store *store) {
  Closer c = {.options = o,
              .rank = rank,
              .store = store,
              .start = clock_now(),
              .ranked = -1};
  CloseLookOptions look = {.seconds =
                               run_close_seconds(o->seconds, o->tests_took),
                           .run = run,
                           .run_context = context,
                           .modules = r->seen.items,
                           .nmodules = r->seen.len,
                           .progress = show_progress,
                           .progress_context = &c};
  if (look.seconds <= 0)
    return o->later ? EXIT_DONE : rank_print(store, rank, stdout);
  CloseLookResult result;
  Err err = {0};
  stop_orderly(STOP_SECONDS);
  int rc = close_look(&look, r, store, r->session, &result, &err);
  stop_orderly(0);
  int status = rc ? cli_error(&err) : rank_after(&c, &result);
  close_look_release(&result);
  return status;
}
