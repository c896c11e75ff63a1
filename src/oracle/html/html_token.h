// Reads a page into its tags, texts and comments, as HTML5's tokenizer does,
// with the byte offsets of each, and reports what is wrong with single tags:
// unclosed quotes and comments, attributes given twice, < in text.
//
// Where HTML5 would swallow half of the page (an unclosed quote, <title>
// without its end), reading goes on where the author meant the tag to end:
// one mistake is one fault.
#ifndef CULPRIT_ORACLE_HTML_HTML_TOKEN_H
#define CULPRIT_ORACLE_HTML_HTML_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "oracle/html/html_element.h"
#include "oracle/html/html_fault.h"
#include "util/array.h"
#include "util/hashmap.h"

typedef enum {
  TOKEN_START,
  TOKEN_END,
  TOKEN_TEXT, // with something to see in it
  TOKEN_DOCTYPE,
} HtmlTokenKind;

typedef struct {
  uint8_t kind;
  bool self_closing;       // <br/>
  bool hidden;             // type=hidden
  bool odd;                // a value of its attributes looks wrong
  bool broken;             // its attributes were reported already
  uint32_t element;        // Element, or a number from EL_COUNT on
  uint32_t offset, length; // the whole tag or text
  uint32_t id, id_length;  // the value of its id; length 0: none
} HtmlToken;

typedef struct {
  ARRAY(HtmlToken) list;
  ARRAY(const char *) names; // of the elements from EL_COUNT on
  bool swallowed;            // the end of the page is lost in a tag or comment
  bool xhtml;                // <div/> is closed
  bool odd;                  // one of them is
} HtmlTokens;

// The page is smaller than 2 GB. Names live in the arena of `faults`.
void tokens_read(HtmlTokens *t, const char *page, size_t len, Faults *faults);
void tokens_release(HtmlTokens *t);

// "" if the name is no plain word: page text that differs from page to page.
const char *tokens_name(const HtmlTokens *t, size_t element);

#endif
