// All PHP scripts of an application and how many statements each has, whether a
// request reaches it or not.
#ifndef CULPRIT_EXPLORE_SCRIPT_SURVEY_H
#define CULPRIT_EXPLORE_SCRIPT_SURVEY_H

#include <stdbool.h>
#include <stddef.h>

#include "model/entity.h"
#include "php/worker.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/err.h"
#include "util/hashmap.h"

enum { SURVEY_SCRIPTS = 5000 }; // at most

typedef struct {
  const char *path; // below the root, with its slash
  bool compiled;    // else it is wrong, or there was no time for it
  UnitId unit;
  size_t statements;
} SurveyedScript;

typedef struct {
  ARRAY(SurveyedScript) scripts; // by path
  Hashmap units;                 // -> number in `scripts`
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
// Is the unit one of them?
bool script_survey_has(const ScriptSurvey *s, const UnitId *unit);
void script_survey_release(ScriptSurvey *s);

#endif
