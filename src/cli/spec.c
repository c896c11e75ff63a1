// culprit spec: a run that breaks a contract. Names the promise, the statements
// that cannot be right together with it, and ranks them with made tests.
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/confine_options.h"
#include "run/scratch.h"
#include "run/testfile.h"
#include "spec/keep.h"
#include "spec/report.h"
#include "store/store.h"
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
} Method;

// The first says how many tests the others get in a comparison.
static const Method methods[] = {
    {"sat-tar", PICK_SUSPECTS, true, true, false},
    {"sat-tar+alone", PICK_SUSPECTS, true, true, true},
    {"core", PICK_SUSPECTS, true, false, false},
    {"core+directed", PICK_NEAREST, true, true, false},
    {"guided", PICK_SUSPECTS, false, true, false},
    {"directed", PICK_NEAREST, false, true, false},
    {"random", PICK_RANDOM, false, true, false},
};
enum { METHOD_DEFAULT = 1 };

// --- options ----------------------------------------------------------------

typedef struct {
  size_t rounds;
  double budget, timeout;
  const Method *method;
  const char *check; // function
  size_t top, seed, bound;
  bool json, interactive, compare, quiet, help;
  const char *store, *input;
  const char *dir;  // of the store
  const char *line; // our own command line
  char **command;
  ConfineOptions confine;
  Arena arena;
} Options;

enum {
  OPT_ROUNDS = 256,
  OPT_BUDGET,
  OPT_TIMEOUT,
  OPT_METHOD,
  OPT_CHECK,
  OPT_BOUND,
  OPT_TOP,
  OPT_SEED,
  OPT_JSON,
  OPT_INTERACTIVE,
  OPT_COMPARE,
  OPT_INPUT,
  OPT_STORE,
  OPT_ALLOW_WRITE,
  OPT_ALLOW_CONNECT,
};

static const struct option long_options[] = {
    {"rounds", required_argument, NULL, OPT_ROUNDS},
    {"budget", required_argument, NULL, OPT_BUDGET},
    {"timeout", required_argument, NULL, OPT_TIMEOUT},
    {"method", required_argument, NULL, OPT_METHOD},
    {"check", required_argument, NULL, OPT_CHECK},
    {"bound", required_argument, NULL, OPT_BOUND},
    {"top", required_argument, NULL, OPT_TOP},
    {"seed", required_argument, NULL, OPT_SEED},
    {"json", no_argument, NULL, OPT_JSON},
    {"interactive", no_argument, NULL, OPT_INTERACTIVE},
    {"compare", no_argument, NULL, OPT_COMPARE},
    {"input", required_argument, NULL, OPT_INPUT},
    {"store", required_argument, NULL, OPT_STORE},
    {"allow-write", required_argument, NULL, OPT_ALLOW_WRITE},
    {"allow-connect", required_argument, NULL, OPT_ALLOW_CONNECT},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {0},
};

static void print_help(void) {
  puts(
      "usage: culprit spec [options] -- PROG [ARGS...] [< FILE]\n"
      "\n"
      "PROG, built with culprit-cc, breaks a contract (/*@ ensures ...; */)\n"
      "with these arguments. Names the promise, the statements that cannot\n"
      "all be right if it is to hold, and ranks them with tests made from\n"
      "the call that breaks it. They are kept: culprit rank, why and report\n"
      "show them again.\n"
      "\n"
      "  --rounds N         made tests, one a round (default: 25; 0: none)\n"
      "  --interactive      ask after every round whether to go on; answers\n"
      "                     come from standard input\n"
      "  --input FILE       standard input of PROG (default: what spec is\n"
      "                     given, except with --interactive)\n"
      "  --check FUNCTION   the run breaks nothing: look for a state in which\n"
      "                     FUNCTION does, then go on from there\n"
      "  --bound N          how often loops go round and calls nest in it\n"
      "                     (default: 4)\n"
      "  --budget S         seconds for each core, and for all rounds\n"
      "                     (default: 60)\n"
      "  --timeout S        seconds for one run (default: 10)\n"
      "  --method M         sat-tar+alone (default): sat-tar, and lines of "
      "the\n"
      "                     core that could not alone be wrong are rated\n"
      "                     lower; sat-tar, core, core+directed, guided,\n"
      "                     directed, random\n"
      "  --compare          all of them, with as many tests each as sat-tar\n"
      "                     takes, made once\n"
      "  --top N            lines of the ranking (default: 10; all)\n"
      "  --json             for programs\n"
      "  --seed N           of --method random\n"
      CONFINE_HELP
      "  -q, --store DIR    as for culprit run\n"
      "\n"
      "Exit: 1 a promise is broken and explained, 0 --check found nothing\n"
      "within its bounds, 2 usage, 3 environment, 4 no promise is broken, the\n"
      "caller breaks a precondition, or no answer in time, 130 interrupted.");
}

