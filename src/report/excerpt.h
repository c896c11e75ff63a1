// A source line as it is shown, with a caret under the columns meant:
//
//   text:   count = block_queue + 1;
//   caret:        ^~~~~~~~~~~~~~~~
//
// Tabs become spaces (stops every 8 columns), what must not reach a terminal is
// escaped, and of a long line the part around the caret is shown. Limit: wide
// and combining characters count as one column.
#ifndef CULPRIT_REPORT_EXCERPT_H
#define CULPRIT_REPORT_EXCERPT_H

#include <stddef.h>
#include <stdint.h>

#include "util/str.h"

// Columns are bytes, counted from 1, as compilers count; the last one is
// stretched to the end of its word. 0, or a column beyond the line: no caret.
// Appends at most about `width` columns to `text`, and to `caret` unless there
// is none.
void excerpt_render(const char *line, size_t n, uint32_t col_lo,
                    uint32_t col_hi, size_t width, Str *text, Str *caret);

#endif
