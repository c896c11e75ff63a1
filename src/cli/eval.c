// culprit eval: how well methods find known faults, over many versions. Each
// version is a process of its own (eval/attempt.h); here they are started, and
// what came of them is put together.
#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "command/cli.h"
#include "eval/attempt.h"
#include "eval/curve.h"
#include "eval/evaluation.h"
#include "eval/export.h"
#include "eval/tables.h"
#include "store/store.h"
#include "store/store_address.h"
#include "util/area.h"
#include "util/clock.h"
#include "util/escape.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/stop.h"
#include "util/str.h"

enum {
  JOBS_MAX = 1024,
  STOP_SECONDS = 30, // for all versions to end after a signal
  LOOK_MS = 20,
};

// --- options ---------------------------------------------------------------

typedef struct {
  const char *manifest, *methods, *store, *output, *title, *versions, *close;
  bool ablate, graph, rebuild, quiet;
  double max_failing;
  int jobs;
} Options;

// "0.2" or "20%"
static int take_share(const Option *o, void *field, const char *arg) {
  (void)o;
  char *end;
  double x = strtod(arg, &end);
  if (end != arg && !strcmp(end, "%")) {
    x /= 100;
    end++;
  }
  if (end == arg || *end || !(x > 0) || x > 1)
    return -1;
  *(double *)field = x;
  return 0;
}

static int take_output(const Option *o, void *field, const char *arg) {
  (void)o;
  *(const char **)field = arg;
  return text_ends(arg, ".md") && strcmp(path_base(arg), ".md") != 0 ? 0 : -1;
}

static const OptionType option_share = {take_share,
                                        "a share above 0, as 0.2 or 20%"};
static const OptionType option_output = {take_output,
                                         "a name that ends in .md"};

static const Option options[] = {
    {"methods", "LIST", &option_text, offsetof(Options, methods),
     "methods, separated by commas, as `culprit rank --list-methods` names "
     "them; ochiai:statement+condition limits the kinds of entities"},
    {"ablate", NULL, &option_flag, offsetof(Options, ablate),
     "apply every formula also without conditions, without returns, and "
     "without both, and the default method without each kind that a closer "
     "look records"},
    {"close", "SECONDS", &option_text, offsetof(Options, close),
     "look closely at runs for that long, per version (as `culprit run "
     "--close`)"},
    {"graph", NULL, &option_flag, offsetof(Options, graph),
     "also score the first five statements over the program dependence graph"},
    {"exclude-failing-above", "SHARE", &option_share,
     offsetof(Options, max_failing),
     "leave out versions in which more tests fail, as 0.2 or 20%"},
    {"versions", "GLOB", &option_text, offsetof(Options, versions),
     "measure only versions whose names match"},
    {"output", "FILE.md", &option_output, offsetof(Options, output),
     "write the page there, and curves and CSV into the directory FILE",
     .letter = 'o'},
    {"title", "TEXT", &option_text, offsetof(Options, title),
     "title of the page"},
    {"rebuild", NULL, &option_flag, offsetof(Options, rebuild),
     "build again even if nothing seems to have changed; tests run again if "
     "the "
     "program differs"},
    {"jobs", "N", &option_int, offsetof(Options, jobs),
     "versions at once (default: one per processor)", .letter = 'j',
     .max = JOBS_MAX},
    {"quiet", NULL, &option_flag, offsetof(Options, quiet),
     "print no line per version", .letter = 'q'},
    {"store", "DIR", &option_text, offsetof(Options, store),
     "keep versions in DIR/eval (default: CULPRIT_STORE, else .culprit)"},
    {0}};

// --- running the versions --------------------------------------------------

typedef struct {
  const Options *options;
  const Manifest *manifest;
  const MethodList *methods;
  VersionOutcome *outcomes; // one per version, filled in as they come
  pid_t *pids;              // per version: its process, 0: none (any more)
  size_t started, running, finished;
} VersionRuns;

static void start_version(VersionRuns *b, size_t i) {
  const Version *v = &b->manifest->versions.items[i];
  AttemptOptions o = {.root = b->manifest->root,
                      .rebuild = b->options->rebuild,
                      .graph = b->options->graph,
                      .close = b->options->close};
  fflush(stdout);
  pid_t pid = fork();
  if (pid == 0) {
    Err err = {0};
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int rc = attempt(v, &o, b->methods, &err);
    if (rc)
      cli_error(&err);
    _exit(rc ? EXIT_ENVIRONMENT : EXIT_DONE);
  }
  if (pid > 0) {
    setpgid(pid, pid); // in both processes: either may come first
    b->pids[i] = pid;
    b->running++;
    return;
  }
  outcome_init(&b->outcomes[i], b->methods->items.len);
  b->outcomes[i].problem =
      mem_printf("cannot start a process: %s", strerror(errno));
  b->finished++;
}

