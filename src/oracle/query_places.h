// Where a failed query comes from: the lines that hold what the database
// complains about, those that hold the rest of the query, the one that sent it
// and its callers.
//
//   You have an error in your SQL syntax; ... near 'ORDERBY price' at line 1
//   near "price": syntax error
//   Unknown column 'naem' in 'field list'
//   no such table: itme
#ifndef CULPRIT_ORACLE_QUERY_PLACES_H
#define CULPRIT_ORACLE_QUERY_PLACES_H

#include "model/run.h"
#include "oracle/text_origin.h"
#include "php/record/php_record.h"

// Adds the places of a fault with a query, the most telling first.
void query_places(const PhpFault *f, ExecutedText *x, FailurePlaces *out);

// Does the database complain about a name that no literal holds: was a value
// read as part of the statement?
bool query_blames_value(const PhpFault *f, ExecutedText *x);

// The literal that holds what the database complains about. False: none does.
bool query_blamed_literal(const PhpFault *f, ExecutedText *x, TextOrigin *out);

#endif
