// One request and its response over a connection to a FastCGI process. Sends
// and receives at the same time (an application may answer before it has read
// all), and watches the process and the clock. The process is not trusted.
#ifndef CULPRIT_PHP_TALK_H
#define CULPRIT_PHP_TALK_H

#include "php/page.h"
#include "util/err.h"

typedef enum {
  TALK_DONE,   // a complete response
  TALK_BROKEN, // the connection ended before that, or the process did
  TALK_FALSE,  // what came is not FastCGI: the message says how
  TALK_LATE
} TalkEnd;

typedef struct {
  int connection; // not blocking
  int pidfd;
  const Str *pairs; // FastCGI's parameters
  const char *body;
  size_t body_len;
  double deadline; // by clock_now
  Page *page;      // begun; gets the answer
  bool reusable;   // set: the connection may carry another request
} Talk;

TalkEnd talk(Talk *t, Err *err);

#endif
