// Makes requests of an exploration once more, each in the state that it was made
// in, and gives their runs away instead of storing them: a closer look
// (look/web_look.h).
#ifndef CULPRIT_EXPLORE_REQUEST_AGAIN_H
#define CULPRIT_EXPLORE_REQUEST_AGAIN_H

#include <stddef.h>
#include <stdint.h>

#include "explore/app_driver.h"
#include "explore/explorer.h"
#include "run/visits.h"
#include "util/err.h"

// One of them, by a driver of the caller's: brings the application into its
// state; sends it there. -1 also if there is no such request.
int request_again_go(const Explorer *e, AppDriver *d, uint32_t number,
                     Err *err);
int request_again_send(const Explorer *e, AppDriver *d, uint32_t number,
                       Answer *out, Arena *arena, Err *err);

// `v`: the settings, with a taker; `maps`: directory for maps of scripts, which
// exists. Requests by number, in this order. One worker makes them all.
int request_again(const Explorer *e, const Visits *v, const char *maps,
                  const uint32_t *numbers, size_t n, Err *err);

#endif
