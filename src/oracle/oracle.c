// The table of oracles: see oracle.h.
#include "oracle/oracle.h"

#include <string.h>
#include <sys/stat.h>

#include "oracle/contract_failures.h"
#include "oracle/failure.h"
#include "oracle/kinds.h"
#include "oracle/sanitizer.h"

static const OracleKind kinds[] = {
    {"exit", NULL, SECOND_NONE, exit_check, exit_judge},
    {"reference", "--reference", SECOND_PROGRAM, reference_check,
     reference_judge},
    {"expect", "--expect", SECOND_NONE, expect_check, expect_judge},
    {"command", "--oracle", SECOND_SHELL, command_check, command_judge},
};

const OracleKind *oracle_find(const char *name) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (!strcmp(name, kinds[i].name))
      return &kinds[i];
  return NULL;
}

int oracle_check(const Oracle *o, Err *err) {
  return o->kind->check(o->arg, err);
}

// Files that we made and it wrote to: nothing else can be judged, and a FIFO
// in their place would never be read to its end.
static bool lost_output(const Trial *t) {
  struct stat out, err;
  return lstat(t->out, &out) || !S_ISREG(out.st_mode) ||
         (!t->merged && (lstat(t->err, &err) || !S_ISREG(err.st_mode)));
}

bool oracle_settled(const Trial *t, Run *run) {
  const Outcome *o = t->outcome;
  if (o->end == END_UNSTARTED) {
    run->verdict = VERDICT_ERROR;
    run_add_note(run, "%s", o->problem);
    return true;
  }
  if (lost_output(t)) {
    run->verdict = VERDICT_ERROR;
    run_add_note(run, "the test removed or replaced its output file");
    return true;
  }
  bool report = sanitizer_scan(t->err, t->root, run);
  if (t->merged)
    report = sanitizer_scan(t->out, t->root, run) || report;
  report |= contract_failed(run);
  // Both end the program by abort: that signal is no second failure.
  bool end = false;
  if (!report || o->end != END_SIGNAL)
    end = failure_add_end(run, o, t->root, t->timeout, t->max_output);
  if (report || end)
    run->verdict = VERDICT_FAIL;
  return report || end;
}

int oracle_judge(const Oracle *o, const Trial *t, Run *run, Err *err) {
  if (t->rules && !o->kind->option)
    return rules_judge(t->rules, t, run, err);
  return o->kind->judge(o->arg, t, run, err);
}
