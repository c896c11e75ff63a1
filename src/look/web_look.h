// A closer look at the requests of a session (culprit web): those that matter
// are made once more while the PHP extension records relations and pairs
// (docs/internals/php-close.md). Of failing ones whose failure has lines in the
// page, also the statements that these depend on (script_slice.h).
//
//   WebLook *w = web_look_new(store, session, seconds, maps, &err);
//   for each i < web_look_length(w): make web_look_test(w, i) again,
//     web_look_take(w, &run, &record), as long as web_look_goes_on(w)
//   web_look_store(w, &result, &err);
//   web_look_free(w);
//
// Which requests is a function of the session (close_sample.h). Nothing is
// stored before the end, and then all at once. Not thread-safe.
#ifndef CULPRIT_LOOK_WEB_LOOK_H
#define CULPRIT_LOOK_WEB_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "look/close_look.h"
#include "model/run.h"
#include "php/record/php_record.h"
#include "store/store.h"
#include "util/err.h"

typedef struct WebLook WebLook;

// `maps`: directory of the scripts' maps.
WebLook *web_look_new(Store *store, int64_t session, double seconds,
                      const char *maps, Err *err);
void web_look_free(WebLook *w);

// Is there anything to explain, and to compare it with?
bool web_look_is_due(const WebLook *w);
size_t web_look_length(const WebLook *w);
const char *web_look_test(const WebLook *w, size_t i); // in order
// Is it one of them, and not taken yet?
bool web_look_wants(const WebLook *w, const char *test);
// Is there time, and has nobody interrupted?
bool web_look_goes_on(WebLook *w);
// One of them ended. `record` NULL: it left none. A run that does not end as the
// stored one did is dropped.
void web_look_take(WebLook *w, const Run *run, const PhpRecord *record);
// Something went wrong before all were made.
void web_look_note(WebLook *w, const char *problem);
// `out` is to be released (close_look_release). -1: the store cannot be written
// to.
int web_look_store(WebLook *w, CloseLookResult *out, Err *err);

#endif
