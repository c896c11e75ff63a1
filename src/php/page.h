// The response of a CGI program as it arrives: headers, an empty line, the
// body. Bytes beyond the limits are dropped and noted, so that an endless page
// needs no endless memory.
#ifndef CULPRIT_PHP_PAGE_H
#define CULPRIT_PHP_PAGE_H

#include "php/request.h"
#include "util/str.h"

enum {
  PAGE_HEADERS = 256 << 10, // bytes of headers that are kept
  PAGE_ERRORS = 1 << 20,    // bytes of error output that are kept
};

typedef struct {
  Str head, body, errors;
  size_t max_body;
  bool in_body, cut;
} Page;

// Makes it empty again; keeps memory unless it is much.
void page_begin(Page *p, size_t max_body);
void page_output(void *page, const char *bytes, size_t n);
void page_errors(void *page, const char *bytes, size_t n);
// Headers are read, everything is copied into the arena.
void page_settle(const Page *p, Response *out, Arena *arena);
void page_release(Page *p);

#endif
