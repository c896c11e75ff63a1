// Localization by output: a line that wrote what the oracle blames is
// suspected. The six techniques of Artzi et al. 2010 ("Practical fault
// localization for dynamic web applications").
//
//   S_tar   Tarantula of the line; TC: also of each condition outcome on it,
//           and the line takes the maximum
//   S_map   1 if the line wrote a place of the output that the failure's oracle
//           blames, in any run that shows the failure, else 0
//   t       S_tar                     o      S_map
//   t+o     1.1 where S_map = 1 and S_tar > 0.5, else S_tar
//   tc, tc+o  the same with conditions
//           among equal scores the line that the interpreter names when the
//           script dies comes first (the paper's failures name no faulty line)
//   tcoro   S_map where the oracle names places (HTML failures), else TC
//
//   view.php    one passing and one failing visit  S_tar  S_map  t+o
//   12 print "<H1>Administrative "                  1.0    0      1.0
//   18 print "<H2>Administrative Details\n"         1.0    1      1.1
//   25 print "</BODY>\n"                            0.5    1      0.5
//
// The default method (cascade+o) also uses the places of texts that were
// printed elsewhere, and of failed queries (PlaceRole); the six techniques do
// not, as published.
#ifndef CULPRIT_LOCATE_OUTMAP_H
#define CULPRIT_LOCATE_OUTMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "locate/session_evidence.h"
#include "model/ranking.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/err.h"

// A place in the output of one run that one failure is about.
typedef struct {
  uint32_t run;
  const char *signature; // of the failure
  uint32_t statement;    // entity that wrote it
  uint32_t line;         // exact line
  PlaceRole role;
  bool aside; // not the main place: where an element should have been closed
  const char *what, *excerpt;
} PlaceAt;

typedef struct {
  ARRAY(PlaceAt) items; // by run; of one failure the main place first
  Arena arena;
} OutputPlaces;

// What to put into a Localizer whose state is an OutputPlaces.
#define OUTMAP_STATE                                                           \
  .state_size = sizeof(OutputPlaces), .open = outmap_open, .close = outmap_close

int outmap_open(void *state, SessionEvidence *s, Err *err);
void outmap_close(void *state);
// The places of the session, loaded by the first call. NULL: that failed.
const OutputPlaces *outmap_places(SessionEvidence *s, Err *err);

// Is this place one of failure `failure` of the suite?
bool place_shows(const Suite *suite, const PlaceAt *p, size_t failure);

// Puts the lines of a ranking that wrote what the oracle blames above all
// others: adds to their scores what makes them higher. Lines that hold it come
// first, then those that printed it or hold the rest of a failed query, then
// those that sent it; the order among these stays. A line that is not executed
// more often in failing than in passing runs stays where it is, unless it holds
// the text and all failing runs execute it.
// Sets how near the others are to a place, or to the line that a message of PHP
// names, which breaks ties.
void outmap_raise(const OutputPlaces *p, const Suite *suite, Ranking *r);
// Sets the line to be looked at of all statements that have a place: the one
// that holds what is blamed.
void outmap_lines(const OutputPlaces *p, const Suite *suite, Ranking *r);
// Says of the first `top` suspects what they wrote.
void outmap_explain(const OutputPlaces *p, const Suite *suite, Ranking *r,
                    size_t top);

#endif
