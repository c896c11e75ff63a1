// Suspiciousness formulas: see formula.h.
#include "tally/formula.h"

#include <math.h>
#include <string.h>

static double ratio(double a, double b) { return b > 0 ? a / b : 0; }

static double failing(Counts c) { return (double)c.ef + c.nf; }
static double passing(Counts c) { return (double)c.ep + c.np; }
static double executed(Counts c) { return (double)c.ef + c.ep; }

static double tarantula(Counts c) {
  double f = ratio(c.ef, failing(c)), p = ratio(c.ep, passing(c));
  return ratio(f, f + p);
}

double formula_ochiai(Counts c) {
  return ratio(c.ef, sqrt(failing(c) * executed(c)));
}

static double jaccard(Counts c) { return ratio(c.ef, failing(c) + c.ep); }

static double dice(Counts c) {
  return ratio(2.0 * c.ef, c.ef + failing(c) + c.ep);
}

static double sbi(Counts c) { return ratio(c.ef, executed(c)); }

// Nothing below the line means executed by all failing runs and by no passing
// one. There it counts as 1/2: the score is finite, and twice what any other
// entity of the same failure can reach, so that no tolerance blurs it.
static double dstar(Counts c) {
  return (double)c.ef * c.ef / fmax((double)c.ep + c.nf, 0.5);
}

double formula_op2(Counts c) { return c.ef - c.ep / (passing(c) + 1); }

static double wong2(Counts c) { return (double)c.ef - c.ep; }

// As wong2, but the first few passing runs weigh most.
static double wong3(Counts c) {
  double p = c.ep;
  if (c.ep > 10)
    p = 2.8 + 0.001 * (c.ep - 10.0);
  else if (c.ep > 2)
    p = 2 + 0.1 * (c.ep - 2.0);
  return c.ef - p;
}

static double kulczynski2(Counts c) {
  return 0.5 * (ratio(c.ef, failing(c)) + ratio(c.ef, executed(c)));
}

static double m2(Counts c) {
  return ratio(c.ef, (double)c.ef + c.np + 2 * ((double)c.nf + c.ep));
}

static double ample(Counts c) {
  return fabs(ratio(c.ef, failing(c)) - ratio(c.ep, passing(c)));
}

static double gp13(Counts c) {
  return c.ef * (1 + ratio(1, 2.0 * c.ep + c.ef));
}

static double zoltar(Counts c) {
  if (!c.ef)
    return 0;
  return c.ef / (failing(c) + c.ep + 1e4 * c.nf * c.ep / c.ef);
}

static const FormulaInfo formulas[] = {
    {"tarantula", tarantula, "(ef/F) / (ef/F + ep/P)"},
    {"ochiai", formula_ochiai, "ef / sqrt(F * (ef+ep))"},
    {"jaccard", jaccard, "ef / (F + ep)"},
    {"sbi", sbi, "ef / (ef+ep)"},
    {"dstar", dstar, "ef^2 / (ep+nf)"},
    {"op2", formula_op2, "ef - ep / (P+1)"},
    {"barinel", sbi, "1 - ep / (ep+ef), which is sbi"},
    {"wong2", wong2, "ef - ep"},
    {"wong3", wong3, "ef - h(ep), h growing ever more slowly"},
    {"kulczynski2", kulczynski2, "(ef/F + ef/(ef+ep)) / 2"},
    {"m2", m2, "ef / (ef + np + 2*(nf+ep))"},
    {"ample", ample, "|ef/F - ep/P|"},
    {"gp13", gp13, "ef * (1 + 1/(2*ep+ef))"},
    {"zoltar", zoltar, "ef / (F + ep + 10000*nf*ep/ef)"},
    {"dice", dice, "2*ef / (ef + F + ep)"},
};
enum { NFORMULAS = sizeof formulas / sizeof *formulas };

const FormulaInfo *formula_table(size_t *n) {
  *n = NFORMULAS;
  return formulas;
}

const FormulaInfo *formula_find(const char *name) {
  for (size_t i = 0; i < NFORMULAS; i++)
    if (!strcmp(name, formulas[i].name))
      return &formulas[i];
  return NULL;
}

double confidence_of(Counts c) {
  return fmax(ratio(c.ef, failing(c)), ratio(c.ep, passing(c)));
}
