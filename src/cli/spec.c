// culprit spec: a run that breaks a contract. Names the clause and the
// statements that cannot all be right if it is to hold, and ranks them with
// made tests.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/cli.h"
#include "command/confine_options.h"
#include "run/scratch.h"
#include "run/testfile.h"
#include "spec/keep.h"
#include "spec/spec_report.h"
#include "store/store.h"
#include "store/store_address.h"
#include "util/escape.h"
#include "util/fs.h"
#include "util/mem.h"

enum {
  ROUNDS = 25,
  BUDGET = 60,
  TIMEOUT = 10,
  SHOWN = 3,         // lines after a round of --interactive
  RANDOM_TESTS = 20, // of --compare: at least
};

// How tests are chosen and counted: those that Gopinath et al. compare
// (docs/methods.md).
typedef struct {
  const char *name;
  RoundsPick pick;
  bool bonus, tests, correct;
} SpecMethod;

// The first says how many tests the others get in a comparison.
static const SpecMethod methods[] = {
    {"sat-tar", PICK_SUSPECTS, true, true, false},
    {"sat-tar+alone", PICK_SUSPECTS, true, true, true},
    {"core", PICK_SUSPECTS, true, false, false},
    {"core+directed", PICK_NEAREST, true, true, false},
    {"guided", PICK_SUSPECTS, false, true, false},
    {"directed", PICK_NEAREST, false, true, false},
    {"random", PICK_RANDOM, false, true, false},
};
enum { USUAL_METHOD = 1 };

// --- options ----------------------------------------------------------------

typedef struct {
  size_t rounds;
  double budget, timeout;
  int method;        // of methods[]
  const char *check; // function
  size_t top, seed, bound;
  bool json, interactive, compare, quiet;
  const char *store, *input;
  const char *found; // the store: --store, or where it is by default
  const char *dir;   // of what lies beside it
  const char *line;  // our own command line
  char **command;
  ConfineOptions confine;
} Options;

static const char *method_word(size_t n) {
  return n < sizeof methods / sizeof *methods ? methods[n].name : NULL;
}

static const Option spec_options[] = {
    {.title = "Broken contract"},
    {"check", "FUNCTION", &option_text, offsetof(Options, check),
     "if the run keeps every contract, search for a state in which FUNCTION "
     "breaks one, and explain that"},
    {"bound", "N", &option_count, offsetof(Options, bound),
     "limit for iterations and nested calls in that search (default: 4)"},
    {"input", "FILE", &option_text, offsetof(Options, input),
     "standard input of PROG (default: that of culprit, except with "
     "--interactive)"},
    {.title = "Made tests"},
    {"rounds", "N", &option_count0, offsetof(Options, rounds),
     "tests to make, one per round (default: 25; 0: only the core)"},
    {"interactive", NULL, &option_flag, offsetof(Options, interactive),
     "ask after every round whether to continue; standard input answers"},
    {"method", "METHOD", &option_choice, offsetof(Options, method),
     "how tests are chosen and counted: sat-tar+alone (default) is sat-tar "
     "with lines of the core that cannot alone be wrong rated lower; sat-tar, "
     "core, core+directed, guided, directed, random",
     .word = method_word},
    {"compare", NULL, &option_flag, offsetof(Options, compare),
     "apply all methods, each with as many tests as sat-tar takes"},
    {"seed", "N", &option_count, offsetof(Options, seed),
     "seed of --method random (default: 1)"},
    {.title = "Execution"},
    {"budget", "SECONDS", &option_real, offsetof(Options, budget),
     "time for each core, and for all rounds (default: 60)"},
    {"timeout", "SECONDS", &option_real, offsetof(Options, timeout),
     "limit for one run (default: 10)"},
    {.rows = confine_options, .at = offsetof(Options, confine)},
    {.title = "Output"},
    {"top", "N|all", &option_top, offsetof(Options, top),
     "lines of the ranking to print (default: 10)"},
    {"json", NULL, &option_flag, offsetof(Options, json),
     "print JSON, for programs"},
    {.rows = option_quiet, .at = offsetof(Options, quiet)},
    {.rows = option_store, .at = offsetof(Options, store)},
    {0}};