static void show_version(const VersionRuns *b, size_t i) {
  const VersionOutcome *o = &b->outcomes[i];
  double seconds = o->build + o->run + o->rank;
  escape_printf(stderr, "[%zu/%zu] %s: ", b->finished,
                b->manifest->versions.len, b->manifest->versions.items[i].name);
  if (o->problem)
    escape_printf(stderr, "%s\n", o->problem);
  else
    fprintf(stderr, "%zu of %zu tests fail%s, %.1f s%s\n", o->failing,
            o->failing + o->passing, verb_s(o->failing), seconds,
            o->run > 0 ? "" : " (kept)");
}

static void finish_version(VersionRuns *b, size_t i) {
  char *path = attempt_outcome(&b->manifest->versions.items[i]);
  Err err = {0};
  if (outcome_read(&b->outcomes[i], path, b->methods->items.len, &err)) {
    outcome_init(&b->outcomes[i], b->methods->items.len);
    b->outcomes[i].problem = mem_strdup(err.text);
  }
  free(path);
  b->pids[i] = 0;
  b->running--;
  b->finished++;
  if (!stop_requested() && (!b->options->quiet || b->outcomes[i].problem))
    show_version(b, i);
}

// Until a child ended (orphans of a version's processes are ours, too) or a
// signal came.
static void wait_for_news(void) {
  siginfo_t info = {0};
  struct pollfd fd = {.fd = stop_fd(), .events = POLLIN};
  while (!stop_requested() && !info.si_pid) {
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) && errno == ECHILD)
      return;
    if (!info.si_pid)
      poll(&fd, 1, LOOK_MS);
  }
}

static void take_ended(VersionRuns *b) {
  for (pid_t pid; (pid = waitpid(-1, NULL, WNOHANG)) > 0;)
    for (size_t i = 0; i < b->started; i++)
      if (b->pids[i] == pid)
        finish_version(b, i);
}

// Each version is a process group of its own. With the compilers and tests that
// it has started it is to end before we do: they would write on into what the
// next evaluation makes.
static void run_versions(VersionRuns *b) {
  size_t n = b->manifest->versions.len;
  stop_adopt();
  while ((b->running || b->started < n) && !stop_requested()) {
    if (b->started < n && b->running < (size_t)b->options->jobs) {
      start_version(b, b->started++);
      continue;
    }
    wait_for_news();
    take_ended(b);
  }
  if (stop_requested())
    stop_descendants(true);
}

// --- showing ---------------------------------------------------------------

static void show_seconds(const Evaluation *e, double elapsed) {
  double build = 0, run = 0, rank = 0, n = (double)e->nversions;
  size_t kept = 0;
  for (size_t i = 0; i < e->nversions; i++) {
    build += e->outcomes[i].build;
    run += e->outcomes[i].run;
    rank += e->outcomes[i].rank;
    kept += !(e->outcomes[i].run > 0) && !e->outcomes[i].problem;
  }
  fprintf(stderr,
          "%zu version%s in %.1f s; %.2f s per faulty version: building %.2f, "
          "running %.2f, ranking with %zu method%s %.2f",
          e->nversions, plural(e->nversions), elapsed, (build + run + rank) / n,
          build / n, run / n, e->methods->items.len,
          plural(e->methods->items.len), rank / n);
  if (kept)
    fprintf(stderr, "; tests of %zu kept from before", kept);
  fputc('\n', stderr);
}

// Why methods were skipped, once per method.
static void show_skipped(const Evaluation *e) {
  for (size_t m = 0; m < e->methods->items.len; m++)
    for (size_t i = 0; i < e->nversions; i++)
      if (e->outcomes[i].reasons[m]) {
        if (!e->methods->items.items[m].dropped)
          cli_warn("%s: %s cannot be applied: %s",
                   e->manifest->versions.items[i].name,
                   e->methods->items.items[m].name, e->outcomes[i].reasons[m]);
        break;
      }
}

static int write_page(const Evaluation *e, const Options *o, const char *curves,
                      FILE *out, Err *err) {
  TableOptions t = {
      .title = o->title, .curves = curves, .against = METHOD_DEFAULT};
  tables_write(e, &t, out);
  if (fflush(out) || ferror(out))
    return err_set(err, "cannot write the page: %s", strerror(errno));
  return 0;
}

static int write_directory(const Evaluation *e, const char *dir, bool *drawn,
                           Err *err) {
  char *faults = mem_printf("%s/faults.csv", dir);
  char *pairs = mem_printf("%s/pairs.csv", dir);
  int rc = fs_mkdirs(dir, err);
  rc = rc || export_faults(e, faults, err) || export_pairs(e, pairs, err) ||
       (e->nkept && curves_write(e, dir, drawn, err));
  free(pairs);
  free(faults);
  return rc ? -1 : 0;
}

static int write_output(const Evaluation *e, const Options *o, Err *err) {
  if (!o->output)
    return write_page(e, o, NULL, stdout, err);
  char *dir = mem_printf("%.*s", (int)strlen(o->output) - 3, o->output);
  bool drawn = false;
  int rc = write_directory(e, dir, &drawn, err);
  FILE *out = rc ? NULL : fopen(o->output, "w");
  if (!rc && !out)
    rc = err_set(err, "%s: %s", o->output, strerror(errno));
  if (out) {
    rc = write_page(e, o, drawn ? path_base(dir) : NULL, out, err);
    fclose(out);
  }
  if (!rc && e->nkept && !drawn)
    cli_warn(
        "gnuplot is missing, so there are no curves (Debian: gnuplot-nox)");
  free(dir);
  return rc;
}

