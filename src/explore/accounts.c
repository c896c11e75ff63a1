// Accounts: see accounts.h.
#include "explore/accounts.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "php/record/record_format.h"
#include "util/str.h"

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

void accounts_add_form(Accounts *a, bool login, const AccountForm *f) {
  if (login && !is_known(a->logins.items, a->logins.len, f))
    array_push(&a->logins, keep(a, f));
  if (!login && !is_known(a->registrations.items, a->registrations.len, f))
    array_push(&a->registrations, keep(a, f));
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
    accounts_add_form(a, login, &f);
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

// --- names beside that of a user --------------------------------------------

static const AccountForm *form_of(const Accounts *a, const Ask *login) {
  for (size_t i = 0; login->post && i < a->logins.len; i++) {
    const AccountForm *f = &a->logins.items[i];
    if (!strcmp(f->ask.path, login->path) && value_of(login, f->password) &&
        value_of(login, f->names[0]))
      return f;
  }
  return NULL;
}

typedef struct {
  const char *at;
  size_t n;
} Piece;

static const char *find(Piece in, const char *from, const char *text) {
  size_t left = in.n - (size_t)(from - in.at);
  return memmem(from, left, text, strlen(text));
}

// The innermost table or list around `at`, by its tags; n 0: none.
static Piece list_around(Piece page, const char *at) {
  static const char *const tags[] = {"table", "ul", "ol", "dl", "select"};
  Piece best = {0};
  for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
    char open[16], close[16];
    snprintf(open, sizeof open, "<%s", tags[i]);
    snprintf(close, sizeof close, "</%s", tags[i]);
    const char *end = find(page, at, close), *begin = NULL;
    for (const char *p = page.at; (p = find(page, p, open)) && p < at; p++)
      begin = p;
    if (begin && end && begin > best.at)
      best = (Piece){begin, (size_t)(end - begin)};
  }
  return best;
}

// The name that stands alone between `at` and the next tag; NULL: none does.
static const char *name_at(const char *at, const char *end, Arena *arena) {
  size_t n = 0, letters = 0;
  for (; at + n < end &&
         (isalnum((unsigned char)at[n]) || strchr("._@-", at[n] ? at[n] : ' '));
       n++)
    letters += isalpha((unsigned char)at[n]) != 0;
  bool good = letters && n >= 2 && n <= 40 && at + n < end && at[n] == '<';
  return good ? arena_strndup(arena, at, n) : NULL;
}

void accounts_add_beside(Accounts *a, const char *pair) {
  array_push(&a->beside, arena_strdup(&a->arena, pair));
}

// Does one more name count beside that of the user?
static bool is_new_beside(Accounts *a, const char *user, const char *name) {
  Str pair = {0};
  size_t tried = 0, n = strlen(user) + 1;
  str_addf(&pair, "%s\n%s", user, name);
  bool is_new = strcmp(user, name) != 0;
  for (size_t i = 0; i < a->beside.len; i++) {
    tried += !strncmp(a->beside.items[i], pair.data, n);
    is_new &= strcmp(a->beside.items[i], pair.data) != 0;
  }
  is_new &= tried < ACCOUNT_BESIDE;
  if (is_new)
    accounts_add_beside(a, pair.data);
  str_release(&pair);
  return is_new;
}

void accounts_logins_beside(Accounts *a, const Ask *login, const char *page,
                            size_t len, Asks *out, Arena *arena) {
  const AccountForm *form = form_of(a, login);
  const char *user = form ? value_of(login, form->names[0]) : NULL;
  Piece all = {page, len};
  const char *at =
      user ? find(all, page, arena_printf(arena, ">%s<", user)) : NULL;
  Piece list = at ? list_around(all, at) : (Piece){0};
  const char *tag = at, *end = list.at + list.n;
  while (list.n && tag > list.at && *tag != '<')
    tag--;
  if (!list.n)
    return;
  const char *open = arena_strndup(arena, tag, (size_t)(at + 1 - tag));
  for (const char *p = list.at; (p = find(list, p, open)); p++) {
    const char *name = name_at(p + strlen(open), end, arena);
    if (name && is_new_beside(a, user, name))
      array_push(out, ask_with(login, IN_BODY, form->names[0], name, arena));
  }
}

