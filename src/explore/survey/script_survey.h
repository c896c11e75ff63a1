// All PHP scripts of an application and how many statements each has, whether a
// request reaches it or not.
#ifndef CULPRIT_EXPLORE_SURVEY_SCRIPT_SURVEY_H
#define CULPRIT_EXPLORE_SURVEY_SCRIPT_SURVEY_H

#include <stdbool.h>
#include <stddef.h>

#include "model/entity.h"
#include "php/worker.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/err.h"

enum { SURVEY_SCRIPTS = 5000 }; // at most

typedef struct {
  const char *path; // below the root, with its slash
  bool compiled;    // else it is wrong, or there was no time for it
  bool ran;         // script_survey_take
  UnitId unit;
  size_t statements;
} SurveyedScript;

typedef struct {
  ARRAY(SurveyedScript) scripts; // by path
  size_t statements;             // of all
  size_t left_out;               // scripts beyond SURVEY_SCRIPTS
  const char *hashes;            // the first that hashes passwords; NULL: none,
  unsigned hash_line;            // there,
  const char *hash_function;     // by this function
  Arena arena;
} ScriptSurvey;

// Lists the scripts below `root` and lets the worker compile them; its maps go
// to `maps`.
int script_survey_make(ScriptSurvey *s, const char *root, Worker *worker,
                       const char *maps, double seconds, Err *err);
// A request has executed the unit. False: it is not one of the scripts. PHP may
// compile a script otherwise once others are loaded (a constant is defined, the
// parent of a class is known); then what ran counts.
bool script_survey_take(ScriptSurvey *s, const char *root, const Unit *unit);
void script_survey_release(ScriptSurvey *s);

#endif
