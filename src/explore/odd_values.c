// Odd values: see odd_values.h.
#include "explore/odd_values.h"

#include <ctype.h>
#include <string.h>

#define ODD_NUMBER "987654321"
#define ODD_MARKUP "<i>\"x'&y"
#define ODD_WORDS "a b"

static bool is_number(const char *text) {
  size_t n = strspn(text, "0123456789");
  return n && n < 10 && !text[n];
}

// Probably typed by a visitor: not a choice of the page.
static bool is_text(const Param *p, Arena *arena) {
  if (p->page || p->place == IN_FILE || p->place == IN_COOKIE || !*p->value ||
      is_number(p->value))
    return false;
  return p->place == IN_BODY || strchr(p->value, ' ') ||
         !strcmp(p->value, ask_guess(p->name, false, arena));
}

static void add(OddRequests *out, Ask ask, const char *name, char kind) {
  if (out->len < ODD_MOST)
    array_push(out, (OddRequest){ask, name, kind});
}

static void add_value(OddRequests *out, const Ask *a, const Param *p,
                      const char *value, char kind, Arena *arena) {
  add(out, ask_with(a, p->place, p->name, value, arena), p->name, kind);
}

static void add_texts(OddRequests *out, const Ask *a, const Param *p,
                      Arena *arena) {
  add_value(out, a, p, ODD_MARKUP, 'm', arena);
  add_value(out, a, p, ODD_WORDS, 's', arena);
  add_value(out, a, p, "", 'e', arena);
}

// One field with markup may be refused while another is shown.
static void add_all_texts(OddRequests *out, const Ask *a, Arena *arena) {
  Ask all = *a;
  size_t n = 0;
  for (size_t i = 0; i < a->nparams; i++) {
    const Param *p = &a->params[i];
    if (is_text(p, arena)) {
      all = ask_with(&all, p->place, p->name, ODD_MARKUP, arena);
      n++;
    }
  }
  if (n > 1)
    add(out, all, "", 'M');
}

void odd_requests(const Ask *a, OddRequests *out, Arena *arena) {
  add_all_texts(out, a, arena);
  for (size_t i = 0; i < a->nparams; i++) {
    const Param *p = &a->params[i];
    if (is_text(p, arena))
      add_texts(out, a, p, arena);
    else if (is_number(p->value))
      add_value(out, a, p, ODD_NUMBER, 'n', arena);
    if (p->place == IN_QUERY || p->place == IN_BODY)
      add(out, ask_without(a, i, arena), p->name, '-');
  }
}

// The first, the fourth, the sixteenth, ...
bool odd_is_due(uint64_t times) {
  uint64_t n = times + 1;
  while (n % 4 == 0)
    n /= 4;
  return n == 1;
}
