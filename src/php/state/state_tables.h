// The tables of an application's state in MariaDB. Part of app_state.h.
//
// Which tables were written to is read from counters of the server (rows
// changed, also by cascades; AUTO_INCREMENT; definitions), which takes half a
// millisecond; only those are looked at. A table's content is hashed, and kept
// once per content as a table of a schema of our own: restoring copies it back
// within the server.
//
// Every save and restore first ends the connections to these databases but its
// own: persistent ones, and the query of a worker that was killed.
//
// Limits: views, routines, events and sequences are not kept.
#ifndef CULPRIT_PHP_STATE_STATE_TABLES_H
#define CULPRIT_PHP_STATE_STATE_TABLES_H

#include <stdint.h>

#include "util/array.h"
#include "util/err.h"
#include "util/str.h"

typedef struct {
  uint32_t table;   // which: numbers of TableState
  uint32_t version; // and with what in it
} TableEntry;
typedef ARRAY(TableEntry) TableEntries; // by table

typedef struct TableState TableState;

// `databases` must be there. Sets the server's global userstat.
int table_state_open(TableState **t, const char *socket,
                     const char *const *databases, Err *err);
void table_state_close(TableState *t);

int table_state_save(TableState *t, TableEntries *out, Err *err);
// *restored: how many tables were written, made or dropped.
int table_state_restore(TableState *t, const TableEntries *target,
                        size_t *restored, Err *err);
// The same for equal contents, whichever server has them.
uint64_t table_state_digest(const TableState *t, const TableEntries *entries);

#endif
