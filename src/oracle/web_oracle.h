// The failures that a response shows: faults that PHP reported, at the
// severities the user chose; a worker that died or hung; a status of 500 and
// above; and, in a page, what the HTML oracle finds, with the lines that wrote
// it. A failed query has the lines that built and sent it, and so has a header,
// a cookie, a mail or a file that PHP complains about, and a status that a
// script set. A fatal error that follows from a failed query (nobody caught the
// exception, or its result is missing) is not a second failure. A page that a
// fatal error broke off is not checked as HTML; one that die() broke off may
// lack its end.
//
// Two failures are the same if kind, place and what is said are
// (fault_identity.h); of a page, the element and the line it comes from.
#ifndef CULPRIT_ORACLE_WEB_ORACLE_H
#define CULPRIT_ORACLE_WEB_ORACLE_H

#include <stdbool.h>

#include "model/run.h"
#include "oracle/html/html_check.h"
#include "oracle/text_origin.h"
#include "php/source/literals.h"
#include "php/record/php_record.h"
#include "php/worker.h"
#include "util/arena.h"
#include "util/err.h"

// What counts as a failure: 1u << PhpSeverity, and these.
enum {
  WEB_HTML = 1u << PHP_SEVERITIES, // pages that are no good HTML
  WEB_STATUS = WEB_HTML << 1,      // status 500 and above
  WEB_ALL = (WEB_STATUS << 1) - 1,
  // Warnings and below are left out: reading a form that was not sent is one.
  WEB_DEFAULT = 1u << PHP_FATAL | 1u << PHP_QUERY | WEB_HTML | WEB_STATUS
};

// "fatal,html", "all", "default,warning". -1: there is an unknown word in it.
int web_severities_parse(const char *text, unsigned *out);

typedef struct {
  unsigned severities;
  HtmlOptions html;
  const char *nu;   // the Nu checker's command: pages are shown to it as well;
                    // NULL: not asked
  const char *root; // places below it are named relative to it
  double timeout;   // that a hanging worker had
} WebOracle;

// Adds the failures to the run and sets its verdict. `record` may be NULL: a
// static file. `literals`: those of its scripts; NULL: not known.
int web_judge(const WebOracle *o, const Exchange *x, const PhpRecord *record,
              LiteralCache *literals, Run *run, Arena *arena, Err *err);

// The pieces of the page, with the places of templates instead of what was
// compiled from them.
const OutputPiece *web_shown_pieces(const PhpRecord *record,
                                    LiteralCache *literals, Arena *arena);

// The piece of the page that holds this byte; NULL: none does.
const OutputPiece *web_piece_at(const PhpRecord *record, size_t offset);
// The line that wrote this byte of the piece: in a template that of the byte.
uint32_t web_line_at(const OutputPiece *piece, const char *page, size_t offset);
// The line that holds this byte, or where it was put in as a value, if that can
// be told; else the line of the statement.
uint32_t web_exact_line(ExecutedText *x, const OutputPiece *piece,
                        const char *page, size_t offset);

#endif
