// The FastCGI wire format, client side: one request at a time (its id is 1) on
// one connection. Only bytes in memory; the socket is worker.c's.
//
//   Str out = {0}, pairs = {0};
//   fcgi_begin(&out);
//   fcgi_pair(&pairs, "SCRIPT_FILENAME", "/srv/index.php");
//   fcgi_params(&out, &pairs);
//   ... and the body: records of fcgi_record and its bytes, an empty one last
//
//   FcgiReader r = {0};
//   fcgi_feed(&r, bytes, n, &used, &sink, err);    until r.ended
//
// The other side is not trusted: any bytes either are read within bounds or
// refused with a message.
#ifndef CULPRIT_PHP_FASTCGI_H
#define CULPRIT_PHP_FASTCGI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/err.h"
#include "util/str.h"

enum {
  FCGI_RECORD = 8,       // bytes of a record's header
  FCGI_CONTENT = 0xfff8, // most we put behind one
};

// --- what we send -----------------------------------------------------------

// Opens a request; the connection stays for the next one.
void fcgi_begin(Str *out);
void fcgi_pair(Str *pairs, const char *name, const char *value);
// All pairs, and the end of them.
void fcgi_params(Str *out, const Str *pairs);
// The header of a piece of the body, n <= FCGI_CONTENT bytes; 0: its end.
void fcgi_record(unsigned char header[FCGI_RECORD], size_t n);

// --- what comes back --------------------------------------------------------

typedef struct {
  void *context;
  void (*output)(void *context, const char *bytes, size_t n);
  void (*errors)(void *context, const char *bytes, size_t n);
} FcgiSink;

typedef struct {
  unsigned char header[FCGI_RECORD], end[8];
  size_t have;             // bytes of the header
  size_t content, padding; // of the record that are still to come
  size_t taken;            // of its content
  bool ended;              // the request came to its end
  uint8_t refused;         // and was not served: FastCGI's protocolStatus
  uint32_t status;         // the application's
} FcgiReader;

// Takes bytes up to the end of the request; *used says how many. Content goes
// to the sink as it comes, piece by piece.
int fcgi_feed(FcgiReader *r, const char *bytes, size_t n, size_t *used,
              const FcgiSink *sink, Err *err);

#endif
