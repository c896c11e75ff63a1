// Asks Gumbo's HTML5 tree whether an element really is where the tags, as they
// were written, put it.
#ifndef CULPRIT_ORACLE_HTML_HTML_MODEL_H
#define CULPRIT_ORACLE_HTML_HTML_MODEL_H

#include "oracle/html/html_balance.h"

// Takes back the faults of b->doubts that the tree does not show.
void model_confirm(Balance *b, const char *page, size_t len);

#endif
