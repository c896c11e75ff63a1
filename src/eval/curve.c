// The classical curves: see curve.h.
#include "eval/curve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/capture.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

static const Curve curves[] = {
    {"executed-by-fault", "Executed statements, by fault", OVER_EXECUTED,
     false},
    {"all-by-fault", "All executable statements, by fault", OVER_ALL, false},
    {"all-by-program", "All executable statements, by program", OVER_ALL, true},
};
enum { NCURVES = sizeof curves / sizeof *curves };

const Curve *curve_table(size_t *n) {
  *n = NCURVES;
  return curves;
}

// --- numbers ---------------------------------------------------------------

static double located_in(const Evaluation *e, const size_t *versions, size_t n,
                         const Curve *c, size_t method, double x) {
  static const FaultScore nothing;
  double *values = mem_array(double, n);
  for (size_t i = 0; i < n; i++) {
    const FaultScore *s = evaluation_score(e, versions[i], method);
    values[i] = examined(s ? s : &nothing, c->base, TIES_WORST);
  }
  double y = located(values, n, x);
  free(values);
  return y;
}

double curve_at(const Evaluation *e, const Curve *c, size_t method, double x) {
  double sum = 0;
  if (!c->by_subject)
    return located_in(e, e->kept, e->nkept, c, method, x);
  for (size_t i = 0; i < e->nsubjects; i++)
    sum += located_in(e, e->subjects[i].versions, e->subjects[i].nversions, c,
                      method, x);
  return sum / (double)e->nsubjects;
}

// In steps of 0.2 up to 20 %, where methods differ, then of 1.
static double x_at(size_t i) {
  return i <= 100 ? (double)i / 5 : (double)i - 80;
}
enum { POINTS = 181 };

static void put_points(const Evaluation *e, const Curve *c, FILE *out) {
  fputs("examined", out);
  for (size_t m = 0; m < e->methods->items.len; m++)
    if (evaluation_shows(e, m))
      fprintf(out, ",%s", e->methods->items.items[m].name);
  fputc('\n', out);
  for (size_t i = 0; i < POINTS; i++) {
    fprintf(out, "%g", x_at(i));
    for (size_t m = 0; m < e->methods->items.len; m++)
      if (evaluation_shows(e, m))
        fprintf(out, ",%.4f", curve_at(e, c, m, x_at(i)));
    fputc('\n', out);
  }
}

static int write_points(const Evaluation *e, const Curve *c, const char *dir,
                        Err *err) {
  char *path = mem_printf("%s/%s.csv", dir, c->name);
  FILE *out = fopen(path, "w");
  int rc = 0;
  if (out)
    put_points(e, c, out);
  if (!out || fclose(out))
    rc = err_set(err, "%s: %s", path, strerror(errno));
  free(path);
  return rc;
}

// --- pictures --------------------------------------------------------------

// Lines are told apart by marks and colours (Okabe and Ito's, for all eyes).
static const char style[] =
    "set datafile separator ','\n"
    "set grid lc rgb '#dddddd'\n"
    "set ylabel '% of faults located'\n"
    "set yrange [0:100]\n"
    "colors = '#000000 #D55E00 #0072B2 #009E73 #CC79A7 #E69F00 #56B4E9 "
    "#777777'\n";

static void add_plot(Str *s, const char *csv, size_t lines, const char *range,
                     const char *label) {
  str_addf(s, "set xrange %s\nset xlabel '%s'\n", range, label);
  str_addf(s,
           "plot for [i=2:%zu] '%s' using 1:i with linespoints lw 1.5 ps 0.8 "
           "pt i-1 pi 20 lc rgb word(colors, (i-2) %% 8 + 1) "
           "title columnheader(i)\n",
           lines + 1, csv);
}

static char *make_script(const Curve *c, const char *dir, size_t lines) {
  static const struct {
    const char *terminal, *suffix;
  } forms[] = {{"svg size 1200,520 font 'sans,12' background '#ffffff'", "svg"},
               {"pngcairo size 1200,520 font 'sans,11'", "png"}};
  Str s = {0};
  char *csv = mem_printf("%s/%s.csv", dir, c->name);
  str_add(&s, style);
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    str_addf(&s, "set terminal %s\nset output '%s/%s.%s'\n", forms[i].terminal,
             dir, c->name, forms[i].suffix);
    str_addf(&s, "set multiplot title '%s'\n", c->title);
    str_add(&s, "set size 0.42,0.95\nset origin 0,0\nunset key\n");
    add_plot(&s, csv, lines, "[0:20]", "% examined, up to 20");
    str_add(&s, "set size 0.58,0.95\nset origin 0.42,0\nset key outside "
                "right noenhanced\n");
    add_plot(&s, csv, lines, "[0:100]", "% examined");
    str_add(&s, "unset multiplot\nset output\n");
  }
  free(csv);
  return str_take(&s);
}

// 1: there is no gnuplot.
static int run_gnuplot(const char *script, Err *err) {
  char *const argv[] = {"gnuplot", (char *)script, NULL};
  Str text = {0};
  int status = command_capture(argv, NULL, &text);
  int rc = status == 127 ? 1 : 0;
  if (status && !rc)
    rc = err_set(err, "gnuplot ended with status %d: %s", status,
                 str_text(&text));
  str_release(&text);
  return rc;
}

static int draw(const Evaluation *e, const Curve *c, const char *dir,
                Err *err) {
  size_t lines = 0;
  for (size_t m = 0; m < e->methods->items.len; m++)
    lines += evaluation_shows(e, m);
  char *script = make_script(c, dir, lines);
  char *path = mem_printf("%s/%s.gnuplot", dir, c->name);
  int rc = fs_write(path, script, strlen(script), err);
  if (!rc)
    rc = run_gnuplot(path, err);
  unlink(path);
  free(path);
  free(script);
  return rc;
}

int curves_write(const Evaluation *e, const char *dir, bool *drawn, Err *err) {
  *drawn = true;
  for (size_t i = 0; i < NCURVES; i++) {
    if (write_points(e, &curves[i], dir, err))
      return -1;
    int rc = *drawn ? draw(e, &curves[i], dir, err) : 0;
    if (rc < 0)
      return -1;
    *drawn = *drawn && !rc;
  }
  return 0;
}
