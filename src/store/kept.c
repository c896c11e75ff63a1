// Counts that are kept as runs come in: see kept.h.
#include "store/kept.h"

#include <stdlib.h>
#include <string.h>

#include "store/internal.h"
#include "util/leb.h"
#include "util/mem.h"

enum {
  FOLD = 16,      // rows of a level into one of the next
  WORTH_RUNS = 64 // fewer spectra are read as fast
};

// --- sums ------------------------------------------------------------------

static Verdict class_of(Verdict v) {
  return v == VERDICT_PASS || v == VERDICT_FAIL ? v : VERDICT_ERROR;
}

static bool same_text(const char *a, const char *b) {
  return a == b || (a && b && !strcmp(a, b));
}

static BatchSum *find_sum(BatchSums *sums, int64_t session, EntityKind kind,
                          Verdict verdict, const char *signature) {
  for (size_t i = 0; i < sums->len; i++) {
    BatchSum *s = &sums->items[i];
    if (s->session == session && s->kind == kind && s->verdict == verdict &&
        same_text(s->signature, signature))
      return s;
  }
  array_push(sums, (BatchSum){.session = session,
                              .kind = kind,
                              .verdict = verdict,
                              .signature = signature});
  return &array_last(sums);
}

static void grow(BatchSum *s, size_t n) {
  if (n <= s->n)
    return;
  s->counts = mem_realloc(s->counts, n * sizeof *s->counts);
  memset(s->counts + s->n, 0, (n - s->n) * sizeof *s->counts);
  s->n = n;
}

static void add_hits(BatchSum *s, const Bitset *hits, int sign) {
  grow(s, hits->nwords * 64);
  for (size_t w = 0; w < hits->nwords; w++)
    for (uint64_t left = hits->words[w]; left; left &= left - 1)
      s->counts[w * 64 + (size_t)__builtin_ctzll(left)] += sign;
  s->runs += sign;
}

static bool seen_before(const Texts *texts, size_t i) {
  for (size_t k = 0; k < i; k++)
    if (!strcmp(texts->items[k], texts->items[i]))
      return true;
  return false;
}

static void count_kind(BatchSums *sums, int64_t session, EntityKind kind,
                       Verdict verdict, const Texts *signatures,
                       const Bitset *hits, int sign) {
  add_hits(find_sum(sums, session, kind, verdict, NULL), hits, sign);
  for (size_t i = 0; verdict == VERDICT_FAIL && i < signatures->len; i++)
    if (!seen_before(signatures, i))
      add_hits(find_sum(sums, session, kind, verdict, signatures->items[i]),
               hits, sign);
}

void kept_count(BatchSums *sums, int64_t session, Verdict verdict,
                const Texts *signatures, const Bitset hits[ENTITY_KINDS],
                int sign) {
  verdict = class_of(verdict);
  find_sum(sums, session, ENTITY_KINDS, verdict, NULL)->runs += sign;
  for (EntityKind k = 0; k < ENTITY_KINDS; k++)
    if (!(CLOSE_KINDS & 1u << k) && bitset_count(&hits[k]))
      count_kind(sums, session, k, verdict, signatures, &hits[k], sign);
}

void kept_release(BatchSums *sums) {
  for (size_t i = 0; i < sums->len; i++)
    free(sums->items[i].counts);
  array_release(sums);
}

// --- their form ------------------------------------------------------------

static uint64_t zigzag(int64_t v) {
  return (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0);
}

static int64_t unzigzag(uint64_t v) {
  return (int64_t)(v >> 1 ^ (v & 1 ? UINT64_MAX : 0));
}

static void write_counts(const int32_t *counts, size_t n, Str *out) {
  size_t last = 0;
  for (size_t i = 0; i < n; i++) {
    if (!counts[i])
      continue;
    leb_put(out, i - last);
    leb_put(out, zigzag(counts[i]));
    last = i;
  }
}

typedef void AddCount(void *ctx, uint64_t entity, int64_t count);

// -1: it is none of ours.
static int each_count(const void *blob, size_t size, uint64_t limit,
                      AddCount *add, void *ctx) {
  const unsigned char *at = blob, *end = at + size;
  uint64_t entity = 0, step, count;
  while (at < end) {
    if (!leb_get(&at, end, &step) || !leb_get(&at, end, &count) ||
        step >= limit || (entity += step) >= limit)
      return -1;
    add(ctx, entity, unzigzag(count));
  }
  return 0;
}

