// What the solvers of one exploration have learnt: see solve_memory.h.
#include "explore/solve/solve_memory.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

enum { OPAQUE_MOST = 2000, OPAQUE_SHOWN = 8 };

SolveMemory *solve_memory_new(double question_seconds, double request_seconds) {
  SolveMemory *m = mem_new(SolveMemory);
  m->question_seconds = question_seconds;
  m->request_seconds =
      request_seconds > 0 ? request_seconds : SOLVE_REQUEST_SECONDS;
  return m;
}

void solve_memory_free(SolveMemory *m) {
  if (!m)
    return;
  known_calls_release(&m->known);
  session_memory_release(&m->kept);
  solve_cache_release(&m->cache);
  hashmap_release(&m->opaque_index);
  for (size_t i = 0; i < m->opaque.len; i++)
    free(m->opaque.items[i].name);
  array_release(&m->opaque);
  free(m);
}

void solve_memory_count_opaque(SolveMemory *m, const PhpShadows *sh) {
  for (size_t i = 0; i < sh->nopaque && m->opaque.len < OPAQUE_MOST; i++) {
    const PhpNamed *o = &sh->opaque[i];
    uint64_t fresh = m->opaque.len;
    uint64_t n =
        hashmap_intern(&m->opaque_index, o->name, strlen(o->name), fresh);
    if (n == fresh)
      array_push(&m->opaque, (OpaqueCount){mem_strdup(o->name), 0});
    m->opaque.items[n].count += o->number;
  }
}

static int by_count(const void *a, const void *b) {
  const OpaqueCount *x = a, *y = b;
  if (x->count != y->count)
    return x->count > y->count ? -1 : 1;
  return strcmp(x->name, y->name);
}

size_t solve_memory_opaque(const SolveMemory *m, PhpNamed *out, size_t most) {
  size_t n = m->opaque.len;
  OpaqueCount *sorted = mem_array(OpaqueCount, n + 1);
  if (n)
    memcpy(sorted, m->opaque.items, n * sizeof *sorted);
  qsort(sorted, n, sizeof *sorted, by_count);
  for (size_t i = 0; i < n && i < most; i++)
    out[i] = (PhpNamed){.name = sorted[i].name, .number = sorted[i].count};
  free(sorted);
  return n;
}

static void report_opaque(const SolveMemory *m, Str *out) {
  PhpNamed names[OPAQUE_SHOWN];
  size_t n = solve_memory_opaque(m, names, OPAQUE_SHOWN);
  for (size_t i = 0; i < n && i < OPAQUE_SHOWN; i++)
    str_addf(out, "%s%s %u",
             i ? ", " : "Calls without a model: ", names[i].name,
             names[i].number);
  if (n)
    str_add(out, n > OPAQUE_SHOWN ? ", ...\n" : "\n");
}

void solve_memory_report(const SolveMemory *m, Str *out) {
  SolveStats st = m->stats;
  if (!st.branches)
    return;
  size_t good = st.by_candidates + st.by_z3 + st.guessed;
  str_addf(
      out,
      "Solved: %zu of %zu decisions (%zu by candidates, %zu by Z3, %zu "
      "guessed); %zu depend on no input; %zu unsolved, %zu of them because "
      "Z3 timed out.\n",
      good, st.branches, st.by_candidates, st.by_z3, st.guessed, st.fixed,
      st.unsolved, st.timeouts < st.unsolved ? st.timeouts : st.unsolved);
  if (st.spared)
    str_addf(
        out,
        "Z3 was not asked %zu question%s about places where it never had an "
        "answer.\n",
        st.spared, plural(st.spared));
  if (st.late)
    str_addf(
        out,
        "%zu more decision%s of %zu request%s not tried: each request has %g s "
        "for solving.\n",
        st.late, plural(st.late), st.late_requests,
        st.late == 1 ? " was" : "s were", m->request_seconds);
  if (st.wrong)
    str_addf(out,
             "%zu decision%s not what culprit computed: please report this bug "
             "of culprit.\n",
             st.wrong, st.wrong == 1 ? " is" : "s are");
  report_opaque(m, out);
}
