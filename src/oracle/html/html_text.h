// Faults in the text of a page: a bare <, invalid character references.
#ifndef CULPRIT_ORACLE_HTML_HTML_TEXT_H
#define CULPRIT_ORACLE_HTML_HTML_TEXT_H

#include "oracle/html/html_fault.h"
#include "util/hashmap.h"

// Looks at page[start, end), which holds no tags. `known` remembers the names
// of entities already looked up.
void text_check(Faults *f, size_t start, size_t end, Hashmap *known);

#endif
