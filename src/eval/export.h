// An evaluation as CSV (RFC 4180), for readers who want other tables than ours.
// No times in it: the same programs give the same file.
#ifndef CULPRIT_EVAL_EXPORT_H
#define CULPRIT_EVAL_EXPORT_H

#include "eval/evaluation.h"
#include "util/err.h"

// One row per fault and method, ablations included.
int export_faults(const Evaluation *e, const char *path, Err *err);
// One row per pair of methods, base and margin.
int export_pairs(const Evaluation *e, const char *path, Err *err);

#endif
