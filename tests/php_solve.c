// Solves its way into pages: starts with an empty request and goes on with what
// request_solver.h makes of each record, until the page prints REACHED.
//
//   php_solve [-v] ROOT SCRATCH PAGE...
//
//   equal.php: reached after 3 requests: GET /equal.php?a=x
//   equal.php: not reached, 17 requests
//
// Decisions that their own run contradicts are printed as "wrong": there must
// be none. Ends with 1 if a page is not reached or anything is wrong.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explore/solve/request_solver.h"
#include "php/record/php_record.h"
#include "php/worker.h"
#include "util/fs.h"
#include "util/mem.h"

enum { REQUESTS_MOST = 80 };

typedef struct {
  Worker *worker;
  RequestSolver *solver;
  Asks queue;
  size_t next;
  Hashmap known;
  Arena arena;
  const char *page;
  unsigned wrong;
  bool verbose;
} Visit;

static _Noreturn void die(const char *what) {
  fprintf(stderr, "php_solve: %s\n", what);
  exit(2);
}

static void offer(Visit *v, const Ask *a) {
  Str key = {0};
  ask_key(a, true, &key);
  uint64_t n = v->queue.len;
  if (hashmap_intern(&v->known, key.data, key.len, n) == n)
    array_push(&v->queue, ask_copy(a, &v->arena));
  str_release(&key);
}

static void offer_all(Visit *v, Asks *asks) {
  for (size_t i = 0; i < asks->len; i++)
    offer(v, &asks->items[i]);
  array_release(asks);
}

static void tell_wrong(Visit *v, const PhpShadows *sh) {
  char text[600];
  TermEval *ev = term_eval_new(sh);
  for (size_t i = 0; i < sh->nbranches; i++) {
    const PhpBranch *b = &sh->branches[i];
    if (term_decides(ev, b->term, b->outcome))
      continue;
    term_show(sh, b->term, text, sizeof text);
    printf("%s:%u: wrong: %s is %d\n", v->page, b->line, text, b->outcome);
    v->wrong++;
  }
  term_eval_free(ev);
}

static void show(const Ask *a, const char *before) {
  Arena arena = {0};
  Request r;
  ask_request(a, 1, &r, &arena);
  char *text = request_text(&r);
  const char *cookie = headers_get(&r.headers, "Cookie");
  printf("%s%s%s%s\n", before, text, cookie ? " Cookie: " : "",
         cookie ? cookie : "");
  free(text);
  arena_release(&arena);
}

// True: the page printed REACHED.
static bool serve(Visit *v, const Ask *a) {
  Arena arena = {0};
  Request r;
  Exchange x;
  Err err;
  PhpRecord record;
  ask_request(a, 1, &r, &arena);
  if (v->verbose)
    show(a, "  ");
  if (worker_serve(v->worker, &r, NULL, &x, &arena, &err) ||
      php_record_read(worker_record(v->worker), &record, &arena, &err))
    die(err.text);
  const char *body = x.response.body ? x.response.body : "";
  bool reached = memmem(body, x.response.body_len, "REACHED", 7);
  tell_wrong(v, record.shadows);
  request_solver_begin(v->solver);
  request_solver_learn(v->solver, &record, a);
  for (size_t i = 0; i < record.ncompares && !reached; i++) {
    Asks asks = {0};
    request_solver_solve(v->solver, &record.compares[i], a, &asks, &arena);
    offer_all(v, &asks);
  }
  request_solver_end(v->solver);
  arena_release(&arena);
  return reached;
}

static bool visit(Visit *v) {
  char text[200];
  Ask first = ask_link(arena_printf(&v->arena, "/%s", v->page), "", &v->arena);
  offer(v, &first);
  while (v->next < v->queue.len && v->next < REQUESTS_MOST) {
    const Ask a = v->queue.items[v->next++];
    if (!serve(v, &a))
      continue;
    snprintf(text, sizeof text, "%s: reached after %zu requests: ", v->page,
             v->next);
    show(&a, text);
    return true;
  }
  printf("%s: not reached, %zu requests\n", v->page, v->next);
  return false;
}

int main(int argc, char **argv) {
  static const char *const ini[] = {
      "culprit.collect=statements,conditions,returns,edges,output,shadows",
      NULL};
  bool verbose = argc > 1 && !strcmp(argv[1], "-v");
  argv += verbose;
  argc -= verbose;
  if (argc < 4)
    die("php_solve [-v] ROOT SCRATCH PAGE...");
  Err err;
  char *self = path_of_self();
  char *extension = mem_printf("%s/culprit.so", self);
  char *maps = mem_printf("%s/maps", argv[2]);
  char *scratch = mem_printf("%s/worker", argv[2]);
  char *root = path_absolute(argv[1], NULL);
  WebApp app = {.root = root, .ini = ini, .extension = extension, .maps = maps};
  Worker *worker;
  if (fs_mkdirs(maps, &err) || worker_open(&worker, &app, scratch, &err))
    die(err.text);
  // The machine may be busy, the answer is the same.
  SolveMemory *memory = solve_memory_new(20, 600);
  RequestSolver *solver = request_solver_new(memory);
  int rc = 0;
  for (int i = 3; i < argc; i++) {
    Visit v = {.worker = worker,
               .page = argv[i],
               .verbose = verbose,
               .solver = solver};
    if (!visit(&v) || v.wrong)
      rc = 1;
    array_release(&v.queue);
    hashmap_release(&v.known);
    arena_release(&v.arena);
    fflush(stdout);
  }
  SolveStats st = memory->stats;
  printf("%zu branches: %zu by candidates, %zu by Z3 (%.2f s), %zu guessed, "
         "%zu fixed, %zu "
         "not solved (%zu beyond Z3's limits), %zu wrong\n",
         st.branches, st.by_candidates, st.by_z3, st.z3_seconds, st.guessed,
         st.fixed, st.unsolved, st.timeouts, st.wrong);
  request_solver_free(solver);
  solve_memory_free(memory);
  worker_close(worker);
  free(self);
  free(extension);
  free(maps);
  free(scratch);
  free(root);
  return rc;
}
