// The queue of a session: tests that workers on any machine take, run and store
// (fleet/queue_worker.h). A worker takes tests for a time, its lease, which it extends
// while it works. Tests of a worker that does so no more return to the queue.
//
// A run replaces an earlier one of the same test, so a test that two workers
// ran, because one was too slow to extend its lease, has one run all the same.
//
// The tables (queue_meta, _session, _item, _bundle) are made when the first
// session is queued, and have a version of their own. Times are seconds since
// 1970 by the clock of the database's server; those of a file, by ours.
#ifndef CULPRIT_STORE_TEST_QUEUE_H
#define CULPRIT_STORE_TEST_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/store.h"
#include "util/array.h"
#include "util/err.h"
#include "util/str.h"

#define QUEUE_VERSION 1

// Makes the tables if they are not there. Fails if a newer culprit made them.
int test_queue_open(Store *s, Err *err);

// Queues tests of a session: those that are not queued yet. `bundle`: what
// workers need, by its hash; another one than before is refused.
int test_queue_add(Store *s, int64_t session, const char *bundle,
                   const char *const *tests, size_t n, Err *err);

// The oldest session that has tests nobody works on; 0: none has. *bundle: by
// its hash, caller frees.
int test_queue_next_session(Store *s, int64_t *session, char **bundle,
                            Err *err);

typedef struct {
  ARRAY(char *) tests;
} QueueLease;

// Takes up to `most` tests for so many seconds. None: others have them all.
int test_queue_take(Store *s, int64_t session, const char *worker,
                    double seconds, size_t most, QueueLease *out, Err *err);
void test_queue_lease_release(QueueLease *l);
// Those that the worker has and that are not done.
int test_queue_extend(Store *s, int64_t session, const char *worker,
                      double seconds, Err *err);
// Their runs are stored.
int test_queue_finish(Store *s, int64_t session, const char *worker, Err *err);
// Gives them back.
int test_queue_return(Store *s, int64_t session, const char *worker, Err *err);

typedef struct {
  int64_t session;
  size_t all, done, taken; // taken: by a worker whose lease lasts
  size_t workers;          // that have tests
  size_t recent;           // tests that ended in the last minute
} QueueStatus;

// Of one session, or of all that have a queue.
int test_queue_status(Store *s, int64_t session, QueueStatus *out, Err *err);
typedef ARRAY(QueueStatus) QueueStatuses;
int test_queue_statuses(Store *s, QueueStatuses *out, Err *err);

// Bundles, in parts.
int test_queue_put_bundle(Store *s, const char *hash, const Str *content,
                          Err *err);
int test_queue_get_bundle(Store *s, const char *hash, Str *out, Err *err);

#endif
