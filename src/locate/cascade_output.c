// cascade+o: the default method of `culprit web`. As cascade, with the lines
// first that wrote what the oracle blames in the page, or that built and sent a
// failed query. Requests that only show other failures count as passing: where
// every page has some fault there is nothing else to compare with.
#include "locate/localizer.h"
#include "locate/outmap.h"
#include "locate/spectrum.h"
#include "util/mem.h"

static void note_ties(Ranking *r) {
  const Suspect *s = r->suspects.items;
  if (r->suspects.len && s->rank > 1)
    ranking_note(r, "ties",
                 mem_printf("the first %u lines tie: nothing tells them apart, "
                            "not even their distance to what is blamed",
                            s->rank));
}

// A script that dies while PHP declares its class has executed no statement:
// lines that only passing runs executed are no suspects.
static void drop_unexecuted(Ranking *r) {
  for (size_t i = 0; i < r->suspects.len; i++)
    if (r->suspects.items[i].ef)
      return;
  for (size_t i = 0; i < r->suspects.len; i++)
    suspect_release(&r->suspects.items[i]);
  r->suspects.len = 0;
}

static void raise_blamed(const OpenLocalizer *l, Ranking *r) {
  if (l->options.by != ENTITY_STATEMENT)
    return;
  outmap_raise(l->state, l->session->suite, r);
  spectrum_order(l->spectrum, r);
  drop_unexecuted(r);
  note_ties(r);
  outmap_explain(l->state, l->session->suite, r, l->options.explain);
}

const Localizer cascade_output_localizers[] = {
    {.name = "cascade+o",
     .doc = "cascade, with the lines first that wrote what the oracle blames",
     .scope = FOR_PHP,
     .all_kinds = 1u << ENTITY_STATEMENT,
     OUTMAP_STATE,
     .formula = formula_op2,
     .cascade = true,
     .others_pass = true,
     .adjust = raise_blamed},
    {0}};
