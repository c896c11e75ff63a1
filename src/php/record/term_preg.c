// preg_match outside of PHP, by the same library: PCRE2. Compiled patterns are
// kept in a table of this process.
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "php/record/term.h"
#include "util/mem.h"

enum { PATTERNS = 64, PATTERN_MOST = 1 << 14, STEPS = 100000 };

typedef struct {
  char *text;
  size_t n;
  pcre2_code *code; // NULL: not understood
} Pattern;

static Pattern patterns[PATTERNS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of patterns

static char closing(char c) {
  const char *open = "([{<", *close = ")]}>";
  const char *at = c ? strchr(open, c) : NULL;
  return at ? close[at - open] : c;
}

// Modifiers as PHP's; false: one that is not known here.
static bool read_options(const char *s, size_t n, uint32_t *options) {
  for (size_t i = 0; i < n; i++) {
    switch (s[i]) {
    case 'i':
      *options |= PCRE2_CASELESS;
      break;
    case 'm':
      *options |= PCRE2_MULTILINE;
      break;
    case 's':
      *options |= PCRE2_DOTALL;
      break;
    case 'x':
      *options |= PCRE2_EXTENDED;
      break;
    case 'u':
      *options |= PCRE2_UTF | PCRE2_UCP;
      break;
    case 'D':
      *options |= PCRE2_DOLLAR_ENDONLY;
      break;
    case 'U':
      *options |= PCRE2_UNGREEDY;
      break;
    case 'A':
      *options |= PCRE2_ANCHORED;
      break;
    default:
      return false;
    }
  }
  return true;
}

static pcre2_code *compile(const char *s, size_t n) {
  int error;
  PCRE2_SIZE offset;
  uint32_t options = 0;
  if (n < 2)
    return NULL;
  const char *end = memrchr(s + 1, closing(*s), n - 1);
  if (!end || !read_options(end + 1, (size_t)(s + n - end - 1), &options))
    return NULL;
  return pcre2_compile((PCRE2_SPTR)(s + 1), (size_t)(end - s - 1), options,
                       &error, &offset, NULL);
}

static pcre2_code *find(const char *s, size_t n) {
  size_t h = n;
  for (size_t i = 0; i < n; i++)
    h = h * 31 + (unsigned char)s[i];
  Pattern *p = &patterns[h % PATTERNS];
  if (n > PATTERN_MOST)
    return NULL;
  if (p->n == n && n && !memcmp(p->text, s, n))
    return p->code;
  pcre2_code_free(p->code);
  free(p->text);
  p->text = mem_dup(s, n);
  p->n = n;
  p->code = compile(s, n);
  return p->code;
}

static PhpValue group_of(pcre2_match_data *m, int count, int group,
                         const char *text, Arena *arena) {
  PCRE2_SIZE *at = pcre2_get_ovector_pointer(m);
  if (group >= count || at[2 * group] == PCRE2_UNSET)
    return php_unknown();
  size_t n = at[2 * group + 1] - at[2 * group];
  return php_string(arena_strndup(arena, text + at[2 * group], n), n);
}

static PhpValue match(const pcre2_code *code, PhpValue t, int group,
                      Arena *arena) {
  pcre2_match_data *m = pcre2_match_data_create_from_pattern(code, NULL);
  pcre2_match_context *limits = pcre2_match_context_create(NULL);
  pcre2_set_match_limit(limits, STEPS);
  int rc = pcre2_match(code, (PCRE2_SPTR)t.s, t.n, 0, 0, m, limits);
  PhpValue v = php_unknown();
  if (group < 0 && (rc >= 0 || rc == PCRE2_ERROR_NOMATCH))
    v = php_int(rc >= 0);
  else if (rc > 0)
    v = group_of(m, rc, group, t.s, arena);
  pcre2_match_context_free(limits);
  pcre2_match_data_free(m);
  return v;
}

PhpValue term_preg(PhpValue pattern, PhpValue text, int group, Arena *arena) {
  PhpValue p = php_to_string(pattern, arena), t = php_to_string(text, arena);
  if (p.type != VALUE_STRING || t.type != VALUE_STRING)
    return php_unknown();
  pthread_mutex_lock(&lock);
  const pcre2_code *code = find(p.s, p.n);
  PhpValue v = code ? match(code, t, group, arena) : php_unknown();
  pthread_mutex_unlock(&lock);
  return v;
}