// --- the rounds -------------------------------------------------------------

// Shows the first lines and asks. No answer is no.
static bool wants_more(const SpecReport *report) {
  char answer[64] = "";
  SpecReport few = *report;
  few.top = SHOWN;
  spec_print_lines(&few, stderr);
  fputs("another round? [Y/n] ", stderr);
  fflush(stderr);
  return fgets(answer, sizeof answer, stdin) && *answer != 'n' &&
         *answer != 'N' && *answer != 'q';
}

// One method, and how many tests it may take.
typedef struct {
  const Options *options;
  const SpecMethod *method;
  size_t rounds;
  Rounds r;
  SpecReport report;
} Play;

static void play_open(Play *p, const Options *o, const SpecMethod *m,
                      size_t rounds, StateCandidates *c) {
  *p = (Play){.options = o, .method = m, .rounds = m->tests ? rounds : 0};
  RoundsOptions options = {.pick = m->pick,
                           .bonus = m->bonus,
                           .correct = m->correct,
                           .seconds = o->budget,
                           .seed = o->seed};
  rounds_open(&p->r, c, &options);
  p->report = (SpecReport){.rounds = &p->r,
                           .root = c->inquiry->subject->options.cwd,
                           .method = m->name,
                           .top = o->json ? 0 : o->top};
}

static int play(Play *p) {
  const Options *o = p->options;
  Err err = {0};
  bool talks = !o->json && !o->quiet && !o->compare;
  for (size_t i = 1; i <= p->rounds; i++) {
    bool more;
    if (rounds_next(&p->r, &more, &err))
      return p->r.candidates->inquiry->subject->interrupted ? EXIT_INTERRUPTED
                                                            : cli_error(&err);
    if (!more)
      break;
    if (talks)
      spec_print_round(&p->report, i, stdout);
    if (o->interactive && !wants_more(&p->report))
      break;
  }
  return EXIT_FAILED;
}

// For rank, why and report. A failure only warns: the result is printed all the
// same.
static void keep(Play *p) {
  Err err = {0};
  Store *store;
  if (store_open(&store, p->options->found, STORE_CREATE, &err)) {
    cli_warn("not kept: %s", err.text);
    return;
  }
  if (spec_keep(&p->r, store, p->options->line, &p->report.session, &err)) {
    cli_warn("not kept: %s", err.text);
    p->report.session = 0;
  }
  store_close(store);
}

static int go_rounds(const Options *o, StateCandidates *c) {
  Play p;
  play_open(&p, o, &methods[o->method], o->rounds, c);
  int status = play(&p);
  if (status == EXIT_FAILED)
    keep(&p);
  if (status == EXIT_FAILED && o->json)
    spec_print_json(&p.report, stdout);
  else if (status == EXIT_FAILED)
    spec_print_ranking(&p.report, stdout);
  rounds_close(&p.r);
  return status;
}

// All methods, each with as many tests as the first of them took. Random ones
// cost little: they get some more.
static int compare(const Options *o, StateCandidates *c) {
  size_t tests = o->rounds;
  int status = EXIT_FAILED;
  fputs(o->json ? "{\"version\":1,\"compared\":[\n"
                : "\n  method         tests  first\n",
        stdout);
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    Play p;
    size_t most = methods[i].pick == PICK_RANDOM && tests < RANDOM_TESTS
                      ? RANDOM_TESTS
                      : tests;
    play_open(&p, o, &methods[i], most, c);
    status = play(&p);
    if (status == EXIT_FAILED) {
      fputs(i && o->json ? "," : "", stdout);
      if (o->json)
        spec_print_json(&p.report, stdout);
      else
        spec_print_method(&p.report, stdout);
    }
    tests = i ? tests : p.r.taken.len + !p.r.taken.len;
    rounds_close(&p.r);
    if (status != EXIT_FAILED)
      return status;
  }
  fputs(o->json ? "]}\n" : "", stdout);
  return status;
}

static int make_tests(const Options *o, Inquiry *q) {
  StateCandidates c;
  candidates_open(&c, q, o->budget / 4);
  int status = o->compare ? compare(o, &c) : go_rounds(o, &c);
  candidates_close(&c);
  return status;
}

// --- the broken promise -----------------------------------------------------

