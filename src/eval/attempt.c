// One faulty version from its row to its outcome: see attempt.h.
#include "eval/attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include "eval/dependence_graph.h"
#include "php/application.h"
#include "process/words.h"
#include "util/clock.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

static char *file_of(const Version *v, const char *name) {
  return mem_printf("%s/%s", v->dir, name);
}

char *attempt_outcome(const Version *v) { return file_of(v, "outcome"); }

// --- processes -------------------------------------------------------------

static void prepare_process(void) {
  char *self = path_of_self();
  const char *path = getenv("PATH");
  char *longer = mem_printf("%s:%s", self, path ? path : "/usr/bin:/bin");
  setenv("PATH", longer, 1);
  // Everything that a method may ask for.
  setenv("CULPRIT_MODE", "counts+returns", 0);
  personality(ADDR_NO_RANDOMIZE); // not allowed everywhere: then without
  free(longer);
  free(self);
}

static void execute(char *const argv[], const char *cwd, const char *log) {
  int in = open("/dev/null", O_RDONLY);
  int out = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (in < 0 || out < 0)
    _exit(127);
  dup2(in, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(out, STDERR_FILENO);
  if (chdir(cwd)) {
    dprintf(STDERR_FILENO, "%s: %s\n", cwd, strerror(errno));
    _exit(127);
  }
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  execvp(argv[0], argv);
  dprintf(STDERR_FILENO, "%s: %s\n", argv[0], strerror(errno));
  _exit(127);
}

// Its exit status; -1 if a signal ended it.
static int run_logged(char *const argv[], const char *cwd, const char *log) {
  int status;
  pid_t pid = fork();
  if (pid == 0)
    execute(argv, cwd, log);
  while (pid > 0 && waitpid(pid, &status, 0) < 0)
    if (errno != EINTR)
      return 127;
  if (pid < 0)
    return 127;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// The last line that a command printed.
static char *last_line(const char *log) {
  Str text = {0};
  Err err;
  fs_read(log, 1 << 20, &text, &err);
  while (text.len && strchr("\n ", text.data[text.len - 1]))
    text.data[--text.len] = '\0';
  const char *line = strrchr(str_text(&text), '\n');
  char *copy = mem_strdup(line ? line + 1 : str_text(&text));
  str_release(&text);
  return copy;
}

static int fail_with_log(Err *err, const char *what, int status,
                         const char *log) {
  char *line = last_line(log);
  err_set(err, "%s ended with status %d: %s (see %s)", what, status, line, log);
  free(line);
  return -1;
}

// --- what was done already -------------------------------------------------

static void hash_text(XXH3_state_t *h, const char *text) {
  if (text)
    XXH3_64bits_update(h, text, strlen(text) + 1);
}

static int hash_file(XXH3_state_t *h, const char *path, Err *err) {
  Str text = {0};
  int rc = fs_read(path, 0, &text, err);
  if (!rc) {
    uint64_t n = text.len;
    XXH3_64bits_update(h, &n, sizeof n);
    XXH3_64bits_update(h, str_text(&text), text.len);
  }
  str_release(&text);
  return rc;
}

// The extension takes part in what is recorded of a PHP application.
static int hash_program(XXH3_state_t *h, const Version *v, Err *err) {
  if (!v->web)
    return hash_file(h, v->program, err);
  uint64_t app = app_hash(v->program, "", 0);
  XXH3_64bits_update(h, &app, sizeof app);
  char *extension = app_extension(err);
  int rc = extension ? hash_file(h, extension, err) : -1;
  free(extension);
  return rc;
}

// Caller frees; NULL if a file of it cannot be read.
static char *make_key(const Version *v, const AttemptOptions *o, Err *err) {
  XXH3_state_t *h = XXH3_createState();
  bool reference = v->oracle && !strcmp(v->oracle, "--reference");
  XXH3_64bits_reset(h);
  hash_text(h, v->text);
  hash_text(h, v->dir);
  hash_text(h, o->close);
  int rc = hash_program(h, v, err);
  rc = rc || hash_file(h, v->tests, err);
  rc = rc || (reference && hash_file(h, v->oracle_value, err));
  char *key =
      mem_printf("%016llx\n", (unsigned long long)XXH3_64bits_digest(h));
  XXH3_freeState(h);
  if (!rc)
    return key;
  free(key);
  return NULL;
}

static bool is_done(const Version *v, const char *key) {
  char *path = file_of(v, "done");
  Str text = {0};
  Err err;
  bool same =
      key && !fs_read(path, 4096, &text, &err) && !strcmp(str_text(&text), key);
  str_release(&text);
  free(path);
  return same;
}

// --- building and running --------------------------------------------------

static int build(const Version *v, const AttemptOptions *o, Err *err) {
  char *dir = file_of(v, "build"), *log = file_of(v, "build.log");
  char *const argv[] = {"sh", "-c", (char *)v->build, NULL};
  int rc = fs_mkdirs(dir, err);
  int status = !rc && *v->build ? run_logged(argv, o->root, log) : 0;
  if (!rc && status)
    rc = fail_with_log(err, "the build command", status, log);
  if (!rc && !(v->web ? fs_exists(v->program) : fs_executable(v->program)))
    rc = err_set(err, "the build command made no program %s", v->program);
  free(log);
  free(dir);
  return rc;
}

typedef ARRAY(char *) Arguments;

static void add_option(Arguments *a, const char *name, const char *value) {
  if (!value)
    return;
  array_push(a, (char *)name);
  array_push(a, (char *)value);
}

static void add_run(const Version *v, const AttemptOptions *o, Arguments *a) {
  array_push(a, "run");
  array_push(a, "--confine"); // faulty programs may do anything
  add_option(a, "--exe", v->program);
  add_option(a, "--tests", v->tests);
  add_option(a, "--cwd", v->cwd);
  add_option(a, v->oracle, v->oracle ? v->oracle_value : NULL);
  add_option(a, "--close", o->close);
}

static int add_web(const Version *v, Arguments *a, Arena *arena, Err *err) {
  Words words;
  if (!words_parse(&words, v->web, arena) || words.nredirects)
    return err_set(err, "oracle web:%s: expected plain options", v->web);
  array_push(a, "web");
  array_push(a, (char *)v->program);
  add_option(a, "--requests", v->tests);
  for (size_t i = 0; i < words.argc; i++)
    array_push(a, words.argv[i]);
  return 0;
}

// 0: nothing failed, 1: tests failed, 4: no usable verdict; the store tells.
static int run_tests(const Version *v, const AttemptOptions *o, Err *err) {
  char *self = path_of_self(), *culprit = mem_printf("%s/culprit", self);
  char *store = file_of(v, "store"), *log = file_of(v, "run.log");
  Arguments a = {0};
  Arena arena = {0};
  int status = -1;
  array_push(&a, culprit);
  if (v->web && add_web(v, &a, &arena, err))
    goto out;
  if (!v->web)
    add_run(v, o, &a);
  add_option(&a, "--timeout", v->timeout);
  add_option(&a, "--store", store);
  add_option(&a, "-j", "1"); // versions are what runs in parallel
  array_push(&a, "-q");
  array_push(&a, NULL);
  status = run_logged(a.items, v->dir, log);
  if (status != 0 && status != 1 && status != 4)
    fail_with_log(err, v->web ? "`culprit web`" : "`culprit run`", status, log);
out:
  array_release(&a);
  arena_release(&arena);
  free(log);
  free(store);
  free(culprit);
  free(self);
  return status == 0 || status == 1 || status == 4 ? 0 : -1;
}

static int mark_done(const Version *v, const char *key, Err *err) {
  char *path = file_of(v, "done");
  int rc = fs_write(path, key, strlen(key), err);
  free(path);
  return rc;
}

// Runs the tests of an earlier build are of no use.
static void forget(const Version *v) {
  char *done = file_of(v, "done"), *store = file_of(v, "store");
  char *graph = file_of(v, "graph");
  if (fs_exists(done)) {
    fs_remove_tree(store);
    unlink(done);
  }
  unlink(graph);
  free(graph);
  free(store);
  free(done);
}

static int run_if_needed(const Version *v, const AttemptOptions *o,
                         VersionOutcome *out, Err *err) {
  char *key = make_key(v, o, err);
  int rc = key ? 0 : -1;
  if (!rc && !is_done(v, key)) {
    double start = clock_now();
    forget(v);
    rc = run_tests(v, o, err);
    rc = rc || mark_done(v, key, err);
    out->run = clock_now() - start;
  }
  free(key);
  return rc;
}

static bool needs_build(const Version *v, const AttemptOptions *o) {
  Err err;
  char *key = o->rebuild ? NULL : make_key(v, o, &err);
  bool done = key && is_done(v, key);
  free(key);
  return !done;
}

// Caller frees; NULL if it cannot be made.
static char *make_graph(const Version *v, Err *err) {
  char *path = file_of(v, "graph"), *scratch = file_of(v, "graph.tmp");
  char *fresh = file_of(v, "graph.new");
  int rc = 0;
  if (!fs_exists(path)) {
    rc = dependence_graph_write(v->program, scratch, fresh, err);
    if (!rc && rename(fresh, path))
      rc = err_set(err, "%s: %s", path, strerror(errno));
  }
  free(fresh);
  free(scratch);
  if (!rc)
    return path;
  free(path);
  return NULL;
}

static int measure(const Version *v, const AttemptOptions *o,
                   const MethodList *methods, VersionOutcome *out, Err *err) {
  double start = clock_now();
  char *graph = o->graph ? make_graph(v, err) : NULL;
  if (o->graph && !graph)
    return -1;
  char *store = file_of(v, "store");
  int rc = outcome_measure(out, store, graph, v, methods, err);
  out->rank = clock_now() - start;
  free(store);
  free(graph);
  return rc;
}

static int work(const Version *v, const AttemptOptions *o,
                const MethodList *methods, VersionOutcome *out, Err *err) {
  if (needs_build(v, o)) {
    double start = clock_now();
    int rc = build(v, o, err);
    out->build = clock_now() - start;
    if (rc)
      return -1;
  }
  return run_if_needed(v, o, out, err) || measure(v, o, methods, out, err) ? -1
                                                                           : 0;
}

int attempt(const Version *v, const AttemptOptions *o,
            const MethodList *methods, Err *err) {
  VersionOutcome out;
  char *path = attempt_outcome(v);
  outcome_init(&out, methods->items.len);
  unlink(path);
  prepare_process();
  int rc = fs_mkdirs(v->dir, err);
  if (!rc) {
    Err problem = {0};
    if (work(v, o, methods, &out, &problem))
      out.problem = mem_strdup(problem.text);
    rc = outcome_write(&out, path, err);
  }
  outcome_release(&out);
  free(path);
  return rc;
}
