// What tells the faults that PHP reports apart: kind, place, and what is said.
// One faulty statement is one failure, whatever input shows it. Signatures are
// made of what stands in the source: numbers, quoted text, names from input and
// the text that a database quotes are taken out.
//
//   near 'Reilly'' at line 1 [SELECT * FROM t WHERE name='O'Reilly']
//     syntax error [SELECT * FROM t WHERE name='] (find.php:10)
//   Unknown column 'abc' in 'order clause' [SELECT * FROM t ORDER BY abc]
//     syntax error [SELECT * FROM t ORDER BY] (list.php:8)
//   Uncaught Exception: No account 4711
//     Uncaught Exception: No account ... (find.php:4)
//
// The place of a query that a wrapper sent is the caller's: the innermost call
// from a function that holds part of the query, or the one that passed part of it
// on. Likewise the place of an exception whose text is the caller's.
//
// Limits: where no literal of the query is found (the text was read from a
// file), the place is where the function that sent it was called.
#ifndef CULPRIT_ORACLE_FAULT_IDENTITY_H
#define CULPRIT_ORACLE_FAULT_IDENTITY_H

#include <stdint.h>

#include "oracle/text_origin.h"
#include "php/record/php_record.h"
#include "util/str.h"

typedef struct {
  const char *file; // absolute path, "": unknown
  uint32_t line;
  Str shape; // of what is said
} FaultIdentity;

// `query`: the fault whose query it is about, perhaps itself; or NULL.
// `request`: the request's line, with its input.
void fault_identity(const PhpFault *f, const PhpFault *query, ExecutedText *x,
                    const char *request, FaultIdentity *out);
void fault_identity_release(FaultIdentity *id);

// Is the fatal error a consequence of this failed query: an exception about it
// that nobody caught, or the use of its missing result?
bool fault_follows_query(const PhpFault *fatal, const PhpFault *query);

// The key of an HTML fault as signatures have it: the same wrong tag may show
// in several ways, depending on what comes after it.
const char *html_identity_key(const char *key);

#endif
