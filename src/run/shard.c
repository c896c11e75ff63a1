// Which tests one of several machines runs: see shard.h.
#include "run/shard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "process/words.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

bool shard_parse(const char *text, Shard *out) {
  int end = 0;
  unsigned k, n;
  if (*text < '0' || *text > '9' ||
      sscanf(text, "%6u/%6u%n", &k, &n, &end) != 2 || text[end])
    return false;
  *out = (Shard){k, n};
  return k >= 1 && k <= n && n <= SHARDS_MOST;
}

// The argument of --NAME at word *i, as "--NAME X" or "--NAME=X"; NULL: that is
// another word. *i: the last word of it.
static const char *argument(const Words *w, size_t *i, const char *name) {
  const char *word = w->argv[*i];
  size_t n = strlen(name);
  if (!text_starts(word, "--") || !text_starts(word + 2, name))
    return NULL;
  if (word[2 + n] == '=')
    return word + 3 + n;
  return !word[2 + n] && *i + 1 < (size_t)w->argc ? w->argv[++*i] : NULL;
}

Shard shard_of_command(const char *command, const char *store, char **rest) {
  Shard found = {0};
  Arena arena = {0};
  Words w;
  Str line = {0};
  bool ours = true; // what follows "--" is the tests' own
  if (!words_parse(&w, arena_strdup(&arena, command), &arena))
    w.argc = 0;
  for (size_t i = 0; i < (size_t)w.argc; i++) {
    const char *word = w.argv[i], *value;
    ours &= strcmp(word, "--") != 0;
    if (ours && (value = argument(&w, &i, "shard")) &&
        shard_parse(value, &found))
      continue;
    str_add(&line, line.len ? " " : "");
    if (ours && store && argument(&w, &i, "store")) {
      str_add(&line, "--store ");
      word = store;
    }
    words_quote(&line, word);
  }
  if (rest)
    *rest = mem_strdup(str_text(&line));
  str_release(&line);
  arena_release(&arena);
  return found;
}

// --- times ------------------------------------------------------------------

static int by_name(const void *a, const void *b, void *names) {
  const char *const *text = names;
  return strcmp(text[*(const size_t *)a], text[*(const size_t *)b]);
}

static void take_times(TestTimes *t, const Suite *suite) {
  size_t n = suite->nruns;
  const char **names = arena_array(&t->arena, const char *, n);
  size_t *order = arena_array(&t->arena, size_t, n);
  t->names = arena_array(&t->arena, const char *, n);
  t->seconds = arena_array(&t->arena, double, n);
  for (size_t i = 0; i < n; i++) {
    names[i] = arena_strdup(&t->arena, suite->runs[i].test);
    order[i] = i;
  }
  if (n)
    qsort_r(order, n, sizeof *order, by_name, names);
  for (size_t i = 0; i < n; i++) {
    t->names[i] = names[order[i]];
    t->seconds[i] = suite->runs[order[i]].seconds;
  }
  t->n = n;
}

static int64_t whole_session(const SessionInfo *list, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (list[i].finished && list[i].runs &&
        !shard_of_command(list[i].command, NULL, NULL).n)
      return list[i].id;
  return 0;
}

int test_times_load(TestTimes *t, Store *store, Err *err) {
  SessionInfo *list;
  size_t n;
  *t = (TestTimes){0};
  if (store_list(store, &list, &n, err))
    return -1;
  int64_t session = whole_session(list, n);
  store_list_free(list, n);
  Suite suite = {0};
  if (!session)
    return 0;
  if (store_load(store, session, &suite, err))
    return -1;
  take_times(t, &suite);
  suite_release(&suite);
  return 0;
}

void test_times_release(TestTimes *t) { arena_release(&t->arena); }

// The first name that is not before `name`.
static size_t find_name(const TestTimes *t, const char *name) {
  size_t low = 0, high = t->n;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (strcmp(t->names[mid], name) < 0)
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}

double test_times_of(const TestTimes *t, const char *name) {
  size_t at = find_name(t, name);
  if (at < t->n && !strcmp(t->names[at], name))
    return t->seconds[at];
  double sum = -1;
  char *inside = mem_printf("%s/", name);
  for (at = find_name(t, inside); at < t->n; at++) {
    if (!text_starts(t->names[at], inside))
      break;
    sum = (sum < 0 ? 0 : sum) + t->seconds[at];
  }
  free(inside);
  return sum;
}

// --- assignment -------------------------------------------------------------

unsigned shard_by_name(const char *name, unsigned n) {
  return (unsigned)(XXH3_64bits(name, strlen(name)) % n) + 1;
}

typedef struct {
  const char *name;
  size_t index;
  double seconds;
} TimedTest;

static int longest_first(const void *a, const void *b) {
  const TimedTest *x = a, *y = b;
  if (x->seconds != y->seconds)
    return x->seconds > y->seconds ? -1 : 1;
  return strcmp(x->name, y->name);
}

static unsigned least_loaded(const double *load, unsigned n) {
  unsigned best = 0;
  for (unsigned i = 1; i < n; i++)
    if (load[i] < load[best])
      best = i;
  return best;
}

// A test costs something whatever its time says: many short ones are dealt out
// evenly.
static const double OVERHEAD = 0.001;

void shards_assign(const TestTimes *t, const char *const *names, size_t count,
                   unsigned n, unsigned *shards) {
  TimedTest *timed = mem_array(TimedTest, count);
  double *load = mem_array(double, n);
  size_t ntimed = 0;
  for (size_t i = 0; i < count; i++) {
    double seconds = t ? test_times_of(t, names[i]) : -1;
    shards[i] = shard_by_name(names[i], n);
    if (seconds >= 0)
      timed[ntimed++] = (TimedTest){names[i], i, seconds};
  }
  if (ntimed)
    qsort(timed, ntimed, sizeof *timed, longest_first);
  for (size_t i = 0; i < ntimed; i++) {
    unsigned at = least_loaded(load, n);
    load[at] += timed[i].seconds + OVERHEAD;
    shards[timed[i].index] = at + 1;
  }
  free(load);
  free(timed);
}

uint64_t shards_digest(const char *const *names, const unsigned *shards,
                       size_t count) {
  uint64_t sum = 0;
  for (size_t i = 0; i < count; i++)
    sum += XXH3_64bits_withSeed(names[i], strlen(names[i]), shards[i]);
  return sum;
}
