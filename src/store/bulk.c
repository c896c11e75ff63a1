// Taking over what was recorded elsewhere: many units and runs in one
// transaction, and units as another store has them.
//
// Inside a bulk the transactions of the other functions are part of the large
// one (db_begin_write and db_commit do nothing); the first that is rolled back
// ends it, and nothing more can be written until it is over.
#include <assert.h>

#include "store/internal.h"

int store_bulk_begin(Store *s, Err *err) {
  assert(!s->db.bulk);
  if (store_flush(s, err) || db_begin_write(&s->db, err))
    return -1;
  s->db.bulk = true;
  return 0;
}

// Runs that still wait must not be written by the next flush.
static void forget_pending(Store *s) {
  for (size_t i = 0; i < s->pending.len; i++)
    pending_release(&s->pending.items[i]);
  s->pending.len = 0;
  s->pending_bytes = 0;
}

int store_bulk_end(Store *s, bool keep, Err *err) {
  assert(s->db.bulk);
  int rc = keep ? store_flush(s, err) : -1;
  s->db.bulk = false;
  if (!rc && !db_commit(&s->db, err))
    return 0;
  db_rollback(&s->db);
  forget_pending(s);
  registry_release(&s->registry); // it knows what is not there any more
  return keep ? -1 : 0;
}

int store_each_unit(Store *s, const Suite *suite, Arena *names, EachUnit *each,
                    void *ctx, Err *err) {
  if (store_flush(s, err) || db_begin_read(&s->db, err))
    return -1;
  int rc = session_each_unit(s, suite->session, names, each, ctx, err);
  db_rollback(&s->db); // only read
  return rc;
}
