// Published numbers: see published.h.
#include "eval/published.h"

#include <math.h>
#include <string.h>

const double margins[MARGINS] = {1, 5, 10};

// Its Figure 2(b) as the text around it tells it, and its Table 2.
static const PublishedSpread spreads[] = {
    {"cp",
     {{24.50, 41.55, 48.2, 57.86, NAN}, 0.01, 93.55, 17.98, 11.67, 20.92}},
    {"tarantula",
     {{31.99, 33.18, 35.3, 42.03, NAN}, 0.01, 97.50, 19.63, 12.86, 22.47}},
    {"sbi",
     {{31.99, 32.45, NAN, 42.49, NAN}, 0.01, 97.50, 19.74, 12.48, 22.63}},
    {"jaccard",
     {{31.99, 32.90, NAN, 41.75, NAN}, 0.01, 97.50, 19.26, 12.48, 22.39}},
    {"cbi", {{8.54, 11.48, NAN, NAN, NAN}, 0.26, 100, 40.55, 40.74, 27.89}},
    {"sober", {{0, 0, NAN, NAN, NAN}, 2.97, 100, 42.96, 42.84, 23.98}},
};

const PublishedSpread *published_spreads(size_t *n) {
  *n = sizeof spreads / sizeof *spreads;
  return spreads;
}

// Its Table 3.
static const PublishedDifference differences[] = {
    {"tarantula",
     {42.72, 38.18, 28.18},
     {17.27, 37.27, 54.54},
     {40.00, 24.54, 17.27}},
    {"sbi",
     {43.63, 37.27, 28.18},
     {16.36, 39.09, 54.54},
     {40.00, 23.63, 17.27}},
    {"jaccard",
     {41.81, 36.36, 27.27},
     {17.27, 38.18, 54.54},
     {40.90, 25.45, 18.18}},
    {"cbi", {78.18, 72.72, 64.54}, {5.45, 14.54, 25.45}, {16.36, 12.72, 10.00}},
    {"sober", {86.36, 82.72, 74.54}, {1.81, 6.36, 16.36}, {11.81, 10.90, 9.09}},
};

const PublishedDifference *published_difference(const char *method) {
  for (size_t i = 0; i < sizeof differences / sizeof *differences; i++)
    if (!strcmp(differences[i].method, method))
      return &differences[i];
  return NULL;
}

static const PublishedGraph graphs[] = {
    {"nearest passing run (APG)", 35.5, 43.9},
    {"NN/Perm", NAN, 25.7},
    {"CT/relevance", NAN, 41.9},
    {"CT/infected", NAN, 41.8},
};

const PublishedGraph *published_graphs(size_t *n) {
  *n = sizeof graphs / sizeof *graphs;
  return graphs;
}
