// Why a suspect is suspected, in sentences. Made only for what is shown: a
// ranking may have a hundred thousand suspects.
#ifndef CULPRIT_REPORT_EVIDENCE_H
#define CULPRIT_REPORT_EVIDENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/ranking.h"
#include "model/suite.h"
#include "tally/deaths.h"
#include "util/array.h"
#include "util/str.h"

typedef ARRAY(Evidence) EvidenceList;

// What the localizer left in the suspect, then
//   condition  "when `!x` is true: 2 of 2 failing, 0 of 5 passing runs": the
//   return     tuple that says most of the line (Suspect.teller), and the one
//              that carried the score, if one did
//   relation   "when `high` equals `limit` here: ...", "the value of `limit` set
//   pair       here is used at line 131 in 2 of 2 failing and ...", "the first
//   slice      wrong byte of the output depends on this line in ...": the same
//              of what a closer look saw
//   coverage   "2 of 2 failing, 1 of 5 passing runs": those that execute it
//   death      "1 run died here: SIGSEGV" (runs that show this failure)
//   compiled   "compiled to cache/3f.php:73", of a template's line
void evidence_gather(const Suite *suite, const Deaths *deaths, const Ranking *r,
                     const Suspect *s, EvidenceList *out);
void evidence_release(EvidenceList *list);

// The deaths at this place, as evidence.
// A death has the calls that led to it behind it, of the kind EVIDENCE_CALLER.
#define EVIDENCE_CALLER "caller"
void evidence_deaths(const Suite *suite, const Deaths *deaths, size_t failure,
                     const Entity *e, EvidenceList *out);
// The calls that led to the death of the first run that shows the failure.
void evidence_callers(const Suite *suite, const Deaths *deaths, size_t failure,
                      EvidenceList *out);

// "when `!x` is true", "when the call of f returns null", "line 12": what
// covering this entity means (conditions: model/condition.h). The column is
// given where the line has several that read the same.
void evidence_tuple(const Suite *suite, uint32_t entity, Str *out);

// The same as a sentence with the runs that cover it, of those that can tell:
// "when `!x` is true: 2 of 3 failing, 1 of 5 passing runs". Where only some runs
// were looked at, it says so.
void evidence_covers(const Suite *suite, const Ranking *r, uint32_t entity,
                     uint32_t ef, uint32_t ep, Str *out);
// A pair as its use sees it: "uses the value of `limit` set at line 87 in 15 of
// 15 failing and 3 of 120 passing runs".
void evidence_use(const Suite *suite, const Ranking *r, uint32_t pair,
                  uint32_t ef, uint32_t ep, Str *out);

// "2 of 3 failing, 1 of 5 passing runs".
void evidence_runs(const Ranking *r, uint32_t ef, uint32_t ep, Str *out);

#endif
