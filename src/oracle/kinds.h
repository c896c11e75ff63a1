// The oracles of the table in oracle.c, described in oracle.h.
#ifndef CULPRIT_ORACLE_KINDS_H
#define CULPRIT_ORACLE_KINDS_H

#include "oracle/oracle.h"

typedef int OracleCheck(const char *arg, Err *err);
typedef int OracleJudge(const char *arg, const Trial *t, Run *run, Err *err);

OracleJudge exit_judge, reference_judge, expect_judge, command_judge;
OracleCheck exit_check, reference_check, expect_check, command_check;

// Compares the run with what was expected of it (status < 0: any) and sets the
// verdict. `whom`: "the reference", for messages.
int judge_output(const Trial *t, const char *expected_out, int status,
                 const char *whom, Run *run, Err *err);

// A test that has rules of its own: rules.c.
int rules_judge(const TestRules *rules, const Trial *t, Run *run, Err *err);

#endif
