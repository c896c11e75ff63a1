// Accounts: see accounts.h.
#include "explore/accounts.h"

#include <string.h>

#include "php/record/record_format.h"

// --- forms ------------------------------------------------------------------

static bool is_password(const Field *f) {
  return f->kind == FIELD_FREE && !strcmp(f->type, "password");
}

// Free fields: passwords, and others whose names are taken.
static size_t count_fields(const Link *form, AccountForm *out) {
  size_t passwords = 0;
  for (size_t i = 0; i < form->nfields; i++) {
    const Field *f = &form->fields[i];
    if (is_password(f)) {
      out->password = passwords ? out->password : f->name;
      passwords++;
    } else if (f->kind == FIELD_FREE && out->nnames < ACCOUNT_NAMES) {
      out->names[out->nnames++] = f->name;
    }
  }
  return passwords;
}

static bool is_known(const AccountForm *list, size_t n, const AccountForm *f) {
  for (size_t i = 0; i < n; i++)
    if (!strcmp(list[i].ask.path, f->ask.path) &&
        !strcmp(list[i].password, f->password) && list[i].nnames == f->nnames)
      return true;
  return n >= ACCOUNT_FORMS;
}

static AccountForm keep(Accounts *a, const AccountForm *f) {
  AccountForm kept = *f;
  kept.ask = ask_copy(&f->ask, &a->arena);
  kept.password = arena_strdup(&a->arena, f->password);
  for (size_t i = 0; i < f->nnames; i++)
    kept.names[i] = arena_strdup(&a->arena, f->names[i]);
  return kept;
}

// A login has one password and one name; with more it registers, or changes a
// password, which does no harm here.
static void note_form(Accounts *a, const Link *form) {
  AccountForm f = {0};
  size_t passwords = count_fields(form, &f);
  Asks asks = {0};
  Arena arena = {0};
  if (passwords && f.nnames) {
    ask_form(form, &asks, &arena);
    f.ask = asks.items[0];
    bool login = passwords == 1 && f.nnames == 1;
    if (login && !is_known(a->logins.items, a->logins.len, &f))
      array_push(&a->logins, keep(a, &f));
    if (!login && !is_known(a->registrations.items, a->registrations.len, &f))
      array_push(&a->registrations, keep(a, &f));
  }
  array_release(&asks);
  arena_release(&arena);
}

void accounts_note_forms(Accounts *a, const Links *links) {
  for (size_t i = 0; i < links->len; i++)
    if (links->items[i].form)
      note_form(a, &links->items[i]);
}

static const char *value_of(const Ask *a, const char *name) {
  for (size_t i = 0; i < a->nparams; i++)
    if (!strcmp(a->params[i].name, name) && *a->params[i].value)
      return a->params[i].value;
  return NULL;
}

static void log_in(const Accounts *a, const char *name, const char *password,
                   Asks *out, Arena *arena) {
  for (size_t i = 0; i < a->logins.len; i++) {
    const AccountForm *l = &a->logins.items[i];
    ParamPlace place = l->ask.post ? IN_BODY : IN_QUERY;
    Ask ask = ask_with(&l->ask, place, l->names[0], name, arena);
    array_push(out, ask_with(&ask, place, l->password, password, arena));
  }
}

void accounts_logins_after(const Accounts *a, const Ask *ask, Asks *out,
                           Arena *arena) {
  for (size_t i = 0; i < a->registrations.len; i++) {
    const AccountForm *r = &a->registrations.items[i];
    const char *password = value_of(ask, r->password);
    if (strcmp(r->ask.path, ask->path) || !password)
      continue;
    for (size_t k = 0; k < r->nnames; k++) {
      const char *name = value_of(ask, r->names[k]);
      if (name)
        log_in(a, name, password, out, arena);
    }
  }
}

// --- hashes -----------------------------------------------------------------

// The hash function that decides the condition; NULL: none.
static const char *hash_of(const char *text) {
  static const char *const functions[] = {"password_verify",
                                          "crypt",
                                          "md5",
                                          "sha1",
                                          "hash",
                                          "hash_hmac",
                                          "hash_pbkdf2",
                                          "sodium_crypto_pwhash_str_verify"};
  static const char *const inputs[] = {"POST.", "GET.", "REQUEST."};
  bool input = false;
  for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
    input |= strstr(text, inputs[i]) != NULL;
  for (size_t i = 0; input && i < sizeof functions / sizeof *functions; i++)
    if (text_calls(text, functions[i]))
      return functions[i];
  return NULL;
}

void accounts_note_compare(Accounts *a, const PhpCompare *c, const Ask *ask) {
  if (c->kind != COMPARE_BRANCH || a->hashes.len >= ACCOUNT_HASHES ||
      !ask->post)
    return;
  const char *function = hash_of(c->right);
  for (size_t i = 0; function && i < a->hashes.len; i++)
    if (a->hashes.items[i].compare.line == c->line &&
        !strcmp(a->hashes.items[i].compare.file, c->file))
      return;
  if (function)
    array_push(
        &a->hashes,
        (HashCompare){.compare = {.kind = c->kind,
                                  .held = c->held,
                                  .file = arena_strdup(&a->arena, c->file),
                                  .line = c->line,
                                  .right = arena_strdup(&a->arena, c->right)},
                      .function = function,
                      .ask = ask_copy(ask, &a->arena)});
}

void accounts_show_login(const Ask *a, Str *out) {
  str_addf(out, "POST %s", a->path);
  for (size_t i = 0; i < a->nparams; i++) {
    const Param *p = &a->params[i];
    if (p->place == IN_BODY && !p->page)
      str_addf(out, " %s=...", p->name);
  }
}

void accounts_release(Accounts *a) {
  array_release(&a->logins);
  array_release(&a->registrations);
  array_release(&a->hashes);
  arena_release(&a->arena);
}
