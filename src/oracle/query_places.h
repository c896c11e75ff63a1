// Where a text comes from that was sent, and that a failure is about: a failed
// query, a header, a cookie, a mail, a file. These are the lines that hold what
// the message complains about, those that hold the rest of the text, the one
// that sent it and its callers.
//
//   You have an error in your SQL syntax; ... near 'ORDERBY price' at line 1
//   near "price": syntax error
//   Unknown column 'naem' in 'field list'
//   no such table: itme
//   file_put_contents(/no/such/file): Failed to open stream: ...
//   Header may not contain more than a single header, new line detected
//   ... headers already sent by (output started at /srv/app/head.php:1)
//
// The last one is about the line that it names, not about the header.
#ifndef CULPRIT_ORACLE_QUERY_PLACES_H
#define CULPRIT_ORACLE_QUERY_PLACES_H

#include "model/run.h"
#include "oracle/text_origin.h"
#include "php/record/php_record.h"

// Adds the places of a fault with a query, the most telling first.
void query_places(const PhpFault *f, ExecutedText *x, FailurePlaces *out);
// The same for a fault of a call that sends something (PhpFault.sent), or for
// the call that set the status of the response.
void sent_places(const PhpFault *f, const PhpRecord *record, ExecutedText *x,
                 FailurePlaces *out);

// Does the database complain about a name that no literal holds: was a value
// read as part of the statement?
bool query_blames_value(const PhpFault *f, ExecutedText *x);

// The literal that holds what the database complains about. False: none does.
bool query_blamed_literal(const PhpFault *f, ExecutedText *x, TextOrigin *out);

#endif
