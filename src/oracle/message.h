// Why a test failed, in its own words: the lines of its output that say so, and
// the signature that groups failures which say the same.
//
//   half: 3 is not even at 0x5581      half: 5 is not even at 0x77a0
//   both:  half: N is not even at N
//
// A signature has no numbers (but those of lines behind a file name), quoted
// values, addresses, times or names of temporary files.
#ifndef CULPRIT_ORACLE_MESSAGE_H
#define CULPRIT_ORACLE_MESSAGE_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#include "util/str.h"

typedef struct {
  char *line;      // the one that says most
  char *text;      // with what is around it, at most five lines
  char *place;     // "file:line" named in it, or ""
  char *signature; // the line, normalised
} Message;

void message_release(Message *m);

// Finds the message in what a test wrote: on standard error every line may be
// one, elsewhere (`choosy`) only a line that sounds like a failure or an error.
// False: there is none.
bool message_find(const char *text, size_t n, bool choosy, Message *out);

// Does some line say that a test failed ("FAIL", "not ok", "assertion ...
// failed", "expected ... got ...")? `also`: what the user says does (may be
// NULL). Lines that sum up, and all that follow one, do not count.
bool message_says_failed(const char *text, size_t n, const regex_t *also);

// Where the first line that sums up begins ("3 of 9 tests failed"); n: there is
// none.
size_t message_summary(const char *text, size_t n);

// Does the line say by name that a test failed, as frameworks write it? Then
// *name is the test's (caller frees), *iteration which of its iterations it was
// (-1: not said).
bool message_names_failed(const char *line, char **name, long *iteration);

// Does the line say by name that a test was skipped? As above.
bool message_names_skipped(const char *line, char **name);

// What a line of TAP says.
typedef enum { TAP_NOTHING, TAP_OK, TAP_NOT_OK, TAP_SKIPPED } TapLine;
TapLine message_tap(const char *line);
// Which check such a line is about: "3 - parses nothing"; `number` if it has
// none. Caller frees.
char *message_tap_title(const char *line, size_t number);

// Calls `visit` with each line that is not blank, without colours, until it
// returns false.
void message_lines(const char *text, size_t n,
                   bool visit(void *context, const char *line), void *context);

// Does a line that sums up count failures ("fail: 1")?
bool message_counts_failures(const char *text, size_t n);

// Does some line say so that names a file and a line?
bool message_blames_place(const char *text, size_t n);

// The normalised form of a line is added to `out`.
void message_normalise(const char *line, Str *out);

#endif
