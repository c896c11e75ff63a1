// culprit input: one failing input and no tests. Makes tests from it, passing
// and failing ones, then ranks.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/rank.h"
#include "cli/run_close.h"
#include "cli/run_try.h"
#include "command/cli.h"
#include "command/given.h"
#include "input/search.h"
#include "locate/fault.h"
#include "locate/localizer.h"
#include "process/process.h"
#include "run/testfile.h"
#include "util/escape.h"
#include "util/fs.h"
#include "util/mem.h"

enum {
  TESTS = 500, // made ones
  LOSSES_SHOWN = 5,
};

// --- options ----------------------------------------------------------------

typedef struct {
  GivenOptions given;
  RankOptions rank;
  double close; // seconds for a closer look; below 0: as making tests took
  double took;  // that
  bool tries;   // --try
  int strategy; // strategy_at
  bool list;
  Texts seeds, without;
  const char *trail;
  FILE *trail_file;
} Options;

static void list_strategies(void) {
  const Strategy *s;
  for (size_t i = 0; (s = strategy_at(i)); i++)
    printf("  %-10s %s\n", s->name, s->doc);
}

static const char *part_word(size_t n) {
  const SearchPart *p = search_part_at(n);
  return p ? p->name : NULL;
}

// All parts but those of --without; -1 after a message.
static int parts_wanted(const Options *o, unsigned *out) {
  *out = PARTS_ALL;
  for (size_t i = 0; i < o->without.len; i++) {
    size_t k = 0;
    while (part_word(k) && strcmp(part_word(k), o->without.items[i]) != 0)
      k++;
    if (!part_word(k))
      return cli_fail(EXIT_USAGE, "--without: there is no part `%s`",
                      o->without.items[i]);
    *out &= ~search_part_at(k)->part;
  }
  return EXIT_DONE;
}

static void options_init(Options *o) {
  *o = (Options){0};
  given_init(&o->given, TESTS);
  rank_options_init(&o->rank);
  o->close = -1;
}

static void options_release(Options *o) {
  given_release(&o->given);
  rank_options_release(&o->rank);
  array_release(&o->seeds);
  array_release(&o->without);
  if (o->trail_file)
    fclose(o->trail_file);
}

static const char *strategy_word(size_t n) {
  const Strategy *s = strategy_at(n);
  return s ? s->name : NULL;
}

static const Option options[] = {
    {.title = "Made tests"},
    {"strategy", "STRATEGY", &option_choice, offsetof(Options, strategy),
     "which test to make next (default: mix)", .word = strategy_word},
    {"without", "PART", &option_list, offsetof(Options, without),
     "make tests without a part of the search, to measure what it brings",
     .word = part_word},
    {"list-strategies", NULL, &option_flag, offsetof(Options, list),
     "print all strategies, and exit"},
    {"budget", "SECONDS", &option_real, offsetof(Options, given.budget),
     "time for making tests (default: 20)"},
    {"max-tests", "N", &option_count, offsetof(Options, given.max_tests),
     "make at most N tests (default: 500)"},
    {"timeout", "SECONDS", &option_real, offsetof(Options, given.run.timeout),
     "limit for one run (default: 5)"},
    {"close", "SECONDS", &option_real0, offsetof(Options, close),
     "time for a closer look at the made tests (default: as long as making "
     "them took, 5 to 10; 0: none)"},
    {"try", NULL, &option_flag, offsetof(Options, tries),
     "then change one thing at a time at the first suspects and see what "
     "repairs the failing tests, as `culprit try` does"},
    {"seed", "FILE", &option_list, offsetof(Options, seeds),
     "another standard input that fails the same way"},
    {.rows = given_input_options, .at = offsetof(Options, given)},
    {.rows = given_run_options, .at = offsetof(Options, given)},
    {"method", "METHOD", &option_text, offsetof(Options, rank.method),
     "method of the ranking (default: " METHOD_DEFAULT ", or " METHOD_FUSED
     " if the program's own tests are in the store: `culprit run`)",
     .word = rank_method_word},
    {.rows = rank_shown_options, .at = offsetof(Options, rank)},
    {"json", NULL, &option_name, offsetof(Options, rank.format),
     "print JSON, for programs"},
    {"fault", "FILE:LINE[,LINE]...", &option_list,
     offsetof(Options, rank.faults), "known fault: print its rank"},
    {"trail", "FILE", &option_text, offsetof(Options, trail),
     "write the rank of the fault after every round of tests to FILE: tests, "
     "seconds, rank, executed lines, best rank, made tests that fail the same "
     "way, separated by tabs"},
    {0}};

// --- further inputs ---------------------------------------------------------