void accounts_add_found(Accounts *a, const Ask *login) {
  if (a->found.len < ACCOUNT_FOUND)
    array_push(&a->found, ask_copy(login, &a->arena));
}

// --- logins that failed -----------------------------------------------------

static bool asks_for(const Link *form, const Ask *login) {
  bool password = false;
  for (size_t i = 0; i < form->nfields; i++) {
    const Field *f = &form->fields[i];
    if (f->kind == FIELD_FREE && !ask_has(login, IN_BODY, f->name))
      return false;
    password |= is_password(f);
  }
  return password;
}

bool accounts_asks_again(const Links *links, const Ask *login) {
  for (size_t i = 0; i < links->len; i++)
    if (links->items[i].form && asks_for(&links->items[i], login))
      return true;
  return false;
}

// --- hashes -----------------------------------------------------------------

static const char *const hash_functions[] = {"password_verify",
                                             "crypt",
                                             "md5",
                                             "sha1",
                                             "hash",
                                             "hash_hmac",
                                             "hash_pbkdf2",
                                             "sodium_crypto_pwhash_str_verify"};
enum { HASH_FUNCTIONS = sizeof hash_functions / sizeof *hash_functions };

// The hash function that decides the condition; NULL: none.
static const char *hash_of(const char *text) {
  static const char *const inputs[] = {"POST.", "GET.", "REQUEST."};
  bool input = false;
  for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
    input |= strstr(text, inputs[i]) != NULL;
  for (size_t i = 0; input && i < HASH_FUNCTIONS; i++)
    if (text_calls(text, hash_functions[i]))
      return hash_functions[i];
  return NULL;
}

void accounts_add_hash(Accounts *a, const HashCompare *like) {
  const PhpCompare *c = &like->compare;
  if (a->hashes.len >= ACCOUNT_HASHES)
    return;
  array_push(
      &a->hashes,
      (HashCompare){.compare = {.kind = c->kind,
                                .held = c->held,
                                .file = arena_strdup(&a->arena, c->file),
                                .line = c->line,
                                .left = "",
                                .right = arena_strdup(&a->arena, c->right)},
                    .function = arena_strdup(&a->arena, like->function),
                    .ask = ask_copy(&like->ask, &a->arena)});
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
    accounts_add_hash(
        a, &(HashCompare){.compare = *c, .function = function, .ask = *ask});
}

static void show_login(const Ask *a, const char *name, Str *out) {
  char mark = '?';
  str_addf(out, "POST %s", a->path);
  for (size_t i = 0; i < a->nparams; i++)
    if (a->params[i].place == IN_QUERY) {
      str_addf(out, "%c%s=%s", mark, a->params[i].name, a->params[i].value);
      mark = '&';
    }
  for (size_t i = 0; i < a->nparams; i++) {
    const Param *p = &a->params[i];
    if (p->place == IN_BODY && !p->page)
      str_addf(out, " %s=%s", p->name,
               name && !strcmp(name, p->name) ? p->value : "...");
  }
}

void accounts_show_login(const Ask *a, Str *out) { show_login(a, NULL, out); }

void accounts_name_login(const Accounts *a, const Ask *login, Str *out) {
  const AccountForm *form = form_of(a, login);
  show_login(login, form ? form->names[0] : NULL, out);
}

void accounts_release(Accounts *a) {
  array_release(&a->logins);
  array_release(&a->registrations);
  array_release(&a->hashes);
  array_release(&a->found);
  array_release(&a->beside);
  arena_release(&a->arena);
}
