// Collects the faults of one page: drops those whose key is off, keeps the
// number of faults and places in bounds, sorts them at the end.
#ifndef CULPRIT_ORACLE_HTML_HTML_FAULT_H
#define CULPRIT_ORACLE_HTML_HTML_FAULT_H

#include "oracle/html/html_check.h"
#include "util/array.h"

// In the order of html_keys.
typedef enum {
  UNCLOSED_ELEMENT,
  STRAY_END_TAG,
  MISMATCHED_END_TAG,
  MISNESTED_TAGS,
  TRUNCATED_PAGE,
  BLOCK_IN_P,
  NESTED_ELEMENT,
  MISPLACED_ELEMENT,
  CONTENT_IN_TABLE,
  CONTENT_IN_HEAD,
  CONTENT_BEFORE_PAGE,
  CONTENT_AFTER_PAGE,
  DUPLICATE_ELEMENT,
  DUPLICATE_ID,
  DUPLICATE_ATTRIBUTE,
  UNKNOWN_TAG,
  SELF_CLOSING_TAG,
  UNFINISHED_TAG,
  UNCLOSED_QUOTE,
  STRAY_QUOTE,
  UNCLOSED_COMMENT,
  UNESCAPED_LT,
  UNKNOWN_REFERENCE,
  SERVER_CODE,
  NULL_CHARACTER,
  BAD_VALUE,
  NO_DOCTYPE,
  NESTED_COMMENT,
  ENTITY_SEMICOLON,
  ATTRIBUTE_SPACE,
  OBSOLETE_TAG,
  FORM_IN_TABLE,
  BAD_LIST_CHILD,
  TIDY_OTHER,
  RULES,
} HtmlRule;

typedef struct {
  const char *page;
  size_t len;
  Arena *arena;
  bool on[RULES];
  ARRAY(HtmlFault) list;
} Faults;

// Which rules are on. Fails on a key that is none.
int faults_init(Faults *f, const char *page, size_t len, const HtmlOptions *o,
                Arena *arena, Err *err);

enum { NO_FAULT = -1 };

// Adds a fault and gives its number, or NO_FAULT if its rule is off or there
// are too many. `element` is copied, `message` must be a constant.
long faults_add(Faults *f, HtmlRule rule, const char *element,
                const char *message);
// Adds a place to fault `n`, which may be NO_FAULT; `what` is a constant.
void faults_place(Faults *f, long n, size_t offset, size_t length,
                  const char *what);
// The same, before all others.
void faults_place_first(Faults *f, long n, size_t offset, size_t length,
                        const char *what);
// A fault with one place.
long faults_add_at(Faults *f, HtmlRule rule, const char *element,
                   const char *message, size_t offset, size_t length,
                   const char *what);
// The place of what is missing when the page ends: its last visible byte.
void faults_place_end(Faults *f, long n);

// Sorted by first place, without those marked as dropped (no places).
void faults_finish(Faults *f, HtmlFault **out, size_t *n);
// Frees what is not in the arena.
void faults_release(Faults *f);

#endif