static int report(const Options *o, const VersionRuns *b, double elapsed) {
  Evaluation e;
  Err err = {0};
  size_t problems = 0;
  evaluation_init(&e, b->manifest, b->methods, b->outcomes, o->max_failing);
  show_skipped(&e);
  int status = write_output(&e, o, &err) ? cli_error(&err) : EXIT_DONE;
  show_seconds(&e, elapsed);
  for (size_t i = 0; i < e.nversions; i++)
    problems += e.states[i] == EXCLUDED_PROBLEM;
  if (status == EXIT_DONE && problems)
    status = cli_fail(EXIT_ENVIRONMENT,
                      "%zu of %zu versions could not be measured: see above",
                      problems, e.nversions);
  else if (status == EXIT_DONE && !e.nkept)
    status = cli_fail(EXIT_NO_VERDICT,
                      "every version was excluded; the page says why");
  evaluation_release(&e);
  return status;
}

// --- main ------------------------------------------------------------------

static int evaluate(const Options *o, const Manifest *m,
                    const MethodList *methods) {
  size_t n = m->versions.len;
  VersionRuns b = {.options = o,
                   .manifest = m,
                   .methods = methods,
                   .outcomes = mem_array(VersionOutcome, n),
                   .pids = mem_array(pid_t, n)};
  double start = clock_now();
  stop_orderly(STOP_SECONDS);
  run_versions(&b);
  free(b.pids);
  if (!stop_requested())
    return report(o, &b, clock_now() - start);
  for (size_t i = 0; i < n; i++)
    if (b.outcomes[i].measurements)
      outcome_release(&b.outcomes[i]);
  free(b.outcomes);
  return cli_interrupted("finished versions are kept");
}

static void choose_versions(Manifest *m, const char *glob) {
  size_t n = 0;
  for (size_t i = 0; i < m->versions.len; i++)
    if (!fnmatch(glob, m->versions.items[i].name, 0))
      m->versions.items[n++] = m->versions.items[i];
  m->versions.len = n;
}

static int read_methods(const Options *o, MethodList *l, Err *err) {
  Str lost = {0};
  int rc = o->methods ? methods_parse(l, o->methods, NULL, err)
                      : methods_parse(l, methods_default, &lost, err);
  if (lost.len)
    cli_warn("methods that this build lacks are left out: %s", lost.data);
  str_release(&lost);
  if (!rc && o->ablate)
    methods_ablate(l);
  return rc;
}

static int evaluate_manifest(const Options *o, char **argv) {
  Err err = {0};
  MethodList methods = {0};
  Manifest manifest = {0};
  int status = EXIT_DONE;
  char *store = store_find(o->store), *dir = address_directory(store);
  char *full = path_absolute(dir, NULL);
  free(store);
  char *state = mem_printf("%s/eval", full);
  if (read_methods(o, &methods, &err))
    status = cli_fail(EXIT_USAGE, "%s", err.text);
  else if (manifest_read(&manifest, o->manifest, state, &err))
    status = cli_error(&err);
  if (!status && o->versions)
    choose_versions(&manifest, o->versions);
  if (!status && !manifest.versions.len)
    status =
        cli_fail(EXIT_USAGE, "no version matches --versions %s", o->versions);
  Area area = AREA_NONE; // for what versions would leave behind
  if (!status && area_open_temporary(&area, &err))
    status = cli_error(&err);
  if (!status) {
    area_watch(&area);
    cli_resumes(argv);
    status = evaluate(o, &manifest, &methods);
  }
  area_close(&area);
  manifest_release(&manifest);
  methods_release(&methods);
  free(state);
  free(full);
  free(dir);
  return status;
}

static int eval_main(int argc, char **argv) {
  Options o = {.jobs = cli_default_jobs(JOBS_MAX),
               .max_failing = 1,
               .title = "Evaluation"};
  int first;
  int status = options_parse(&cmd_eval, argc, argv, &o, &first);
  if (status != OPTIONS_TAKEN)
    return status;
  if (first + 1 != argc)
    return options_wrong(&cmd_eval, "name one manifest");
  o.manifest = argv[first];
  return evaluate_manifest(&o, argv);
}

const Command cmd_eval = {
    "eval",
    "measure methods on programs with known faults",
    eval_main,
    .usage = "[options] MANIFEST",
    .about = "Build the faulty versions that MANIFEST lists, run their tests, "
             "apply every method, and print, as Markdown, how well they find "
             "the faults. culprit(1) describes the manifest. The same command "
             "continues what was interrupted.",
    .options = options,
    .end = "Exit status: 0 done, 2 usage, 3 a version could not be measured, 4 "
           "every version was excluded, 130 interrupted."};