static int take_method(Options *o, const char *name) {
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
    if (!strcmp(methods[i].name, name)) {
      o->method = &methods[i];
      return 0;
    }
  return -1;
}

static int take_rounds(Options *o, const char *arg) {
  if (strcmp(arg, "0") != 0)
    return cli_count(arg, &o->rounds);
  o->rounds = 0;
  return 0;
}

static int take_option(void *options, int opt, const char *arg) {
  Options *o = options;
  // clang-format off
  switch (opt) {
  case OPT_ROUNDS: return take_rounds(o, arg);
  case OPT_BUDGET: return cli_seconds(arg, &o->budget);
  case OPT_TIMEOUT: return cli_seconds(arg, &o->timeout);
  case OPT_METHOD: return take_method(o, arg);
  case OPT_CHECK: o->check = arg; return 0;
  case OPT_BOUND: return cli_count(arg, &o->bound);
  case OPT_TOP: return cli_top(arg, &o->top);
  case OPT_SEED: return cli_count(arg, &o->seed);
  case OPT_JSON: o->json = true; return 0;
  case OPT_INTERACTIVE: o->interactive = true; return 0;
  case OPT_COMPARE: o->compare = true; return 0;
  case OPT_INPUT: o->input = arg; return 0;
  case OPT_STORE: o->store = arg; return 0;
  case OPT_ALLOW_WRITE: return confine_take_write(&o->confine, &o->arena, arg);
  case OPT_ALLOW_CONNECT: return confine_take_connect(&o->confine, arg);
  case 'q': o->quiet = true; return 0;
  case 'h': o->help = true; return 0;
  default: return -1;
  }
  // clang-format on
}

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
  const Method *method;
  size_t rounds;
  Rounds r;
  SpecReport report;
} Play;