// --- writing ---------------------------------------------------------------

static const char *kind_name(EntityKind kind) {
  return kind == ENTITY_KINDS ? "run" : entity_kind_name(kind);
}

static int write_sum(Store *s, const BatchSum *sum, Err *err) {
  Str text = {0};
  write_counts(sum->counts, sum->n, &text);
  Value counts = v_blob(str_text(&text), text.len);
  const char *kind = kind_name(sum->kind),
             *verdict = verdict_name(sum->verdict);
  int rc;
  if (sum->signature)
    rc = db_queue(&s->db,
                  "INSERT INTO kept (session, kind, verdict, failure, level,"
                  " runs, counts) SELECT ?, ?, ?, id, 0, ?, ? FROM failure"
                  " WHERE session = ? AND signature = ?",
                  VALUES(v_int(sum->session), v_text(kind), v_text(verdict),
                         v_int(sum->runs), counts, v_int(sum->session),
                         v_text(sum->signature)),
                  err);
  else
    rc = db_queue(&s->db,
                  "INSERT INTO kept (session, kind, verdict, failure, level,"
                  " runs, counts) VALUES (?, ?, ?, 0, 0, ?, ?)",
                  VALUES(v_int(sum->session), v_text(kind), v_text(verdict),
                         v_int(sum->runs), counts),
                  err);
  str_release(&text);
  return rc;
}

int kept_write(Store *s, const BatchSums *sums, Err *err) {
  for (size_t i = 0; i < sums->len; i++)
    if (write_sum(s, &sums->items[i], err))
      return -1;
  return 0;
}

// --- a run that goes -------------------------------------------------------

typedef struct {
  Bitset hits[ENTITY_KINDS];
  Texts signatures;
  Arena *names;
  int verdict;
  bool counted; // has a spectrum
} OldRun;

static void read_old_run(void *ctx, DbQuery *q) {
  OldRun *r = ctx;
  r->verdict = verdict_parse(query_text(q, 0));
  r->counted = query_u32(q, 1) > 0;
  q->bad |= r->verdict < 0;
}

static void read_old_hits(void *ctx, DbQuery *q) {
  OldRun *r = ctx;
  Err ignored;
  size_t size;
  int kind = entity_kind_parse(query_text(q, 0));
  const void *blob = query_blob(q, 1, &size);
  q->bad |= kind < 0 ||
            bitset_read(&r->hits[kind], blob, size, ENTITY_NONE, &ignored);
}

static void read_old_failure(void *ctx, DbQuery *q) {
  OldRun *r = ctx;
  array_push(&r->signatures, arena_strdup(r->names, query_text(q, 0)));
}

static int read_old(Store *s, int64_t run, OldRun *r, Err *err) {
  if (query_each(&s->db, "SELECT verdict, processes FROM run WHERE id = ?",
                 VALUES(v_int(run)), "run", read_old_run, r, err) ||
      query_each(&s->db, "SELECT kind, hits FROM spectrum WHERE run = ?",
                 VALUES(v_int(run)), "spectrum", read_old_hits, r, err))
    return -1;
  return query_each(&s->db,
                    "SELECT signature FROM run_failure JOIN failure"
                    " ON failure.id = run_failure.failure WHERE run = ?",
                    VALUES(v_int(run)), "run_failure", read_old_failure, r,
                    err);
}

int kept_forget_run(Store *s, int64_t session, int64_t run, BatchSums *sums,
                    Arena *names, Err *err) {
  OldRun r = {.names = names};
  int rc = read_old(s, run, &r, err);
  if (!rc && r.counted)
    kept_count(sums, session, (Verdict)r.verdict, &r.signatures, r.hits, -1);
  for (int k = 0; k < ENTITY_KINDS; k++)
    bitset_release(&r.hits[k]);
  array_release(&r.signatures);
  return rc;
}

// --- folding ---------------------------------------------------------------

// The rows of one level that say the same of different runs.
typedef struct {
  char *kind, *verdict;
  int64_t failure, level;
} FoldGroup;

typedef ARRAY(FoldGroup) FoldGroups;

