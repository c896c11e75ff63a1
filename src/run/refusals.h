// What confinement refused to the application, with the request that tried it.
// Shared by all workers.
#ifndef CULPRIT_RUN_REFUSALS_H
#define CULPRIT_RUN_REFUSALS_H

#include <pthread.h>
#include <stddef.h>

#include "confine/confine.h"
#include "util/array.h"
#include "util/str.h"

typedef struct {
  const char *kind; // "connect", "signal", "write", "mail"
  char *what;       // "127.0.0.1:3306", a path, an address
  char *script;     // of the first request that did it: "admin/index.php"
  char *request;    // "GET /admin/"
  size_t times;
} Refusal;

typedef struct {
  pthread_mutex_t lock;
  ARRAY(Refusal) list; // in the order of first refusal
} Refusals;

enum { REFUSALS_MOST = 1000 }; // different ones that are kept

void refusals_init(Refusals *r);
void refusals_release(Refusals *r);

const char *refused_kind_name(RefusedKind kind);
// `like->what`, `script` and `request` are copied.
void refusals_add(Refusals *r, const Refusal *like);

// How the user may allow it: "--allow-connect 3306"; "": that cannot be.
void refusal_remedy(const Refusal *r, Str *out);

#endif
