// Hidden fields of pages: see hidden_fields.h.
#include "explore/hidden_fields.h"

#include <string.h>

#include "php/fresh.h"

enum { HIDDEN_MOST = 60 };

static void add_hidden(const Link *form, HiddenField *out, size_t *n) {
  for (size_t i = 0; i < form->nfields && *n < HIDDEN_MOST; i++) {
    const Field *f = &form->fields[i];
    if (f->kind == FIELD_FIXED && *f->value)
      out[(*n)++] = (HiddenField){form->path, f->name, f->value};
  }
}

HiddenFields hidden_fields_of(const Links *links, Arena *arena) {
  HiddenField *list = arena_array(arena, HiddenField, HIDDEN_MOST);
  size_t n = 0;
  for (size_t i = 0; i < links->len; i++)
    if (links->items[i].form)
      add_hidden(&links->items[i], list, &n);
  return (HiddenFields){.items = list, .len = n};
}

HiddenFields hidden_fields_copy(const HiddenFields *h, Arena *arena) {
  HiddenField *list = arena_array(arena, HiddenField, h->len);
  for (size_t i = 0; i < h->len; i++)
    list[i] = (HiddenField){arena_strdup(arena, h->items[i].form),
                            arena_strdup(arena, h->items[i].name),
                            arena_strdup(arena, h->items[i].value)};
  return (HiddenFields){.items = list, .len = h->len};
}

// --- values that change -----------------------------------------------------

static bool has_value(const HiddenFields *h, const HiddenField *like) {
  for (size_t i = 0; i < h->len; i++)
    if (!strcmp(h->items[i].name, like->name) &&
        !strcmp(h->items[i].value, like->value))
      return true;
  return false;
}

// The n-th field of that form and name.
static const HiddenField *find_nth(const HiddenFields *h,
                                   const HiddenField *like, size_t n) {
  for (size_t i = 0; i < h->len; i++)
    if (!strcmp(h->items[i].name, like->name) &&
        !strcmp(h->items[i].form, like->form) && !n--)
      return &h->items[i];
  return NULL;
}

static size_t place_of(const HiddenFields *h, size_t at) {
  size_t n = 0;
  for (size_t i = 0; i < at; i++)
    n += !strcmp(h->items[i].name, h->items[at].name) &&
         !strcmp(h->items[i].form, h->items[at].form);
  return n;
}

const ValueSwap *value_swaps_find(const ValueSwap *before,
                                  const HiddenFields *then,
                                  const HiddenFields *now, Str *names,
                                  Arena *arena) {
  for (size_t i = 0; i < then->len; i++) {
    const HiddenField *old = &then->items[i];
    const HiddenField *other = find_nth(now, old, place_of(then, i));
    if (!other || has_value(now, old))
      continue;
    ValueSwap *s = arena_new(arena, ValueSwap);
    *s = (ValueSwap){.before = before,
                     .old = arena_strdup(arena, old->value),
                     .now = arena_strdup(arena, other->value)};
    before = s;
    if (names && !fresh_names(str_text(names), old->name))
      str_addf(names, "%s%s", names->len ? " " : "", old->name);
  }
  return before;
}

static const char *swapped(const ValueSwap *s, const char *value, bool back) {
  for (; s; s = s->before)
    if (!strcmp(back ? s->now : s->old, value))
      return back ? s->old : s->now;
  return NULL;
}

static Ask swap_all(const ValueSwap *swaps, const Ask *ask, bool back,
                    Arena *arena) {
  if (!swaps)
    return *ask;
  Param *params = arena_array(arena, Param, ask->nparams);
  for (size_t i = 0; i < ask->nparams; i++) {
    params[i] = ask->params[i];
    const char *other =
        params[i].page ? swapped(swaps, params[i].value, back) : NULL;
    if (other)
      params[i].value = other;
  }
  Ask out = *ask;
  out.params = params;
  return out;
}

Ask value_swaps_apply(const ValueSwap *swaps, const Ask *ask, Arena *arena) {
  return swap_all(swaps, ask, false, arena);
}

Ask value_swaps_undo(const ValueSwap *swaps, const Ask *ask, Arena *arena) {
  return swap_all(swaps, ask, true, arena);
}

HiddenFields hidden_fields_undo(const ValueSwap *swaps, const HiddenFields *h,
                                Arena *arena) {
  HiddenField *list = arena_array(arena, HiddenField, h->len);
  for (size_t i = 0; i < h->len; i++) {
    const char *old = swapped(swaps, h->items[i].value, true);
    list[i] = h->items[i];
    list[i].value = old ? old : list[i].value;
  }
  return (HiddenFields){.items = list, .len = h->len};
}
