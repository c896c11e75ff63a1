// The variables that matter at a branch, as text and as JSON: see near_put.c.
#include <string.h>

#include "near/near_internal.h"
#include "report/json_out.h"
#include "util/escape.h"

enum { SHOWN = 6 }; // of what differs, if it is not minimised

static const char *as_written(const NearPut *p, const char *value) {
  return !p->text && !strcmp(value, "null") ? "NULL" : value;
}

// "x = 1 instead of 0"
static void add_put(Str *out, const NearPut *p) {
  const char *quote = p->text ? "\"" : "";
  escape_add(out, p->name);
  str_addf(out, " = %s", quote);
  escape_add(out, as_written(p, p->passing));
  str_addf(out, "%s instead of %s", quote, quote);
  escape_add(out, as_written(p, p->failing));
  str_add(out, quote);
  if (!strcmp(p->passing, p->failing)) // two objects that look alike
    str_add(out, " at another address");
}

static void add_puts(Str *out, const NearMinimal *m) {
  size_t n = m->puts.len;
  for (size_t i = 0; i < n; i++) {
    str_add(out, i == 0 ? "" : i + 1 == n ? " and " : ", ");
    add_put(out, &m->puts.items[i]);
  }
}

static void add_effect(Str *out, const NearMinimal *m) {
  const char *s = m->puts.len == 1 ? "s" : "";
  if (m->puts.len > 1)
    str_add(out, " together");
  if (m->result == PUT_PASSES)
    str_addf(out, " make%s the failing run pass", s);
  else if (m->result == PUT_AS)
    str_addf(out, " make%s the failing run end as the passing one", s);
  else
    str_addf(out, " turn%s this branch, but the run still does not pass", s);
}

static void add_extent(Str *out, const NearMinimal *m) {
  str_addf(out, " (of %zu that differ%s, by %zu run%s%s)", m->differing,
           verb_s(m->differing), m->runs, plural(m->runs),
           m->cut ? "; out of time, fewer might suffice" : "");
}

static void add_failure(Str *out, const NearMinimal *m) {
  str_add(out, "not minimised: ");
  if (m->problem)
    escape_add(out, m->problem);
  else if (m->differing == 1)
    str_add(out, "it still fails with the one differing value of the passing "
                 "run put in here");
  else if (m->differing)
    str_addf(out,
             "it still fails with all %zu values of the passing run put in "
             "here",
             m->differing);
  else
    str_add(out, "no variable that can be exchanged differs here");
  if (!m->problem && m->others)
    str_addf(out, "; %zu could not be exchanged", m->others);
  for (size_t i = 0; i < m->differ.len && i < SHOWN; i++) {
    str_add(out, i ? ", " : ": ");
    add_put(out, &m->differ.items[i]);
  }
  if (m->differ.len > SHOWN)
    str_add(out, ", ...");
}

void near_add_minimal(const NearMinimal *m, Str *out) {
  if (m->result == PUT_NOTHING) {
    add_failure(out, m);
    return;
  }
  str_add(out, "put in here, ");
  add_puts(out, m);
  add_effect(out, m);
  add_extent(out, m);
}

// A number, null, or a string.
static void json_put_value(const char *text, bool quoted, FILE *out) {
  if (quoted)
    json_string(text, out);
  else if (strspn(text, "-0123456789.e+") == strlen(text) ||
           !strcmp(text, "null"))
    fputs(text, out);
  else
    json_string(text, out); // inf, nan
}

static void json_puts(const char *key, const NearPut *puts, size_t n,
                      FILE *out) {
  bool first = true;
  fprintf(out, ",\"%s\":[", key);
  for (size_t i = 0; i < n; i++) {
    const NearPut *p = &puts[i];
    json_separator(&first, out);
    fputs("{\"name\":", out);
    json_string(p->name, out);
    fputs(",\"failing\":", out);
    json_put_value(p->failing, p->text, out);
    fputs(",\"passing\":", out);
    json_put_value(p->passing, p->text, out);
    fputc('}', out);
  }
  fputc(']', out);
}

void near_json_minimal(const NearMinimal *m, FILE *out) {
  static const char *const results[] = {"nothing", "turns", "as passing",
                                        "passes"};
  fputs(",\"minimal\":{\"result\":", out);
  json_string(results[m->result], out);
  json_puts("variables", m->puts.items, m->puts.len, out);
  json_puts("differ", m->differ.items, m->differ.len, out);
  fprintf(out, ",\"differing\":%zu,\"others\":%zu,\"runs\":%zu", m->differing,
          m->others, m->runs);
  json_bool("cut", m->cut, out);
  if (m->problem)
    json_text("problem", m->problem, out);
  fputc('}', out);
}
