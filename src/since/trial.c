// Does a version pass the failing tests: see trial.h.
#include "since/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/store.h"
#include "util/clock.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/stop.h"

enum { STATUS_BROKEN = 3, KEY_SIZE = OID_SIZE + 8 };

static const char HEAD[] = "culprit since 1 ";

// --- what is known -----------------------------------------------------------

// FNV-1a, 64 bits: the key only tells searches of one user apart.
static void add_hash(uint64_t *h, const char *text) {
  for (const char *p = text ? text : ""; *p; p++)
    *h = (*h ^ (unsigned char)*p) * 0x100000001b3u;
  *h = (*h ^ 0xff) * 0x100000001b3u;
}

static char *key_of(const TrialPlan *p) {
  uint64_t h = 0xcbf29ce484222325u;
  const Texts *lists[] = {p->words, p->command, p->tests};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    for (size_t k = 0; k < lists[i]->len; k++)
      add_hash(&h, lists[i]->items[k]);
    add_hash(&h, "--");
  }
  add_hash(&h, p->below);
  add_hash(&h, p->build);
  return mem_printf("%016llx", (unsigned long long)h);
}

static bool are_letters(const char *text, size_t n, size_t ntests) {
  if (n == 1 && *text == TRIAL_BROKEN)
    return true;
  for (size_t i = 0; i < n; i++)
    if (!strchr("pfys", text[i]) || !text[i])
      return false;
  return n == ntests;
}

static bool take_outcome(const char *line, size_t n, size_t ntests,
                         Hashmap *known, Texts *letters, Arena *arena) {
  const char *gap = memchr(line, ' ', n);
  size_t oid = gap ? (size_t)(gap - line) : 0;
  if (!gap || oid >= KEY_SIZE || !are_letters(gap + 1, n - oid - 1, ntests))
    return false;
  hashmap_put(known, line, oid, letters->len);
  array_push(letters, arena_strndup(arena, gap + 1, n - oid - 1));
  return true;
}

int outcomes_parse(const char *text, size_t size, const char *key,
                   size_t ntests, Hashmap *known, Texts *letters,
                   Arena *arena) {
  size_t head = strlen(HEAD), n = strlen(key);
  if (size < head + n + 1 || memcmp(text, HEAD, head) != 0 ||
      memcmp(text + head, key, n) != 0 || text[head + n] != '\n')
    return -1;
  const char *end = text + size, *stop;
  for (const char *line = text + head + n + 1;
       (stop = memchr(line, '\n', (size_t)(end - line))); line = stop + 1)
    if (!take_outcome(line, (size_t)(stop - line), ntests, known, letters,
                      arena))
      return -1;
  return 0;
}

// Writes what is known anew: a line that was cut off is not continued.
static int write_outcomes(const Trials *t, const char *key, const Str *had,
                          Err *err) {
  Str text = {0};
  str_addf(&text, "%s%s\n", HEAD, key);
  const char *end = had ? memrchr(had->data, '\n', had->len) : NULL;
  if (end)
    str_addn(&text, had->data + text.len,
             (size_t)(end + 1 - had->data) - text.len);
  int rc = fs_write(t->outcomes, text.data, text.len, err);
  str_release(&text);
  return rc;
}

static int load_outcomes(Trials *t, Err *err) {
  Str text = {0};
  Err ignored;
  char *key = key_of(&t->plan);
  bool ours = !fs_read(t->outcomes, 0, &text, &ignored) &&
              !outcomes_parse(text.data, text.len, key, t->plan.tests->len,
                              &t->known, &t->letters, &t->arena);
  int rc = write_outcomes(t, key, ours ? &text : NULL, err);
  str_release(&text);
  free(key);
  return rc;
}

static int keep_outcome(Trials *t, const char *key, const char *letters,
                        Err *err) {
  hashmap_put(&t->known, key, strlen(key), t->letters.len);
  array_push(&t->letters, arena_strdup(&t->arena, letters));
  FILE *f = fopen(t->outcomes, "a");
  if (!f || fprintf(f, "%s %s\n", key, letters) < 0 || fclose(f))
    return err_set(err, "%s: %s", t->outcomes, strerror(errno));
  return 0;
}

int trials_open(Trials *t, const TrialPlan *plan, Err *err) {
  char self[PATH_MAX] = "";
  *t = (Trials){.plan = *plan};
  ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  t->culprit = mem_strdup(n > 0 ? self : "culprit");
  t->outcomes = mem_printf("%s/outcomes", plan->checkout->dir);
  t->log = mem_printf("%s/log", plan->checkout->dir);
  return load_outcomes(t, err);
}

