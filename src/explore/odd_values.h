// Odd values: what a visitor types into the address bar or pastes into a field.
// No comparison asks for them, but the application has to handle them.
//
//   view.php?id=3           id=987654321 (does not exist), no id at all
//   a text field            markup and quotes; two short words; a text that
//                           the database holds and a word of it, which a search
//                           finds; empty, with all other fields filled in
#ifndef CULPRIT_EXPLORE_ODD_VALUES_H
#define CULPRIT_EXPLORE_ODD_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "php/ask.h"
#include "php/record/term.h"
#include "util/hashmap.h"

typedef struct {
  Ask ask;
  const char *name; // of the value that is odd; "": several
  char kind;        // what is odd about it
} OddRequest;
typedef ARRAY(OddRequest) OddRequests;

enum { ODD_MOST = 40 }; // of one request

// Appends the request with one odd value each, and with markup in all texts.
// `text`: of the database; NULL: none.
void odd_requests(const Ask *a, const char *text, OddRequests *out,
                  Arena *arena);

// Should a value of this kind that has come up `times` before be tried again?
// Tries get rarer, so that they fall into different states. Texts of the
// database differ, so more of them are tried.
bool odd_is_due(char kind, uint64_t times);

// --- texts of the database --------------------------------------------------

enum { ODD_TEXTS_MOST = 64, ODD_TEXT_LEAST = 10, ODD_TEXT_LONGEST = 60 };

typedef struct {
  ARRAY(const char *) texts;
  Hashmap known;
  size_t next;
  Arena arena;
} OddTexts;

// Takes texts of several words from what the database answered to a request.
void odd_texts_learn(OddTexts *t, const PhpShadows *shadows);
// For the checkpoint: a text that is kept if it is fit.
void odd_texts_add(OddTexts *t, const char *text, size_t n);
// One after the other, then again from the first; NULL: there are none.
const char *odd_texts_next(OddTexts *t);
void odd_texts_release(OddTexts *t);

#endif
