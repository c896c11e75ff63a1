// Accounts: which forms log in and which ones register, and comparisons of input
// with a hash, which cannot be solved for.
//
// A visitor who has registered logs in with the same name and password. The
// login page need not be in sight of the page that follows the registration.
#ifndef CULPRIT_EXPLORE_ACCOUNTS_H
#define CULPRIT_EXPLORE_ACCOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "php/ask.h"
#include "php/record/php_record.h"
#include "util/arena.h"
#include "util/array.h"

enum {
  ACCOUNT_FORMS = 16, // remembered of each kind
  ACCOUNT_NAMES = 3,  // fields of a registration that may be the login's name
  ACCOUNT_HASHES = 8
};

// A form with a password.
typedef struct {
  Ask ask; // filled in
  const char *password;
  const char *names[ACCOUNT_NAMES]; // its other free fields
  size_t nnames;
} AccountForm;

// A comparison of input with a hash, and the request that made it.
typedef struct {
  PhpCompare compare; // kind, file, line and right only
  const char *function;
  Ask ask;
} HashCompare;

typedef struct {
  ARRAY(AccountForm) logins, registrations;
  ARRAY(HashCompare) hashes;
  Arena arena;
} Accounts;

// The forms of a page.
void accounts_note_forms(Accounts *a, const Links *links);
// A comparison of the request, if a hash of input decides it.
void accounts_note_compare(Accounts *a, const PhpCompare *c, const Ask *ask);
// Appends the logins that the request has made possible, if it registers.
void accounts_logins_after(const Accounts *a, const Ask *ask, Asks *out,
                           Arena *arena);
// "POST /login.php user=... password=...", as --login takes it.
void accounts_show_login(const Ask *a, Str *out);
void accounts_release(Accounts *a);

#endif