void trials_close(Trials *t) {
  free(t->culprit);
  free(t->outcomes);
  free(t->log);
  hashmap_release(&t->known);
  array_release(&t->letters);
  arena_release(&t->arena);
}

// --- a process that builds or tests ------------------------------------------

static void clean_environment(const Checkout *c) {
  static const char *const names[] = {
      "GIT_DIR",    "GIT_WORK_TREE",        "GIT_INDEX_FILE",
      "GIT_PREFIX", "GIT_OBJECT_DIRECTORY", "CULPRIT_STORE",
      "CULPRIT_RUN"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    unsetenv(names[i]);
  setenv("GIT_CEILING_DIRECTORIES", c->dir, 1);
  setenv("GIT_OPTIONAL_LOCKS", "0", 1);
}

static void execute(const Trials *t, const char *dir, char *const *argv) {
  int log = open(t->log, O_WRONLY | O_CREAT | O_APPEND, 0644);
  int none = open("/dev/null", O_RDONLY);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  dup2(none, 0);
  dup2(log, 1);
  dup2(log, 2);
  clean_environment(t->plan.checkout);
  if (log < 0 || chdir(dir)) {
    dprintf(2, "%s: %s\n", dir, strerror(errno));
    _exit(STATUS_BROKEN);
  }
  execvp(argv[0], argv);
  dprintf(2, "%s: %s\n", argv[0], strerror(errno));
  _exit(STATUS_BROKEN);
}

// Its exit status; -1: a signal.
static int run_child(const Trials *t, char *const *argv) {
  const Checkout *c = t->plan.checkout;
  char *dir = mem_printf("%s/%s", c->tree, t->plan.below);
  int status = 0;
  fflush(NULL);
  pid_t pid = fork();
  if (pid == 0)
    execute(t, dir, argv);
  while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
    ;
  free(dir);
  return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// The words of `culprit run` for this trial; `all`: of all tests.
static char **words_of_run(const Trials *t, bool all, Arena *arena) {
  const TrialPlan *p = &t->plan;
  const char *const own[] = {"--store", p->checkout->store, "--quiet",
                             "--close", "0"};
  Texts words = {0};
  array_push(&words, t->culprit);
  array_push(&words, "run");
  for (size_t i = 0; i < p->words->len; i++)
    array_push(&words, p->words->items[i]);
  for (size_t i = 0; i < sizeof own / sizeof *own; i++)
    array_push(&words, own[i]);
  for (size_t i = 0; !all && i < p->tests->len; i++) {
    array_push(&words, "--test");
    array_push(&words, p->tests->items[i]);
  }
  if (p->command->len)
    array_push(&words, "--");
  for (size_t i = 0; i < p->command->len; i++)
    array_push(&words, p->command->items[i]);
  array_push(&words, NULL);
  return arena_adopt(arena, &words), (char **)words.items;
}

// A session of another version is not continued.
static void drop_sessions(const Checkout *c) {
  static const char *const names[] = {"store.db", "store.db-wal",
                                      "store.db-shm"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char *path = mem_printf("%s/%s", c->store, names[i]);
    unlink(path);
    free(path);
  }
}

static int build_in_place(const Trials *t) {
  char *self = path_of_self();
  char *cc = mem_printf("CC=%s/culprit-cc", self);
  char *argv[] = {"env", cc, "sh", "-c", (char *)t->plan.build, NULL};
  int status = t->plan.build ? run_child(t, argv) : 0;
  free(cc);
  free(self);
  return status;
}

static bool log_says(const Trials *t, const char *what) {
  static const char *const logs[] = {"log", "store/build.log"};
  bool says = false;
  for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
    char *path = mem_printf("%s/%s", t->plan.checkout->dir, logs[i]);
    Str text = {0};
    Err ignored;
    says |= !fs_read(path, 0, &text, &ignored) && strstr(str_text(&text), what);
    str_release(&text);
    free(path);
  }
  return says;
}

// Builds and runs what is in the tree. *status is that of `culprit run`.
static int run_here(Trials *t, bool all, int *status, Err *err) {
  Arena arena = {0};
  unlink(t->log);
  drop_sessions(t->plan.checkout);
  *status = build_in_place(t) ? STATUS_BROKEN
                              : run_child(t, words_of_run(t, all, &arena));
  arena_release(&arena);
  if (*status == 2)
    return err_set(err, "`culprit run` refuses its command line: see %s",
                   t->log);
  if (*status == STATUS_BROKEN && log_says(t, "No space left on device"))
    return err_set(err,
                   "%s: the disk is full; make room and give the same command "
                   "again: it resumes",
                   t->plan.checkout->dir);
  if (*status < 0 || *status > 4)
    return err_set(err, "`culprit run` was ended in %s: see %s",
                   t->plan.checkout->tree, t->log);
  return 0;
}

// What was built before can stand in the way (a header that is gone): afresh,
// unless the compiler has found something wrong in the version itself.
static int run_version(Trials *t, const char *tree, const char *what, bool all,
                       int *status, Err *err) {
  Checkout *c = t->plan.checkout;
  bool same = !strcmp(t->built, tree), afresh = !*c->at;
  for (int i = 0;; i++) {
    if (t->plan.progress)
      t->plan.progress(t->plan.context, what, t->builds + !same);
    t->builds += !same;
    if (checkout_move(c, tree, err) || run_here(t, all, status, err))
      return -1;
    checkout_settle(c);
    if (*status != STATUS_BROKEN || i || afresh || same ||
        log_says(t, ": error: "))
      break;
    if (checkout_forget(c, err))
      return -1;
  }
  strcpy(t->built, tree);
  return 0;
}

// --- verdicts ----------------------------------------------------------------

static char letter_of(const Suite *suite, const char *test) {
  static const char letters[VERDICTS] = {
      [VERDICT_PASS] = TRIAL_PASS,  [VERDICT_FAIL] = TRIAL_FAIL,
      [VERDICT_SKIP] = TRIAL_NONE,  [VERDICT_FLAKY] = TRIAL_FLAKY,
      [VERDICT_ERROR] = TRIAL_NONE,
  };
  for (size_t i = 0; i < suite->nruns; i++)
    if (!strcmp(suite->runs[i].test, test))
      return letters[suite->runs[i].verdict];
  return TRIAL_NONE;
}

static int load_suite(const Trials *t, Suite *out, Err *err) {
  Store *store;
  if (store_open(&store, t->plan.checkout->store, STORE_EXISTING, err))
    return -1;
  int rc = store_load(store, 0, out, err);
  store_close(store);
  return rc;
}

static int run_and_read(Trials *t, const char *tree, const char *what,
                        char **letters, Err *err) {
  Suite suite = {0};
  Err ignored;
  int status;
  if (run_version(t, tree, what, false, &status, err))
    return -1;
  Str text = {0};
  if (status == STATUS_BROKEN || load_suite(t, &suite, &ignored))
    str_addc(&text, TRIAL_BROKEN);
  else
    for (size_t i = 0; i < t->plan.tests->len; i++)
      str_addc(&text, letter_of(&suite, t->plan.tests->items[i]));
  suite_release(&suite);
  *letters = str_take(&text);
  return 0;
}

int trial_repeat(Trials *t, const char *tree, unsigned time, const char *what,
                 const char **letters, Err *err) {
  uint64_t at;
  char *fresh, key[KEY_SIZE];
  int n = snprintf(key, sizeof key, "%.64s", tree);
  if (time)
    snprintf(key + n, sizeof key - (size_t)n, ":%u", time % 100);
  if (hashmap_get(&t->known, key, strlen(key), &at)) {
    *letters = t->letters.items[at];
    t->reused++;
    return 0;
  }
  if (t->plan.deadline > 0 && clock_now() >= t->plan.deadline) {
    t->spent = true;
    *letters = "-";
    return 0;
  }
  if (run_and_read(t, tree, what, &fresh, err))
    return -1;
  int rc = keep_outcome(t, key, fresh, err);
  *letters = t->letters.items[t->letters.len - 1];
  free(fresh);
  return rc;
}

int trial(Trials *t, const char *tree, const char *what, const char **letters,
          Err *err) {
  return trial_repeat(t, tree, 0, what, letters, err);
}

int trial_all(Trials *t, const char *tree, const char *what, Suite *out,
              Err *err) {
  int status;
  Err ignored;
  *out = (Suite){0};
  if (run_version(t, tree, what, true, &status, err))
    return -1;
  if (status == STATUS_BROKEN || load_suite(t, out, &ignored))
    suite_release(out);
  return 0;
}
