// What the application was not let do: see web.h.
#include "cli/web.h"

#include <string.h>

#include "report/json_out.h"
#include "util/escape.h"

enum { LISTED = 10 }; // then "and N more"

static const char *verb(const Refusal *r) {
  static const char *const verbs[][2] = {{"connect", "tries to connect to"},
                                         {"signal", "tries to signal"},
                                         {"write", "tries to write"},
                                         {"mail", "sends mail to"}};
  for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
    if (!strcmp(verbs[i][0], r->kind))
      return verbs[i][1];
  return "tries";
}

static void print_one(const Refusal *r, FILE *out) {
  Str line = {0}, remedy = {0};
  escape_add(&line, r->what);
  str_add(&line, " (");
  escape_add(&line, r->script);
  str_addf(&line, "), %zu time%s: ", r->times, r->times == 1 ? "" : "s");
  refusal_remedy(r, &remedy);
  fprintf(out, "The application %s %s", verb(r), str_text(&line));
  if (remedy.len)
    escape_printf(out, "refused; %s allows it.\n", str_text(&remedy));
  else
    fputs(!strcmp(r->kind, "mail") ? "not sent.\n" : "refused.\n", out);
  str_release(&remedy);
  str_release(&line);
}

void refused_print(const Refusals *r, FILE *out) {
  size_t n = r->list.len < LISTED ? r->list.len : LISTED;
  for (size_t i = 0; i < n; i++)
    print_one(&r->list.items[i], out);
  if (n < r->list.len)
    fprintf(out, "... and %zu more; --json lists them all.\n", r->list.len - n);
}

void refused_json(const Refusals *r, FILE *out) {
  fputs(",\"refused\":[", out);
  for (size_t i = 0; i < r->list.len; i++) {
    const Refusal *f = &r->list.items[i];
    fputs(i ? ",{\"kind\":" : "{\"kind\":", out);
    json_string(f->kind, out);
    json_text("what", f->what, out);
    fprintf(out, ",\"times\":%zu", f->times);
    json_text("script", f->script, out);
    json_text("request", f->request, out);
    fputc('}', out);
  }
  fputc(']', out);
}
