// Where a store lies: see store_address.h.
#include "store/store_address.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <xxhash.h>

#include "util/mem.h"
#include "util/str.h"

bool address_is_server(const char *store) {
  return text_starts(store, "postgresql://") ||
         text_starts(store, "postgres://") || text_starts(store, "service=");
}

// --- what is shown ---------------------------------------------------------

// Without the password of "USER:PASSWORD@". A careless one holds any character:
// all up to the last @ counts as part of it.
static const char *add_user(Str *out, const char *at) {
  const char *sign = strrchr(at, '@');
  if (!sign)
    return at;
  str_addn(out, at, strcspn(at, ":@/?#"));
  str_addc(out, '@');
  return sign + 1;
}

static bool is_secret(const char *parameter, size_t n) {
  static const char *const names[] = {"password", "sslpassword", "passwd"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (n == strlen(names[i]) && !strncasecmp(parameter, names[i], n))
      return true;
  return memchr(parameter, '%', n) != NULL; // a name in disguise
}

// "a=1&password=x&b=2" without the password.
static void add_parameters(Str *out, const char *at, const char *separators) {
  char sign = '?';
  while (*at) {
    size_t n = strcspn(at, separators), name = strcspn(at, "=");
    if (n && !is_secret(at, name < n ? name : n)) {
      str_addc(out, sign);
      str_addn(out, at, n);
      sign = '&';
    }
    at += n + (at[n] != '\0');
  }
}

char *address_shown(const char *store) {
  if (!address_is_server(store))
    return mem_strdup(store);
  Str out = {0};
  const char *at = strstr(store, "://");
  if (!at) { // service=NAME, which needs nothing else
    str_addn(&out, store, strcspn(store, " \t\r\n"));
    return str_take(&out);
  }
  str_addn(&out, store, (size_t)(at + 3 - store));
  at = add_user(&out, at + 3);
  size_t path = strcspn(at, "?");
  str_addn(&out, at, path);
  if (at[path])
    add_parameters(&out, at + path + 1, "&");
  return str_take(&out);
}

// --- what lies beside it ---------------------------------------------------

char *address_directory(const char *store) {
  if (!address_is_server(store))
    return mem_strdup(store);
  char *shown = address_shown(store);
  char *dir = mem_printf(".culprit/server-%016llx",
                         (unsigned long long)XXH3_64bits(shown, strlen(shown)));
  free(shown);
  return dir;
}