typedef struct {
  BatchSum sum;
  uint32_t nentities;
  ARRAY(int64_t) ids;
} Folding;

static void add_to_sum(void *ctx, uint64_t entity, int64_t count) {
  BatchSum *sum = ctx;
  if (entity >= sum->n)
    grow(sum, entity < 1024 ? 2048 : (size_t)entity * 2);
  sum->counts[entity] += (int32_t)count;
}

static void read_group(void *ctx, DbQuery *q) {
  FoldGroup g = {.kind = mem_strdup(query_text(q, 0)),
                 .verdict = mem_strdup(query_text(q, 1)),
                 .failure = query_int(q, 2),
                 .level = query_int(q, 3)};
  array_push((FoldGroups *)ctx, g);
}

static void read_folded(void *ctx, DbQuery *q) {
  Folding *f = ctx;
  size_t size;
  array_push(&f->ids, query_int(q, 0));
  f->sum.runs += query_int(q, 1);
  const void *blob = query_blob(q, 2, &size);
  q->bad |= each_count(blob, size, f->nentities, add_to_sum, &f->sum);
}

static int replace_rows(Store *s, int64_t session, const FoldGroup *g,
                        const Folding *f, Err *err) {
  Str text = {0};
  int rc = 0;
  for (size_t i = 0; !rc && i < f->ids.len; i++)
    rc = db_queue(&s->db, "DELETE FROM kept WHERE id = ?",
                  VALUES(v_int(f->ids.items[i])), err);
  write_counts(f->sum.counts, f->sum.n, &text);
  if (!rc)
    rc = db_queue(&s->db,
                  "INSERT INTO kept (session, kind, verdict, failure, level,"
                  " runs, counts) VALUES (?, ?, ?, ?, ?, ?, ?)",
                  VALUES(v_int(session), v_text(g->kind), v_text(g->verdict),
                         v_int(g->failure), v_int(g->level + 1),
                         v_int(f->sum.runs), v_blob(str_text(&text), text.len)),
                  err);
  str_release(&text);
  return rc;
}

static int fold_group(Store *s, int64_t session, const FoldGroup *g,
                      uint32_t nentities, Err *err) {
  Folding f = {.nentities = nentities};
  int rc =
      query_each(&s->db,
                 "SELECT id, runs, counts FROM kept WHERE session = ?"
                 " AND kind = ? AND verdict = ? AND failure = ?"
                 " AND level = ?",
                 VALUES(v_int(session), v_text(g->kind), v_text(g->verdict),
                        v_int(g->failure), v_int(g->level)),
                 "kept", read_folded, &f, err);
  if (!rc)
    rc = replace_rows(s, session, g, &f, err);
  free(f.sum.counts);
  array_release(&f.ids);
  return rc;
}

typedef struct {
  Store *store;
  int64_t session;
  uint32_t nentities;
} FoldWork;

static void read_entities(void *ctx, DbQuery *q) {
  *(uint32_t *)ctx = query_u32(q, 0);
}

// Only who has the lock deletes rows, and only rows it has seen.
static int lock_folding(const FoldWork *w, bool *mine, Err *err) {
  DbQuery q;
  if (query_start(&q, &w->store->db,
                  "SELECT pg_try_advisory_xact_lock("
                  "hashtext(current_schema() || ' kept'), CAST(? AS int4))",
                  VALUES(v_int(w->session)), err))
    return -1;
  int rc = query_next(&q, err);
  *mine = rc > 0 && query_bool(&q, 0);
  query_end(&q);
  return rc < 0 ? -1 : 0;
}

static int fold(void *ctx, Err *err) {
  FoldWork *w = ctx;
  FoldGroups groups = {0};
  bool mine;
  if (lock_folding(w, &mine, err))
    return -1;
  int rc = 0;
  if (mine)
    rc = query_each(&w->store->db, "SELECT entities FROM session WHERE id = ?",
                    VALUES(v_int(w->session)), "session", read_entities,
                    &w->nentities, err);
  if (mine && !rc)
    rc = query_each(&w->store->db,
                    "SELECT kind, verdict, failure, level FROM kept"
                    " WHERE session = ? GROUP BY kind, verdict, failure, level"
                    " HAVING count(*) >= ?",
                    VALUES(v_int(w->session), v_int(FOLD)), "kept", read_group,
                    &groups, err);
  for (size_t i = 0; i < groups.len; i++) {
    if (!rc)
      rc =
          fold_group(w->store, w->session, &groups.items[i], w->nentities, err);
    free(groups.items[i].kind);
    free(groups.items[i].verdict);
  }
  array_release(&groups);
  return rc;
}

