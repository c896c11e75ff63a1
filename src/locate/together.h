// One fault with several symptoms: is there a line that explains all failures?
// Failures are told apart by what they print, and one fault may print several
// things. So all failing runs are ranked together, too. That ranking counts if
// its first line was executed by every failing run and is among the first of
// each failure's own ranking.
#ifndef CULPRIT_LOCATE_TOGETHER_H
#define CULPRIT_LOCATE_TOGETHER_H

#include "locate/localizer.h"

// Ranks all failures together into `out`, whose `failure` is then
// suite->nfailures: the group of all failing runs, which is added behind the
// others. *found = false, and nothing in `out`: no line explains all of them,
// or there are fewer than two failures.
int together_rank(const OpenLocalizer *l, Suite *suite, Ranking *out,
                  bool *found, Err *err);

#endif