// The given input with another standard input.
static int read_seed(const char *path, const Inputs *given, Inputs *out,
                     Err *err) {
  Str text = {0};
  if (fs_read(path, 0, &text, err))
    return -1;
  inputs_copy(out, given);
  for (size_t i = 0; i < out->sources.len; i++) {
    InputSource *s = &out->sources.items[i];
    if (s->kind != INPUT_STDIN)
      continue;
    inputs_resize(out, i, text.len, 0);
    memcpy(out->sources.items[i].bytes, str_text(&text), text.len);
  }
  str_release(&text);
  return 0;
}

// --- reporting --------------------------------------------------------------

static int by_count(const void *a, const void *b) {
  const Loss *x = a, *y = b;
  return x->count > y->count ? -1 : x->count < y->count;
}

static void print_losses(InputSearch *e, FILE *out) {
  size_t n = e->losses.len;
  if (!n)
    return;
  qsort(e->losses.items, n, sizeof *e->losses.items, by_count);
  fputs("precision lost at: ", out);
  for (size_t i = 0; i < n && i < LOSSES_SHOWN; i++)
    escape_printf(out, "%s%s, %zu time%s", i ? "; " : "",
                  e->losses.items[i].name, e->losses.items[i].count,
                  e->losses.items[i].count == 1 ? "" : "s");
  if (n > LOSSES_SHOWN)
    fprintf(out, "; and %zu more function%s", n - LOSSES_SHOWN,
            plural(n - LOSSES_SHOWN));
  fputc('\n', out);
}

static void print_summary(InputSearch *e) {
  const SearchStats *s = &e->stats;
  escape_printf(stdout, "given: %s\n", e->message ? e->message : "");
  given_print_reduction(e, stdout);
  printf("made %zu test%s (%s) in %.1f s: %zu fail%s the same way, %zu pass%s, "
         "%zu set aside\n",
         s->tests, plural(s->tests), e->options.strategy->name, s->seconds,
         s->same, verb_s(s->same), s->passing, s->passing == 1 ? "es" : "",
         s->others);
  if (!s->tests && s->seconds >= e->options.seconds)
    printf("the budget of %g s ended before the first test was made; use "
           "--budget SECONDS\n",
           e->options.seconds);
  printf("building %.1f s, writing %.1f s, running %.1f s, recording %.1f s, "
         "replaying %.1f s, choosing %.1f s, solving %.1f s, mutating %.1f s\n",
         s->building, s->writing, s->running, s->recording, s->replaying,
         s->choosing, s->solving, s->screening);
  printf("%zu of %zu took the predicted path (%zu different path%s); %zu "
         "branch%s infeasible, %zu undecided\n",
         s->confirmed, s->confirmed + s->diverged, s->paths, plural(s->paths),
         s->unsat, s->unsat == 1 ? " is" : "es are", s->unknown);
  if (s->guessed)
    printf("%zu test%s made without a predicted path\n", s->guessed,
           s->guessed == 1 ? " was" : "s were");
  if (s->screened)
    printf("%zu of %zu mutations reached something new\n", s->found,
           s->screened);
  print_losses(e, stdout);
  if (e->recorder.build.note)
    escape_printf(stdout, "note: %s\n", e->recorder.build.note);
  if (s->unreplayed)
    escape_printf(stdout, "%zu run%s could not be replayed: %s\n",
                  s->unreplayed, s->unreplayed == 1 ? "" : "s", e->problem);
  if (s->late)
    printf("%zu run%s not replayed: out of time\n", s->late,
           s->late == 1 ? " was" : "s were");
  if (s->cut)
    printf("%zu run%s replayed only in part: killed, or more than %d million "
           "instructions\n",
           s->cut, s->cut == 1 ? " was" : "s were",
           SEARCH_INSTRUCTIONS / 1000000);
  if (s->false_conditions)
    printf("%zu condition%s did not hold in %s own run: please report this\n",
           s->false_conditions, plural(s->false_conditions),
           s->false_conditions == 1 ? "its" : "their");
  escape_printf(stdout, "kept in %s\n\n", e->options.dir);
  fflush(stdout);
}

// --try: experiments with the made tests.
static int try_made(const Options *o, const Runner *r,
                    const RunCloseOptions *close, const RankOptions *rank) {
  RunTryOptions tried;
  run_try_options_init(&tried);
  RunTry t = {.options = &tried,
              .quiet = o->given.quiet,
              .json = close->json,
              .show_progress = close->show_progress};
  return run_try(&t, search_run_again, NULL, r, r->store, r->session, rank);
}

static int rank(void *context, Runner *r) {
  const Options *o = context;
  RankOptions rank = o->rank;
  rank.session = r->session;
  RunCloseOptions close = {
      .seconds = o->close,
      .tests_took = o->took,
      .quiet = o->given.quiet,
      .json = !strcmp(rank.format, "json"),
      .watched = isatty(STDOUT_FILENO) && !strcmp(rank.format, "text"),
      .show_progress = isatty(STDERR_FILENO) && !o->given.quiet};
  int status =
      run_close_rank(&close, &rank, search_run_again, NULL, r, r->store);
  if (o->tries && status == EXIT_DONE)
    status = try_made(o, r, &close, &rank);
  return status == EXIT_DONE ? EXIT_FAILED : status;
}

