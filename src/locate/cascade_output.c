// cascade+o: the default method, with the lines first that wrote what the
// oracle blames in the output.
#include "locate/localizer.h"
#include "locate/outmap.h"
#include "locate/spectrum.h"

static void raise_blamed(const OpenLocalizer *l, Ranking *r) {
  if (l->options.by != ENTITY_STATEMENT)
    return;
  outmap_raise(l->state, l->session->suite, r);
  spectrum_order(l->spectrum, r);
  outmap_explain(l->state, l->session->suite, r, l->options.explain);
}

const Localizer cascade_output_localizers[] = {
    {.name = "cascade+o",
     .doc = "cascade; first the lines that wrote what the oracle blames",
     .scope = FOR_PHP,
     .all_kinds = 1u << ENTITY_STATEMENT,
     OUTMAP_STATE,
     .formula = formula_op2,
     .cascade = true,
     .adjust = raise_blamed},
    {0}};