static void play_open(Play *p, const Options *o, const Method *m, size_t rounds,
                      Candidates *c) {
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

// For the commands that come after it. Not being able to is no reason to show
// nothing.
static void keep(Play *p) {
  Err err = {0};
  Store *store;
  if (store_open(&store, p->options->dir, STORE_CREATE, &err)) {
    cli_warn("not kept: %s", err.text);
    return;
  }
  if (spec_keep(&p->r, store, p->options->line, &p->report.session, &err)) {
    cli_warn("not kept: %s", err.text);
    p->report.session = 0;
  }
  store_close(store);
}

static int go_rounds(const Options *o, Candidates *c) {
  Play p;
  play_open(&p, o, o->method, o->rounds, c);
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
static int compare(const Options *o, Candidates *c) {
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
  Candidates c;
  candidates_open(&c, q, o->budget / 4);
  int status = o->compare ? compare(o, &c) : go_rounds(o, &c);
  candidates_close(&c);
  return status;
}

// --- the broken promise -----------------------------------------------------

static int explain_nothing(const Inquiry *q) {
  switch (q->found) {
  case FOUND_TIMEOUT:
    return cli_fail(EXIT_NO_VERDICT,
                    "the program does not end within %.0f s and breaks no "
                    "promise before: a function that never returns has no "
                    "state after it (--timeout)",
                    q->subject->options.timeout);
  case FOUND_PRECONDITION:
    spec_print_broken(q->violation, q->subject->options.cwd, stderr);
    return cli_fail(EXIT_NO_VERDICT,
                    "%s is called although what it requires does not hold: "
                    "its caller is at fault, there is nothing to explain in "
                    "it",
                    q->violation->table.function);
  default:
    return cli_fail(EXIT_NO_VERDICT,
                    "no promise is broken by this run (--check FUNCTION looks "
                    "for a state in which one is)");
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
  printf("found with loops and calls up to %u: %s\n", r->reached,
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
                    "no answer within %.0f s for loops and calls up to %u; "
                    "none breaks a promise of %s up to %u",
                    o->budget, r->reached + 1, o->check, r->reached);
  escape_printf(stdout,
                "%s keeps its promises in every state of the objects at ",
                o->check);
  print_calls(r->done);
  printf(" in which loops go round and calls nest %zu times at most\n",
         o->bound);
  if (r->call > r->done)
    printf("the time was over, or call %llu could not be followed; give "
           "--budget\n",
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

static int inquire(const Options *o, Subject *s) {
  Err err = {0};
  InquiryOptions options = {.core_seconds = o->budget,
                            .corrections = o->method->correct || o->compare};
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
  return status == EXIT_INTERRUPTED ? cli_interrupted("nothing can be resumed")
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
  char buffer[65536];
  ssize_t n;
  while ((n = read(STDIN_FILENO, buffer, sizeof buffer)) > 0 ||
         (n < 0 && errno == EINTR))
    str_addn(&text, buffer, n > 0 ? (size_t)n : 0);
  char *path = mem_printf("%s/input", dir);
  if (fs_write(path, str_text(&text), text.len, err)) {
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
  Subject s = {0};
  int status = *err.text || subject_open(&s, &options, &err) ? cli_error(&err)
                                                             : inquire(o, &s);
  subject_close(&s);
  free(input);
  return status;
}

static int open_scratch(Options *o, const char *program, Arena *arena) {
  Err err = {0};
  char *found = store_find(o->store);
  const char *dir = o->dir = cli_absolute(arena, found);
  Scratch scratch = {0};
  int status;
  free(found);
  if (fs_mkdirs(dir, &err) || scratch_open(&scratch, dir, &err)) {
    status = cli_error(&err);
  } else {
    status = run_subject(o, program, arena_printf(arena, "%s/trace", dir),
                         scratch.dir, arena);
    scratch_close(&scratch);
  }
  return status;
}

static int explain_given(Options *o, int argc, char **argv, Arena *arena) {
  int first = cli_options(argc, argv, "+qh", long_options, take_option, o);
  if (first >= 0 && o->help) {
    print_help();
    return EXIT_DONE;
  }
  if (first < 0)
    return cli_usage_hint("spec");
  if (first >= argc) {
    cli_fail(EXIT_USAGE, "name the program and its arguments after --");
    return cli_usage_hint("spec");
  }
  o->command = argv + first;
  confine_options_end(&o->confine);
  const char *path = path_lookup(o->command[0], arena);
  if (!path)
    return cli_fail(EXIT_USAGE, "%s: there is no such program", o->command[0]);
  // Addresses must be the same in every run.
  if (personality(ADDR_NO_RANDOMIZE) < 0)
    return cli_fail(EXIT_ENVIRONMENT,
                    "address randomization cannot be switched off here "
                    "(personality: %s); a container may forbid it",
                    strerror(errno));
  return open_scratch(o, cli_absolute(arena, path), arena);
}

int cmd_spec(int argc, char **argv) {
  Options o = {.rounds = ROUNDS,
               .budget = BUDGET,
               .timeout = TIMEOUT,
               .method = &methods[METHOD_DEFAULT],
               .top = 10,
               .bound = 4,
               .seed = 1};
  Arena arena = {0};
  char *line = cli_command_line(argv);
  o.line = line;
  int status = explain_given(&o, argc, argv, &arena);
  free(line);
  confine_options_release(&o.confine);
  arena_release(&o.arena);
  arena_release(&arena);
  return status;
}