// --- the trail of a known fault ---------------------------------------------

// How far down the list the fault is now; all 0: it is not in it.
static int find_rank(const Options *o, Runner *r, FaultScore *out, Err *err) {
  CurrentRanking now;
  Fault fault = {0};
  Err ignored;
  *out = (FaultScore){0};
  const char *method = o->rank.method ? o->rank.method : METHOD_DEFAULT;
  int rc = current_ranking_make(&now, r->store, r->session, method, err);
  bool known = !rc && now.ranked;
  for (size_t i = 0; known && i < o->rank.faults.len; i++)
    known = !fault_add(&fault, &now.suite, o->rank.faults.items[i],
                       ENTITY_STATEMENT, &ignored);
  if (known)
    fault_score(&fault, &now.ranking, localizer_executed(&now.localizer),
                localizer_executable(&now.localizer), out);
  fault_release(&fault);
  current_ranking_release(&now);
  return rc;
}

static int leave_trail(void *context, const InputSearch *e, Err *err) {
  const Options *o = context;
  FaultScore score;
  if (!o->trail_file)
    return 0;
  if (find_rank(o, e->runner, &score, err))
    return -1;
  fprintf(o->trail_file, "%zu\t%.3f\t%u\t%zu\t%u\t%zu\n", e->stats.tests,
          e->stats.seconds, score.rank, score.executed, score.rank_best,
          e->stats.same);
  if (fflush(o->trail_file))
    return err_set(err, "%s: %s", o->trail, strerror(errno));
  return 0;
}

// --- all of it --------------------------------------------------------------

static int explore_seeds(const Options *o, InputSearch *e, Err *err) {
  for (size_t i = 0; i < o->seeds.len; i++) {
    Inputs seed = {0};
    int rc = read_seed(o->seeds.items[i], &e->original, &seed, err);
    if (!rc)
      rc = search_add_seed(e, &seed, err);
    inputs_release(&seed);
    if (rc)
      return -1;
  }
  return 0;
}

static int explore(void *context, InputSearch *e) {
  Options *o = context;
  Err err = {0};
  if (explore_seeds(o, e, &err) || search_make_tests(e, &err))
    return cli_error(&err);
  o->took = e->stats.seconds;
  given_progress_end();
  if (!o->given.quiet && strcmp(o->rank.format, "text"))
    print_losses(e, stderr);
  if (!o->given.quiet && !strcmp(o->rank.format, "text"))
    print_summary(e);
  return EXIT_DONE;
}

static int run_input(Options *o, char **argv) {
  unsigned parts;
  if (parts_wanted(o, &parts) != EXIT_DONE)
    return EXIT_USAGE;
  if (o->trail && !(o->trail_file = fopen(o->trail, "w")))
    return cli_fail(EXIT_ENVIRONMENT, "%s: %s", o->trail, strerror(errno));
  GivenJob job = {.name = "input",
                  .strategy = strategy_at((size_t)o->strategy),
                  .parts = parts,
                  .after = leave_trail,
                  .work = explore,
                  .finish = rank,
                  .context = o};
  return given_run(&o->given, &job, argv);
}

int input_given(GivenOptions *out, int argc, char **argv) {
  Options o;
  int first;
  options_init(&o);
  int status = options_parse(&cmd_input, argc, argv, &o, &first);
  if (status == OPTIONS_TAKEN)
    status = given_check(&o.given, &cmd_input, argc, argv, first);
  *out = o.given;
  o.given = (GivenOptions){0};
  options_release(&o);
  return status;
}

static int input_main(int argc, char **argv) {
  Options o;
  int first;
  options_init(&o);
  int status = options_parse(&cmd_input, argc, argv, &o, &first);
  if (status == OPTIONS_TAKEN && o.list) {
    list_strategies();
    status = EXIT_DONE;
  }
  if (status == OPTIONS_TAKEN)
    status = given_check(&o.given, &cmd_input, argc, argv, first);
  if (status == OPTIONS_TAKEN)
    status = run_input(&o, argv);
  options_release(&o);
  return status;
}

const Command cmd_input = {
    "input",
    "make tests from one failing input, then rank",
    input_main,
    .usage = "[options] -- PROG [ARGS...] [< FILE]",
    .about =
        "PROG, built with culprit-cc, fails on this input. Make inputs near it "
        "by solving for the branches it did not take, run them, and print the "
        "lines to look at first. The input is standard input, the arguments, "
        "and the files that they name. The store keeps the made tests. Tests "
        "that fail in another way than the given input are set aside.",
    .options = options,
    .end = "Exit status: 1 ranking printed, 2 usage, 3 environment, 4 the "
           "input passes, or no run passes to compare with, 130 interrupted.",
    .runs_program = true};
