// What lies beside a store on a server: notes of `culprit near`, `spec` and
// `try`, and failing pages. They are files in store_dir(), where commands read
// and write them as they do beside store.db; the server has a copy (table
// `beside`), so that what was found on one machine is known on all.
//
// A file that changed since the two agreed goes to the other side: to this one
// when the store is opened, to the server when it is closed. If both changed,
// the one that is closed last stays.
#ifndef CULPRIT_STORE_BESIDE_H
#define CULPRIT_STORE_BESIDE_H

#include "store/store.h"

// May change store_dir(): to one in $TMPDIR, if there are files and they cannot
// be written here.
int beside_fetch(Store *s, Err *err);
// What fails is tried again the next time.
void beside_send(Store *s);
// Also removes the directory in $TMPDIR.
void beside_release(Store *s);

#endif
