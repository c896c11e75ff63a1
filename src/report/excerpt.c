// A source line as it is shown: see excerpt.h.
#include "report/excerpt.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "util/escape.h"

enum { TAB = 8 };
static const char dots[] = "...";
enum { DOTS = sizeof dots - 1 };

static Glyph glyph_in_line(const char *s, size_t n, size_t column) {
  if (*s != '\t')
    return glyph_at(s, n);
  Glyph g = {.bytes = 1, .width = TAB - column % TAB};
  memset(g.text, ' ', g.width);
  return g;
}

// Where the bytes [lo, hi) of the line come to stand when shown.
typedef struct {
  size_t total, lo, hi; // columns from 0; hi is one past the end
} Layout;

static Layout lay_out(const char *line, size_t n, size_t lo, size_t hi) {
  Layout l = {0};
  for (size_t i = 0; i < n;) {
    Glyph g = glyph_in_line(line + i, n - i, l.total);
    if (lo >= i && lo < i + g.bytes)
      l.lo = l.total;
    l.total += g.width;
    if (hi > i && hi <= i + g.bytes)
      l.hi = l.total;
    i += g.bytes;
  }
  return l;
}

static size_t word_end(const char *line, size_t n, size_t at) {
  if (at < n && !isalnum((unsigned char)line[at]) && line[at] != '_')
    return at + 1;
  while (at < n && (isalnum((unsigned char)line[at]) || line[at] == '_'))
    at++;
  return at;
}

// Shows the columns [from, to) of the line.
static void add_text(const char *line, size_t n, size_t from, size_t to,
                     Str *text) {
  for (size_t i = 0, column = 0; i < n && column < to;) {
    Glyph g = glyph_in_line(line + i, n - i, column);
    if (column >= from && column + g.width <= to)
      str_add(text, g.text);
    else if (column + g.width > from) // cut through: keep the columns right
      for (size_t c = column; c < column + g.width; c++)
        if (c >= from && c < to)
          str_addc(text, ' ');
    column += g.width;
    i += g.bytes;
  }
}

static void add_caret(size_t lo, size_t hi, Str *caret) {
  for (size_t c = 0; c < lo; c++)
    str_addc(caret, ' ');
  for (size_t c = lo; c < hi; c++)
    str_addc(caret, c == lo ? '^' : '~');
}

void excerpt_render(const char *line, size_t n, uint32_t col_lo,
                    uint32_t col_hi, size_t width, Str *text, Str *caret) {
  while (n && isspace((unsigned char)line[n - 1]))
    n--;
  bool marked = col_lo && col_lo <= n;
  size_t last = col_hi >= col_lo && col_hi <= n ? col_hi : col_lo;
  size_t end = marked ? word_end(line, n, last - 1) : 0;
  Layout l = lay_out(line, n, marked ? col_lo - 1 : 0, end);
  size_t from = 0;
  if (l.total > width && l.hi > width - DOTS) // the caret must be seen
    from = l.lo > width / 3 ? l.lo - width / 3 : 0;
  size_t shift = from ? DOTS : 0;
  size_t to = from + width - shift;
  if (from)
    str_add(text, dots);
  if (to < l.total)
    to -= DOTS;
  add_text(line, n, from, to, text);
  if (to < l.total)
    str_add(text, dots);
  size_t hi = l.hi < to ? l.hi : to;
  if (marked && l.lo < hi)
    add_caret(l.lo - from + shift, hi - from + shift, caret);
}
