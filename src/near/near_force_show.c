// What forcing a branch came to, as text and as JSON: see near.h.
#include <string.h>

#include "near/near_internal.h"
#include "report/json_out.h"
#include "util/escape.h"
#include "util/str.h"

static const NearForced *find(const Near *n, uint32_t event) {
  for (size_t i = 0; i < n->forced.len; i++)
    if (n->forced.items[i].event == event)
      return &n->forced.items[i];
  return NULL;
}

// Without an oracle of the user's a run passes if it ends with status 0.
static const char *words_of(const Near *n, const ForcedEnd *e) {
  bool judged = strcmp(n->search->runner->oracle.kind->name, "exit") != 0;
  switch (e->result) {
  case FORCED_PASSES:
    return judged ? "the run passes" : "the run ends with status 0";
  case FORCED_SAME:
    return "the run still fails";
  case FORCED_OTHER:
    return "the run fails in another way";
  case FORCED_ENDLESS:
    return "the run does not come to its end";
  default:
    return "the run cannot be judged";
  }
}

static void add_end(const Near *n, const ForcedEnd *e, Str *out) {
  str_add(out, words_of(n, e));
  if (e->result == FORCED_OTHER && e->message) {
    str_add(out, " (");
    escape_add(out, e->message);
    str_addc(out, ')');
  }
}

static bool is_same(const ForcedEnd *a, const ForcedEnd *b) {
  return a->result == b->result && a->result != FORCED_OTHER;
}

void near_print_forced(const Near *n, uint32_t event, const char *way,
                       FILE *out) {
  const NearForced *f = find(n, event);
  Str text = {0};
  if (!f)
    return;
  if (f->always.result == FORCED_NOT || is_same(&f->here, &f->always)) {
    str_addf(&text, "forced to be %s here%s: ", way,
             f->always.result == FORCED_NOT ? "" : ", or every time");
    add_end(n, &f->here, &text);
  } else {
    str_addf(&text, "forced to be %s here: ", way);
    add_end(n, &f->here, &text);
    str_add(&text, "; every time: ");
    add_end(n, &f->always, &text);
  }
  fprintf(out, "    %s\n", str_text(&text));
  str_release(&text);
}

static void json_end(const char *key, const ForcedEnd *e, FILE *out) {
  static const char *const results[] = {[FORCED_PASSES] = "passes",
                                        [FORCED_SAME] = "same",
                                        [FORCED_OTHER] = "other",
                                        [FORCED_ENDLESS] = "endless",
                                        [FORCED_UNJUDGED] = "unjudged"};
  fprintf(out, "\"%s\":{\"result\":", key);
  json_string(results[e->result], out);
  if (e->message)
    json_text("message", e->message, out);
  fputc('}', out);
}

void near_json_forced(const Near *n, uint32_t event, FILE *out) {
  const NearForced *f = find(n, event);
  if (!f)
    return;
  fputs(",\"forced\":{", out);
  json_end("here", &f->here, out);
  if (f->always.result != FORCED_NOT) {
    fputc(',', out);
    json_end("always", &f->always, out);
  }
  fputc('}', out);
}
