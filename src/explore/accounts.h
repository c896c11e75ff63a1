// Accounts: which forms log in and which ones register, and comparisons of input
// with a hash, which cannot be solved for.
//
// A visitor who has registered logs in with the same name and password. The
// login page need not be in sight of the page that follows the registration.
//
// Test data often gives all accounts of a kind one password. So the names that
// stand beside that of a user whose login is known, in the same table or list
// and the same element, are tried with that user's password:
//
//   <td>frank</td> ... <td>henry</td>      user=frank&password=x is known:
//                                          user=henry&password=x
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
  ACCOUNT_HASHES = 8,
  ACCOUNT_BESIDE = 8, // names tried with the password of one user,
  ACCOUNT_FOUND = 8   // and of all that worked, kept
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
  ARRAY(const char *) beside; // names that were tried: "frank\nhenry"
  Asks found;                 // logins of such names that worked
  Arena arena;
} Accounts;

// The forms of a page.
void accounts_note_forms(Accounts *a, const Links *links);
// A comparison of the request, if a hash of input decides it.
void accounts_note_compare(Accounts *a, const PhpCompare *c, const Ask *ask);
// Appends the logins that the request has made possible, if it registers.
void accounts_logins_after(const Accounts *a, const Ask *ask, Asks *out,
                           Arena *arena);
// Appends the logins of names that stand on the page beside that of a user whom
// `login` logs in, each once.
void accounts_logins_beside(Accounts *a, const Ask *login, const char *page,
                            size_t len, Asks *out, Arena *arena);
void accounts_add_found(Accounts *a, const Ask *login);
// Is there a form among the links that asks for this login once more?
bool accounts_asks_again(const Links *links, const Ask *login);
// "POST /login.php user=... password=...", as --login takes it.
void accounts_show_login(const Ask *a, Str *out);
// The same with the name, if the form is known.
void accounts_name_login(const Accounts *a, const Ask *login, Str *out);
void accounts_release(Accounts *a);

// --- for the checkpoint -----------------------------------------------------

// They copy what they are given.
void accounts_add_form(Accounts *a, bool login, const AccountForm *form);
void accounts_add_hash(Accounts *a, const HashCompare *like);
void accounts_add_beside(Accounts *a, const char *pair);

#endif
