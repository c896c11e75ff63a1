// Odd values: see odd_values.h.
#include "explore/odd_values.h"

#include <ctype.h>
#include <string.h>

#include "util/str.h"

#define ODD_NUMBER "987654321"
#define ODD_MARKUP "<i>\"x'&y"
#define ODD_WORDS "a b"

enum { ODD_TEXTS_TRIED = 3 };

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

static const char *longest_word(const char *text, Arena *arena) {
  const char *best = text;
  size_t most = 0;
  for (const char *p = text; *p; p++) {
    size_t n = 0;
    while (isalnum((unsigned char)p[n]))
      n++;
    if (n > most) {
      most = n;
      best = p;
    }
    p += n ? n - 1 : 0;
  }
  return arena_strndup(arena, best, most);
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

static void add_to_text(OddRequests *out, const Ask *a, const Param *p,
                        const char *text, char kind, Arena *arena) {
  if (kind == 't' && text)
    add_value(out, a, p, text, kind, arena);
  else if (kind == 'w' && text)
    add_value(out, a, p, longest_word(text, arena), kind, arena);
  else if (kind == 's')
    add_value(out, a, p, ODD_WORDS, kind, arena);
  else if (kind == 'e')
    add_value(out, a, p, "", kind, arena);
  else if (kind == 'm')
    add_value(out, a, p, ODD_MARKUP, kind, arena);
}

static void add_kind(OddRequests *out, const Ask *a, const char *text,
                     char kind, Arena *arena) {
  for (size_t i = 0; i < a->nparams; i++) {
    const Param *p = &a->params[i];
    if (kind == '-' && (p->place == IN_QUERY || p->place == IN_BODY))
      add(out, ask_without(a, i, arena), p->name, kind);
    else if (kind == 'n' && is_number(p->value))
      add_value(out, a, p, ODD_NUMBER, kind, arena);
    else if (is_text(p, arena))
      add_to_text(out, a, p, text, kind, arena);
  }
}

// What breaks most comes first. Markup in one field is tried last where it was
// tried in all of them.
void odd_requests(const Ask *a, const char *text, OddRequests *out,
                  Arena *arena) {
  static const char several[] = "nts-wem", one[] = "mnts-we";
  size_t before = out->len;
  add_all_texts(out, a, arena);
  for (const char *k = out->len > before ? several : one; *k; k++)
    add_kind(out, a, text, *k, arena);
}

// The first, the fourth, the sixteenth, ...
bool odd_is_due(char kind, uint64_t times) {
  uint64_t n = times + 1;
  if (kind == 't' && n <= ODD_TEXTS_TRIED)
    return true;
  while (n % 4 == 0)
    n /= 4;
  return n == 1;
}

// --- texts of the database --------------------------------------------------

void odd_texts_add(OddTexts *t, const char *text, size_t n) {
  uint64_t fresh = t->known.len;
  if (t->texts.len < ODD_TEXTS_MOST && n >= ODD_TEXT_LEAST &&
      n <= ODD_TEXT_LONGEST && memchr(text, ' ', n) && !memchr(text, '\0', n) &&
      !memchr(text, '\n', n) &&
      hashmap_intern(&t->known, text, n, fresh) == fresh)
    array_push(&t->texts, arena_strndup(&t->arena, text, n));
}

void odd_texts_learn(OddTexts *t, const PhpShadows *sh) {
  for (size_t i = 1; i < sh->nterms && t->texts.len < ODD_TEXTS_MOST; i++) {
    const PhpTerm *term = &sh->terms[i];
    if (term->value.type == VALUE_STRING && term->name &&
        text_starts(term->name, "DB."))
      odd_texts_add(t, term->value.s, term->value.n);
  }
}

const char *odd_texts_next(OddTexts *t) {
  return t->texts.len ? t->texts.items[t->next++ % t->texts.len] : NULL;
}

void odd_texts_release(OddTexts *t) {
  array_release(&t->texts);
  hashmap_release(&t->known);
  arena_release(&t->arena);
}
