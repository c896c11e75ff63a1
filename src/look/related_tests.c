// Which passing tests have something to do with the failing ones: see
// related_tests.h.
#include "look/related_tests.h"

#include <string.h>

#include "util/hashmap.h"

// Is the test one of these, or inside of one ("prog/test_a" of "prog")?
static bool is_among(const Hashmap *tests, const char *name) {
  uint64_t ignored;
  for (size_t n = strlen(name); n; n--)
    if ((!name[n] || name[n] == '/') && hashmap_get(tests, name, n, &ignored))
      return true;
  return false;
}

static void add_tests(Hashmap *out, const SeenModule *m) {
  for (size_t i = 0; i < m->tests.len; i++)
    hashmap_put(out, m->tests.items[i], strlen(m->tests.items[i]), 1);
}

// The name of a test, and of what it may be inside of.
static void add_name(Hashmap *out, const char *name) {
  for (size_t n = strlen(name); n; n--)
    if (!name[n] || name[n] == '/')
      hashmap_put(out, name, n, 1);
}

// A test program's own tests may have names that do not begin with its: then
// nobody knows which of them ran what.
static bool is_named(const Hashmap *all, const SeenModule *m) {
  uint64_t ignored;
  for (size_t i = 0; i < m->tests.len; i++)
    if (!hashmap_get(all, m->tests.items[i], strlen(m->tests.items[i]),
                     &ignored))
      return false;
  return m->tests.len > 0;
}

static void name_all(const Suite *suite, Hashmap *out) {
  for (size_t i = 0; i < suite->nruns; i++)
    add_name(out, suite->runs[i].test);
}

void related_tests_part(const Suite *suite, const SeenModule *modules, size_t n,
                        CloseSample *sample, CloseSample *apart) {
  Hashmap alike = {0}; // tests that ran a program that a failing one ran
  Hashmap all = {0};
  bool any = false, known = true;
  size_t kept = 0;
  name_all(suite, &all);
  for (size_t i = 0; i < n; i++)
    if (modules[i].failing) {
      add_tests(&alike, &modules[i]);
      any = true;
      known &= is_named(&all, &modules[i]);
    }
  known &= any;
  for (size_t i = 0; known && i < sample->len; i++) {
    SampledRun s = sample->items[i];
    if (s.little && !is_among(&alike, suite->runs[s.run].test))
      array_push(apart, s);
    else
      sample->items[kept++] = s;
  }
  if (known)
    sample->len = kept;
  hashmap_release(&alike);
  hashmap_release(&all);
}

static bool is_needed(const SeenModule *m, const Hashmap *sampled,
                      const Hashmap *all) {
  uint64_t ignored;
  for (size_t i = 0; i < m->tests.len; i++)
    if (hashmap_get(sampled, m->tests.items[i], strlen(m->tests.items[i]),
                    &ignored))
      return true;
  return !is_named(all, m);
}

void related_tests_modules(const Suite *suite, const SeenModule *modules,
                           size_t n, const CloseSample *sample,
                           NeededModules *out) {
  Hashmap sampled = {0}, all = {0};
  name_all(suite, &all);
  for (size_t i = 0; i < sample->len; i++)
    add_name(&sampled, suite->runs[sample->items[i].run].test);
  for (size_t i = 0; i < n; i++)
    if (is_needed(&modules[i], &sampled, &all))
      array_push(out, modules[i]);
  hashmap_release(&sampled);
  hashmap_release(&all);
}
