// What libtidy says about a page, by the keys of its messages.
#ifndef CULPRIT_ORACLE_HTML_HTML_TIDY_H
#define CULPRIT_ORACLE_HTML_HTML_TIDY_H

#include "oracle/html/html_balance.h"

// Adds faults for bad attribute values and, if that key is on, for all that
// libtidy finds and we do not look for ourselves.
void tidy_check(const Balance *b, const char *page, size_t len);

#endif
