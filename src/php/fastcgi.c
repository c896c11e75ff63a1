// The FastCGI wire format: see fastcgi.h. Numbers are big endian.
#include "php/fastcgi.h"

#include <string.h>

enum {
  VERSION = 1,
  REQUEST = 1, // the id of the only request
  BEGIN = 1,
  END = 3,
  PARAMS = 4,
  STDIN = 5,
  STDOUT = 6,
  STDERR = 7,
  RESPONDER = 1,
  KEEP_CONNECTION = 1,
};

// --- what we send -----------------------------------------------------------

static void put_header(unsigned char h[FCGI_RECORD], int type, size_t n) {
  h[0] = VERSION;
  h[1] = (unsigned char)type;
  h[2] = 0;
  h[3] = REQUEST;
  h[4] = (unsigned char)(n >> 8);
  h[5] = (unsigned char)n;
  h[6] = h[7] = 0; // no padding
}

static void add_record(Str *out, int type, const char *bytes, size_t n) {
  unsigned char h[FCGI_RECORD];
  put_header(h, type, n);
  str_addn(out, h, sizeof h);
  if (n)
    str_addn(out, bytes, n);
}

void fcgi_begin(Str *out) {
  static const char body[8] = {0, RESPONDER, KEEP_CONNECTION};
  add_record(out, BEGIN, body, sizeof body);
}

// One byte below 128, else four with the highest bit set.
static void add_length(Str *s, size_t n) {
  unsigned char b[4] = {(unsigned char)(n >> 24 | 0x80),
                        (unsigned char)(n >> 16), (unsigned char)(n >> 8),
                        (unsigned char)n};
  if (n < 128)
    str_addc(s, (char)n);
  else
    str_addn(s, b, sizeof b);
}

void fcgi_pair(Str *pairs, const char *name, const char *value) {
  size_t n = strlen(name), m = strlen(value);
  add_length(pairs, n);
  add_length(pairs, m);
  str_addn(pairs, name, n);
  str_addn(pairs, value, m);
}

void fcgi_params(Str *out, const Str *pairs) {
  for (size_t at = 0; at < pairs->len;) {
    size_t n = pairs->len - at;
    if (n > FCGI_CONTENT)
      n = FCGI_CONTENT;
    add_record(out, PARAMS, pairs->data + at, n);
    at += n;
  }
  add_record(out, PARAMS, NULL, 0);
}

void fcgi_record(unsigned char header[FCGI_RECORD], size_t n) {
  put_header(header, STDIN, n);
}

// --- what comes back --------------------------------------------------------

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

static int check_header(FcgiReader *r, Err *err) {
  const unsigned char *h = r->header;
  unsigned id = (unsigned)h[2] << 8 | h[3];
  r->content = (size_t)h[4] << 8 | h[5];
  r->padding = h[6];
  r->taken = 0;
  if (h[0] != VERSION)
    return err_set(err, "not FastCGI: record version %u instead of %u", h[0],
                   VERSION);
  if (id > REQUEST)
    return err_set(err, "FastCGI answer to a request %u that was not made", id);
  if (id == REQUEST && h[1] == END && r->content < sizeof r->end)
    return err_set(err, "FastCGI end record of %zu bytes instead of 8",
                   r->content);
  return 0;
}

static int take_header(FcgiReader *r, const char **p, size_t *n, Err *err) {
  size_t want = smaller(FCGI_RECORD - r->have, *n);
  memcpy(r->header + r->have, *p, want);
  r->have += want;
  *p += want;
  *n -= want;
  return r->have == FCGI_RECORD ? check_header(r, err) : 0;
}

static void take_end(FcgiReader *r, const char *p, size_t n) {
  if (r->taken < sizeof r->end)
    memcpy(r->end + r->taken, p, smaller(n, sizeof r->end - r->taken));
}

static void take_content(FcgiReader *r, const char **p, size_t *n,
                         const FcgiSink *sink) {
  size_t want = smaller(r->content, *n);
  bool ours = r->header[3] == REQUEST;
  if (want && ours && r->header[1] == STDOUT)
    sink->output(sink->context, *p, want);
  else if (want && ours && r->header[1] == STDERR)
    sink->errors(sink->context, *p, want);
  else if (want && ours && r->header[1] == END)
    take_end(r, *p, want);
  r->taken += want;
  r->content -= want;
  *p += want;
  *n -= want;
}

static void finish_record(FcgiReader *r) {
  const unsigned char *e = r->end;
  r->have = 0;
  if (r->header[1] != END || r->header[3] != REQUEST)
    return;
  r->ended = true;
  r->refused = e[4];
  r->status =
      (uint32_t)e[0] << 24 | (uint32_t)e[1] << 16 | (uint32_t)e[2] << 8 | e[3];
}

int fcgi_feed(FcgiReader *r, const char *bytes, size_t n, size_t *used,
              const FcgiSink *sink, Err *err) {
  const char *p = bytes;
  int rc = 0;
  while (n && !r->ended && !rc) {
    if (r->have < FCGI_RECORD)
      rc = take_header(r, &p, &n, err);
    if (rc || r->have < FCGI_RECORD)
      break;
    take_content(r, &p, &n, sink);
    size_t pad = r->content ? 0 : smaller(r->padding, n);
    r->padding -= pad;
    p += pad;
    n -= pad;
    if (!r->content && !r->padding)
      finish_record(r);
  }
  *used = (size_t)(p - bytes);
  return rc;
}
