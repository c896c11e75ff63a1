// Values and variables of differing branches as text and as JSON: see near.h.
#include <math.h>
#include <string.h>

#include "near/near_internal.h"
#include "report/json_out.h"
#include "util/escape.h"
#include "util/fs.h"

enum { VARIABLES_SHOWN = 8 };

// --- values -----------------------------------------------------------------

static const NearMoment *find_moment(const Near *n, uint32_t event) {
  for (size_t i = 0; i < n->moments.len; i++)
    if (n->moments.items[i].event == event)
      return &n->moments.items[i];
  return NULL;
}

static double as_double(const WatchValue *v) {
  double d;
  float f;
  if (v->width == 32) {
    memcpy(&f, &v->bits, sizeof f);
    return f;
  }
  memcpy(&d, &v->bits, sizeof d);
  return d;
}

static int64_t as_signed(const WatchValue *v) {
  unsigned shift = 64u - v->width;
  return (int64_t)(v->bits << shift) >> shift;
}

// `leads`: what a pointer points to; NULL: not known.
static void print_value(const WatchValue *v, const char *leads, FILE *out) {
  if (v->flags & IR_FP)
    fprintf(out, "%g", as_double(v));
  else if (v->flags & IR_POINTER)
    fputs(!v->bits ? "NULL" : leads ? leads : "a pointer", out);
  else if (v->flags & IR_UNSIGNED || v->width == 1)
    fprintf(out, "%llu", (unsigned long long)v->bits);
  else
    fprintf(out, "%lld", (long long)as_signed(v));
}

// A pointer other than NULL has no meaningful number, and JSON has none for
// infinity.
static void json_value(const WatchValue *v, const char *leads, FILE *out) {
  if (v->flags & IR_FP && isfinite(as_double(v)))
    json_number(as_double(v), out);
  else if (v->flags & IR_FP)
    fprintf(out, "\"%g\"", as_double(v));
  else if (v->flags & IR_POINTER && v->bits)
    json_string(leads ? leads : "pointer", out);
  else if (v->flags & IR_POINTER)
    fputs("null", out);
  else
    print_value(v, NULL, out);
}

// --- text -------------------------------------------------------------------

// "0 > 1"
static void print_values(const NearMoment *m, const WatchValue *values,
                         const char *const *leads, FILE *out) {
  for (size_t i = 0; i < m->nvalues; i++) {
    if (i)
      fprintf(out, " %s ", m->op);
    print_value(&values[i], leads[i], out);
  }
}

// "n > 1: ", if all of it is variables and constants of the source.
static void print_names(const NearMoment *m, FILE *out) {
  for (size_t i = 0; i < m->nvalues; i++)
    if (!m->names[i] && (!m->taken[i].constant || m->nvalues == 1))
      return;
  for (size_t i = 0; i < m->nvalues; i++) {
    if (i)
      fprintf(out, " %s ", m->op);
    if (m->names[i])
      fputs(m->names[i], out);
    else
      print_value(&m->taken[i], NULL, out);
  }
  fputs(": ", out);
}

// "n > 1: 0 > 1 here, 2 > 1 in the passing run"
static void print_compared(const NearMoment *m, const char *other, FILE *out) {
  if (!m->nvalues)
    return;
  fputs("    ", out);
  print_names(m, out);
  print_values(m, m->taken, m->taken_leads, out);
  fputs(" here", out);
  if (m->aligned) {
    fputs(", ", out);
    print_values(m, m->needed, m->needed_leads, out);
    fprintf(out, " in %s", other);
  }
  fputc('\n', out);
}

static const char *wrong_name(WrongKind kind) {
  static const char *const names[] = {"",
                                      "the crash",
                                      "the call that ended it",
                                      "the exit status",
                                      "the output",
                                      "where it was cut off"};
  return names[kind];
}

static void print_variable(const Near *n, const NearVariable *v,
                           const char *other, const char *root, FILE *out) {
  Str where = {0};
  escape_add(&where, v->name);
  fprintf(out, "    %s = ", str_text(&where));
  print_value(&v->failing, v->failing_leads, out);
  fputs(" here, ", out);
  print_value(&v->passing, v->passing_leads, out);
  fprintf(out, " in %s; it reaches %s", other, wrong_name(n->wrong.kind));
  str_clear(&where);
  escape_add(&where, path_below(n->wrong.file, root));
  if (*n->wrong.file)
    fprintf(out, " at %s:%u", str_text(&where), n->wrong.line);
  fputc('\n', out);
  str_release(&where);
}

