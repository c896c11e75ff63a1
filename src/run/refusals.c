// What a confined application was not let do: see refusals.h.
#include "run/refusals.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

void refusals_init(Refusals *r) {
  *r = (Refusals){0};
  pthread_mutex_init(&r->lock, NULL);
}

void refusals_release(Refusals *r) {
  for (size_t i = 0; i < r->list.len; i++) {
    free(r->list.items[i].what);
    free(r->list.items[i].script);
    free(r->list.items[i].request);
  }
  array_release(&r->list);
  pthread_mutex_destroy(&r->lock);
}

const char *refused_kind_name(RefusedKind kind) {
  static const char *const names[] = {[REFUSED_CONNECT] = "connect",
                                      [REFUSED_SIGNAL] = "signal",
                                      [REFUSED_WRITE] = "write"};
  return names[kind];
}

static Refusal *find(Refusals *r, const Refusal *like) {
  for (size_t i = 0; i < r->list.len; i++)
    if (!strcmp(r->list.items[i].kind, like->kind) &&
        !strcmp(r->list.items[i].what, like->what))
      return &r->list.items[i];
  return NULL;
}

void refusals_add(Refusals *r, const Refusal *like) {
  pthread_mutex_lock(&r->lock);
  Refusal *known = find(r, like);
  if (known)
    known->times += like->times;
  else if (r->list.len < REFUSALS_MOST)
    array_push(&r->list, ((Refusal){.kind = like->kind,
                                    .what = mem_strdup(like->what),
                                    .script = mem_strdup(like->script),
                                    .request = mem_strdup(like->request),
                                    .times = like->times}));
  pthread_mutex_unlock(&r->lock);
}

// "127.0.0.1:3306", "[::1]:3306": what stands behind the last colon. A path of
// a Unix socket has no port.
static const char *port_of(const char *what) {
  const char *colon = strrchr(what, ':');
  if (*what == '/' || *what == '@' || !colon || !colon[1] ||
      colon[1 + strspn(colon + 1, "0123456789")])
    return NULL;
  return colon + 1;
}

void refusal_remedy(const Refusal *r, Str *out) {
  const char *port = !strcmp(r->kind, "connect") ? port_of(r->what) : NULL;
  const char *slash = strrchr(r->what, '/');
  if (port)
    str_addf(out, "--allow-connect %s", port);
  else if ((!strcmp(r->kind, "connect") || !strcmp(r->kind, "write")) &&
           slash && slash > r->what)
    str_addf(out, "--allow-write %.*s", (int)(slash - r->what), r->what);
}
