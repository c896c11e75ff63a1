// Pages that show a failure, kept beside the store for the HTML report: for
// each failure the page of its first request, with the lines that wrote it.
//
//   .culprit/made/SESSION/pages/HASH.body   the page; HASH: of the signature
//                               HASH.map    "test NAME", then a line per piece:
//                                           offset, length, kind, file:line
//
// Pages above KEPT_PAGE_MAX are not kept. A reader ignores pieces that do not
// fit the page.
#ifndef CULPRIT_RUN_KEPT_PAGE_H
#define CULPRIT_RUN_KEPT_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/run.h"
#include "php/record/php_record.h"
#include "store/store.h"
#include "util/array.h"
#include "util/err.h"
#include "util/str.h"

enum { KEPT_PAGE_MAX = 256 << 10 };

// Writes base.body, the page, and base.map: `head`, then a line per piece,
// "offset length kind file:line" with tabs between. `record` may be NULL.
int page_write(const char *base, const char *head, const char *body, size_t n,
               const PhpRecord *record, Err *err);

// For every failure of the run, unless an earlier request has shown it. Any
// thread may call it.
int kept_page_write(const Store *store, int64_t session, const Run *run,
                    const char *body, size_t n, const PhpRecord *record,
                    Err *err);

// A piece of a page that one line wrote.
typedef struct {
  size_t offset, length;
  char *file; // absolute path, "": unknown
  uint32_t line;
} KeptPiece;

typedef struct {
  char *test; // NULL: no page was kept
  Str body;
  ARRAY(KeptPiece) pieces; // ascending, without overlap
} KeptPage;

// Leaves `p` empty if there is none. Templates are split into lines.
void kept_page_read(KeptPage *p, const Store *store, int64_t session,
                    const char *signature);
void kept_page_release(KeptPage *p);

// Where in the page the line wrote this text; SIZE_MAX: nowhere.
size_t kept_page_find(const KeptPage *p, const char *file, uint32_t line,
                      const char *text);

#endif