int kept_fold(Store *s, int64_t session, Err *err) {
  FoldWork w = {s, session, 0};
  return db_write(&s->db, DB_ADD_RUNS, fold, &w, err);
}

// --- reading ---------------------------------------------------------------

typedef struct {
  Suite *suite;
  ARRAY(KeptSum) sums;
  int64_t runs[VERDICTS]; // that were counted
} KeptReader;

static void read_kept(void *ctx, DbQuery *q) {
  KeptReader *r = ctx;
  Arena *arena = &r->suite->arena;
  const char *kind = query_text(q, 0), *signature = query_text_null(q, 2);
  int verdict = verdict_parse(query_text(q, 1)), k = entity_kind_parse(kind);
  if (verdict < 0 || (k < 0 && strcmp(kind, "run") != 0)) {
    q->bad = true;
    return;
  }
  if (k < 0) {
    r->runs[verdict] += query_int(q, 3);
    return;
  }
  size_t size;
  const void *blob = query_blob(q, 4, &size);
  KeptSum sum = {.kind = (EntityKind)k,
                 .verdict = (Verdict)verdict,
                 .signature = signature ? arena_strdup(arena, signature) : NULL,
                 .size = size};
  sum.counts = memcpy(arena_alloc_array(arena, size, 1), blob, size);
  array_push(&r->sums, sum);
}

// Then the failing runs together are those that show any failure.
static bool all_show_failures(const Suite *suite) {
  bool *shows = mem_array(bool, suite->nruns), all = true;
  for (size_t i = 0; i < suite->nfailures; i++)
    for (size_t k = 0; k < suite->failures[i].nruns; k++)
      shows[suite->failures[i].runs[k]] = true;
  for (size_t i = 0; i < suite->nruns; i++)
    all &= suite->runs[i].verdict != VERDICT_FAIL || shows[i];
  free(shows);
  return all;
}

// Are these all the runs, and only they? Not of a session that an older version
// wrote.
static bool is_complete(const KeptReader *r) {
  int64_t runs[VERDICTS] = {0};
  if (!all_show_failures(r->suite))
    return false;
  for (size_t i = 0; i < r->suite->nruns; i++)
    if (r->suite->runs[i].has_spectrum)
      runs[class_of(r->suite->runs[i].verdict)]++;
  return !memcmp(runs, r->runs, sizeof runs);
}

int kept_load(Store *s, Suite *suite, Err *err) {
  KeptReader r = {.suite = suite};
  if (!db_is_server(&s->db) || suite->nruns < WORTH_RUNS)
    return 0;
  int rc =
      query_each(&s->db,
                 "SELECT kept.kind, verdict, signature, runs, counts"
                 " FROM kept LEFT JOIN failure"
                 " ON failure.id = kept.failure WHERE kept.session = ?",
                 VALUES(v_int(suite->session)), "kept", read_kept, &r, err);
  if (!rc && is_complete(&r)) {
    KeptSum *own = arena_array(&suite->arena, KeptSum, r.sums.len);
    if (r.sums.len)
      memcpy(own, r.sums.items, r.sums.len * sizeof *own);
    suite->kept = own;
    suite->nkept = r.sums.len;
  }
  array_release(&r.sums);
  return rc;
}

typedef struct {
  const Suite *suite;
  EntityKind kind;
  uint32_t *out;
  bool bad; // an entity of another kind
} KeptTotal;

static void add_to_total(void *ctx, uint64_t entity, int64_t count) {
  KeptTotal *t = ctx;
  t->bad |= t->suite->entities[entity].kind != t->kind;
  t->out[entity] += (uint32_t)count;
}

int store_kept_sum(Store *s, const Suite *suite, const KeptSum *sum,
                   uint32_t *out, Err *err) {
  KeptTotal t = {suite, sum->kind, out, false};
  if (!each_count(sum->counts, sum->size, suite->nentities, add_to_total, &t) &&
      !t.bad)
    return 0;
  return db_corrupt(&s->db, err, "impossible value in table kept");
}