static int explain_nothing(const Inquiry *q) {
  switch (q->found) {
  case FOUND_TIMEOUT:
    return cli_fail(
        EXIT_NO_VERDICT,
        "the program exceeds %.0f s and breaks no contract before; a function "
        "that never returns has no state after it (--timeout)",
        q->subject->options.timeout);
  case FOUND_PRECONDITION:
    spec_print_broken(q->violation, q->subject->options.cwd, stderr);
    return cli_fail(EXIT_NO_VERDICT,
                    "the caller of %s breaks its precondition; look for the "
                    "fault in the caller",
                    q->violation->table.function);
  default:
    return cli_fail(EXIT_NO_VERDICT,
                    "this run breaks no contract; --check FUNCTION searches "
                    "for a state in which FUNCTION breaks one");
  }
}

static int explain(const Options *o, Inquiry *q) {
  Err err = {0};
  const char *root = q->subject->options.cwd;
  if (!o->json)
    spec_print_broken(q->violation, root, stdout);
  if (inquiry_explain(q, &err))
    return q->subject->interrupted ? EXIT_INTERRUPTED
                                   : cli_fail(EXIT_NO_VERDICT, "%s", err.text);
  if (!o->json)
    spec_print_cores(q, root, stdout);
  return make_tests(o, q);
}

static void print_found(const Inquiry *q, const CheckResult *r) {
  Str text = {0};
  state_show(&q->given, &text);
  printf("found within bound %u: %s\n", r->reached,
         text.len ? str_text(&text) : "the state of this run");
  str_release(&text);
}

// "calls 1, 2 and 4"
static void print_calls(uint64_t last) {
  printf("call%s 1", last > 1 ? "s" : "");
  for (uint64_t call = 2; call <= last; call *= 2)
    printf("%s%llu", call == last ? " and " : ", ", (unsigned long long)call);
}

static int print_kept(const Options *o, const CheckResult *r) {
  if (!r->done)
    return cli_fail(EXIT_NO_VERDICT,
                    "no answer within %.0f s for bound %u; %s keeps its "
                    "contract up to bound %u",
                    o->budget, r->reached + 1, o->check, r->reached);
  escape_printf(stdout,
                "%s keeps its contract in every state of the objects at ",
                o->check);
  print_calls(r->done);
  printf(" within bound %zu\n", o->bound);
  if (r->call > r->done)
    printf(
        "call %llu: out of time, or it could not be followed; raise --budget\n",
        (unsigned long long)r->call);
  return EXIT_DONE;
}

// No input breaks anything: looks for a state that does.
static int check(const Options *o, Inquiry *q) {
  Err err = {0};
  CheckResult result;
  CheckOptions options = {.bound = (uint32_t)o->bound, .seconds = o->budget};
  if (inquiry_check(q, o->check, &options, &result, &err))
    return q->subject->interrupted ? EXIT_INTERRUPTED : cli_error(&err);
  if (q->found == FOUND_NOTHING)
    return print_kept(o, &result);
  if (!o->json)
    print_found(q, &result);
  return explain(o, q);
}

static int inquire(const Options *o, SpecSubject *s) {
  Err err = {0};
  InquiryOptions options = {.core_seconds = o->budget,
                            .corrections =
                                methods[o->method].correct || o->compare};
  Inquiry q;
  int status;
  inquiry_open(&q, s, &options);
  int begun = inquiry_begin(&q, &err);
  confine_explain(&s->confine, 1);
  if (begun)
    status = s->interrupted ? EXIT_INTERRUPTED : cli_error(&err);
  else if (q.found == FOUND_BROKEN || q.found == FOUND_ASSERTION)
    status = explain(o, &q);
  else if (o->check && q.found == FOUND_NOTHING)
    status = check(o, &q);
  else
    status = explain_nothing(&q);
  inquiry_close(&q);
  return status == EXIT_INTERRUPTED ? cli_interrupted("nothing to resume")
                                    : status;
}

// --- the program ------------------------------------------------------------