static void print_minimal(const NearMoment *m, FILE *out) {
  Str text = {0};
  near_add_minimal(&m->minimal, &text);
  fprintf(out, "    %s\n", str_text(&text));
  str_release(&text);
}

const char *near_matters(const Near *n, uint32_t event, Arena *arena) {
  const NearMoment *m = find_moment(n, event);
  Str text = {0};
  if (m && m->minimal.result != PUT_NOTHING)
    near_add_minimal(&m->minimal, &text);
  const char *copy = arena_strdup(arena, str_text(&text));
  str_release(&text);
  return copy;
}

void near_print_state(const Near *n, uint32_t event, const char *root,
                      FILE *out) {
  const NearMoment *m = find_moment(n, event);
  const char *other = near_best(n) ? "the passing run" : "the other run";
  if (!m)
    return;
  print_compared(m, other, out);
  if (!n->options.keep_all)
    print_minimal(m, out);
  for (size_t i = 0; i < m->variables.len && i < VARIABLES_SHOWN; i++)
    print_variable(n, &m->variables.items[i], other, root, out);
  if (m->variables.len > VARIABLES_SHOWN)
    fprintf(out, "    and %zu more variable%s (--json has them all)\n",
            m->variables.len - VARIABLES_SHOWN,
            plural(m->variables.len - VARIABLES_SHOWN));
}

void near_print_limits(const Near *n, FILE *out) {
  if (!n->moments.len)
    fputs("  (the compared values are not known: the runs could not be "
          "replayed again)\n",
          out);
  else if (n->wrong.cut)
    fputs("  (the run was too long to follow completely: variables that matter "
          "may be missing)\n",
          out);
}

// --- JSON -------------------------------------------------------------------

static void json_values(const char *key, const NearMoment *m,
                        const WatchValue *values, const char *const *leads,
                        FILE *out) {
  bool first = true;
  fprintf(out, "\"%s\":[", key);
  for (size_t i = 0; i < m->nvalues; i++) {
    json_separator(&first, out);
    json_value(&values[i], leads[i], out);
  }
  fputc(']', out);
}

// Of what is compared; null where there is none.
static void json_names(const NearMoment *m, FILE *out) {
  bool first = true;
  fputs(",\"names\":[", out);
  for (size_t i = 0; i < m->nvalues; i++) {
    json_separator(&first, out);
    if (m->names[i])
      json_string(m->names[i], out);
    else
      fputs("null", out);
  }
  fputc(']', out);
}

void near_json_state(const Near *n, uint32_t event, FILE *out) {
  const NearMoment *m = find_moment(n, event);
  bool first = true;
  if (!m)
    return;
  if (m->nvalues) {
    fputs(",\"values\":{", out);
    json_values("taken", m, m->taken, m->taken_leads, out);
    if (m->aligned) {
      fputc(',', out);
      json_values("needed", m, m->needed, m->needed_leads, out);
    }
    if (m->op)
      json_text("operator", m->op, out);
    json_names(m, out);
    fputc('}', out);
  }
  fputs(",\"variables\":[", out);
  for (size_t i = 0; i < m->variables.len; i++) {
    const NearVariable *v = &m->variables.items[i];
    json_separator(&first, out);
    fputs("{\"name\":", out);
    json_string(v->name, out);
    fputs(",\"failing\":", out);
    json_value(&v->failing, v->failing_leads, out);
    fputs(",\"passing\":", out);
    json_value(&v->passing, v->passing_leads, out);
    fputc('}', out);
  }
  fputc(']', out);
  if (!n->options.keep_all)
    near_json_minimal(&m->minimal, out);
}

void near_json_wrong(const Near *n, const char *root, FILE *out) {
  static const char *const kinds[] = {"",       "crash",  "call",
                                      "status", "output", "cut"};
  if (n->wrong.kind == WRONG_UNKNOWN)
    return;
  fputs(",\"wrong\":{\"kind\":", out);
  json_string(kinds[n->wrong.kind], out);
  if (*n->wrong.file) {
    json_text("file", path_below(n->wrong.file, root), out);
    fprintf(out, ",\"line\":%u", n->wrong.line);
  }
  json_bool("cut", n->wrong.cut, out);
  fputc('}', out);
}
