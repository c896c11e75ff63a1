// What HTML says about each element by itself: has it an end tag, may that be
// left out, does it end a paragraph.
#ifndef CULPRIT_ORACLE_HTML_HTML_ELEMENT_H
#define CULPRIT_ORACLE_HTML_HTML_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>

enum {
  VOID = 1 << 0,     // has no content and no end tag: br
  OPTIONAL = 1 << 1, // its end tag may be left out: li
  RAW = 1 << 2,      // its content is text up to its end tag: script
  INLINE = 1 << 3,   // part of a sentence; holds no blocks (but <a> may)
  BLOCK = 1 << 4,    // its start tag ends an open paragraph: div
  HEADING = 1 << 5,  // h1 to h6
  SCOPE = 1 << 6,    // what it holds does not end what is around it: td
  INHEAD = 1 << 7,   // may be in <head>
  TABULAR = 1 << 8,  // table, tbody, tr: holds only parts of tables
  OBSOLETE = 1 << 9,
};

// Numbers of the elements in html_element.def; those of other names follow.
typedef enum {
#define E(ID, name, flags) EL_##ID,
#include "oracle/html/html_element.def"
#undef E
  EL_COUNT,
} Element;

typedef struct {
  const char *name;
  unsigned flags;
} ElementInfo;

extern const ElementInfo element_info[EL_COUNT];

// The number of a name in lower case; EL_COUNT: HTML knows no such element.
size_t element_find(const char *name, size_t len);

// 0 for those HTML does not know.
static inline unsigned element_flags(size_t element) {
  return element < EL_COUNT ? element_info[element].flags : 0;
}

static inline bool element_is(size_t element, unsigned flag) {
  return (element_flags(element) & flag) != 0;
}

#endif