// Standard input goes to a file: every run reads it again. NULL: there is none.
static char *keep_input(const Options *o, const char *dir, Err *err) {
  struct stat st;
  if (o->input) {
    if (access(o->input, R_OK))
      err_set(err, "%s: %s (--input)", o->input, strerror(errno));
    return mem_printf("%s", o->input);
  }
  if (o->interactive || isatty(STDIN_FILENO) || fstat(STDIN_FILENO, &st) ||
      S_ISCHR(st.st_mode))
    return NULL;
  Str text = {0};
  bool there;
  char *path = mem_printf("%s/input", dir);
  if (cli_read_stdin(&text, &there, err) ||
      fs_write(path, str_text(&text), text.len, err)) {
    free(path);
    path = NULL;
  }
  str_release(&text);
  return path;
}

static int run_subject(const Options *o, const char *program, const char *cache,
                       const char *dir, Arena *arena) {
  Err err = {0};
  char *input = keep_input(o, dir, &err);
  SubjectOptions options = {.program = program,
                            .argv = o->command,
                            .cwd = cli_absolute(arena, "."),
                            .input = input ? cli_absolute(arena, input) : NULL,
                            .cache = cache,
                            .dir = dir,
                            .timeout = o->timeout,
                            .confine = &o->confine.plan};
  SpecSubject s = {0};
  int status = *err.text || subject_open(&s, &options, &err) ? cli_error(&err)
                                                             : inquire(o, &s);
  subject_close(&s);
  free(input);
  return status;
}

static int open_scratch(Options *o, const char *program, Arena *arena) {
  Err err = {0};
  char *found = store_find(o->store), *beside = address_directory(found);
  const char *dir = o->dir = cli_absolute(arena, beside);
  o->found = address_is_server(found) ? arena_strdup(arena, found) : dir;
  Scratch scratch = {0};
  int status;
  free(found);
  free(beside);
  if (fs_mkdirs(dir, &err) || scratch_open(&scratch, dir, &err)) {
    status = cli_error(&err);
  } else {
    status = run_subject(o, program, arena_printf(arena, "%s/trace", dir),
                         scratch.dir, arena);
    scratch_close(&scratch);
  }
  return status;
}

static int explain_given(Options *o, char **command, Arena *arena) {
  o->command = command;
  confine_options_end(&o->confine, arena);
  const char *path = path_lookup(o->command[0], arena);
  if (!path)
    return cli_fail(EXIT_USAGE, "%s: no such program", o->command[0]);
  // Addresses must be the same in every run.
  if (personality(ADDR_NO_RANDOMIZE) < 0)
    return cli_fail(EXIT_ENVIRONMENT,
                    "cannot switch off address randomization here "
                    "(personality: %s); a container may forbid it",
                    strerror(errno));
  return open_scratch(o, cli_absolute(arena, path), arena);
}

static int spec_main(int argc, char **argv) {
  Options o = {.rounds = ROUNDS,
               .budget = BUDGET,
               .timeout = TIMEOUT,
               .method = USUAL_METHOD,
               .top = 10,
               .bound = 4,
               .seed = 1};
  Arena arena = {0};
  int first;
  char *line = cli_command_line(argv);
  o.line = line;
  int status = options_parse(&cmd_spec, argc, argv, &o, &first);
  if (status == OPTIONS_TAKEN && first >= argc)
    status =
        options_wrong(&cmd_spec, "name the program and its arguments after --");
  else if (status == OPTIONS_TAKEN)
    status = explain_given(&o, argv + first, &arena);
  free(line);
  confine_options_release(&o.confine);
  arena_release(&arena);
  return status;
}

const Command cmd_spec = {
    "spec",
    "find the statements that break a contract",
    spec_main,
    .usage = "[options] -- PROG [ARGS...] [< FILE]",
    .about = "PROG, built with culprit-cc, breaks a contract (/*@ ensures ...; "
             "*/) with these arguments. Name the clause and the statements "
             "that cannot all be right if it is to hold, and rank them with "
             "tests made from the call that breaks it. The store keeps the "
             "tests: culprit rank, why and report show them again.",
    .options = spec_options,
    .end = "Exit status: 1 a broken contract was explained, 0 --check found "
           "none within its bounds, 2 usage, 3 environment, 4 no contract is "
           "broken, the caller breaks a precondition, or no answer in time, "
           "130 interrupted.",
    .runs_program = true};
