// Matches start and end tags and checks HTML's content model. After a fault,
// reading continues as if the author had not made it, so that it is not
// reported again under another name.
#ifndef CULPRIT_ORACLE_HTML_HTML_BALANCE_H
#define CULPRIT_ORACLE_HTML_HTML_BALANCE_H

#include "oracle/html/html_stack.h"

// A fault that counts only if the HTML5 tree of the page shows it as well: that
// the element at `offset` has none of `parents` around it.
typedef struct {
  long fault;
  size_t offset;
  const uint16_t *parents; // ends with EL_COUNT
} Doubt;

typedef struct {
  ElementStack stack;
  Faults *faults;
  const HtmlOptions *options;
  ARRAY(Doubt) doubts;
  Hashmap ids;             // value -> its number
  ARRAY(long) id_faults;   // by number of the id
  ARRAY(int32_t) id_first; // token that has it first
  long *unknown;           // per unknown element: the fault about it
  size_t depth;            // the most elements open at once
  bool fragment;           // no DOCTYPE, <html>, <head> or <body> anywhere
  bool doctype;
  // HtmlTokens, NO_TOKEN: not yet.
  int32_t content;  // the first thing to see
  int32_t page_end; // </body> or </html>
  int32_t first[3]; // <html>, <head>, <body>
  int32_t title;
  int32_t table_form; // a <form> directly in a table: it is closed anywhere
  int32_t unclosed_before; // where the last unclosed element should have been
  uint32_t unclosed_element;
  long unclosed_fault;
  int32_t stray; // the last stray end tag
  long stray_fault;
  bool page_end_reported, head_reported, before_reported, twice_reported;
  bool html_ended, body_ended;
} Balance;

// Reads all tokens. What it reports is in `faults`, what it doubts in
// b->doubts.
void balance_check(Balance *b, const HtmlTokens *tokens, Faults *faults,
                   const HtmlOptions *o);
void balance_release(Balance *b);

// --- for html_balance.c and html_content.c ----------------------------------

// A start tag, and a text.
void content_start(Balance *b, int32_t token);
void content_text(Balance *b, int32_t token);

// Reports that the element of the frame should have been closed before `token`
// (NO_TOKEN: before the end of the page).
void balance_unclosed(Balance *b, size_t frame, int32_t token);
// May its end tag be left out?
bool balance_may_stay_open(const Balance *b, const OpenElement *f);
// Adds the place of a token to a fault.
void balance_place(Balance *b, long fault, int32_t token, const char *what);
long balance_add(Balance *b, HtmlRule rule, int32_t token, const char *message,
                 const char *what);

#endif
