// Why a test failed, in its own words: see message.h.
#include "oracle/message.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "util/array.h"
#include "util/escape.h"
#include "util/mem.h"

enum { SHOWN = 5, LOOKED_AT = 40, LINE_MAX_ = 400, TITLE_MOST = 120 };

typedef struct {
  const char *text;
  size_t n;
} OutputLine;
typedef ARRAY(OutputLine) OutputLines;

void message_release(Message *m) {
  free(m->line);
  free(m->text);
  free(m->place);
  free(m->signature);
  *m = (Message){0};
}

static bool is_word_char(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

// --- lines ------------------------------------------------------------------

static bool is_blank(OutputLine l) {
  for (size_t i = 0; i < l.n; i++)
    if (!isspace((unsigned char)l.text[i]))
      return false;
  return true;
}

static void split(const char *text, size_t n, OutputLines *out) {
  for (size_t at = 0; at < n;) {
    const char *end = memchr(text + at, '\n', n - at);
    size_t length = end ? (size_t)(end - text) - at : n - at;
    OutputLine l = {text + at, length};
    if (!is_blank(l))
      array_push(out, l);
    at += length + 1;
  }
}

// Without colours, control characters and blanks at the end.
static char *plain(OutputLine l) {
  Str s = {0};
  for (size_t i = 0; i < l.n && s.len < LINE_MAX_; i++) {
    unsigned char c = (unsigned char)l.text[i];
    if (c == 033 && i + 1 < l.n && l.text[i + 1] == '[') {
      for (i += 2; i < l.n && !isalpha((unsigned char)l.text[i]);)
        i++;
    } else if (c == '\t' || c >= ' ') {
      str_addc(&s, (char)c);
    }
  }
  while (s.len && isspace((unsigned char)s.data[s.len - 1]))
    s.data[--s.len] = '\0';
  const char *text = str_text(&s);
  Str valid = {0}; // UTF-8, whatever the test wrote
  escape_add(&valid, text + strspn(text, " \t"));
  char *line = mem_strdup(str_text(&valid));
  str_release(&valid);
  str_release(&s);
  return line;
}

// Is the number at `s` that of a line, as in "parse.c:12"?
static bool is_line_number(const char *start, const char *s) {
  if (s == start || s[-1] != ':' || !isdigit((unsigned char)*s))
    return false;
  const char *p = s - 1;
  while (p > start && isalpha((unsigned char)p[-1]))
    p--;
  return p > start + 1 && p < s - 1 && p[-1] == '.' && is_word_char(p[-2]);
}

// --- what a line says -------------------------------------------------------

#define WORD(w) "(^|[^a-z0-9_])" w "([^a-z0-9_]|$)"

// "3 failed", "failures: 0", "2 of 9 tests", "some tests failed"; the last line of
// automake's logs; but not "failed: 1,2+1", which is about one
static const char summary_pattern[] =
    "(^ *|[a-z] +|={3,} *|[^-+a-z0-9_.:=<>!*/ ] *)[0-9]+ *"
    "(of [0-9]+ *|/ *[0-9]+ *)?"
    "(tests?|test\\(s\\)|cases?|examples?|failures?|failed|fails?|passed|ok|"
    "checks?|asserts?|assertions?|errors?|suites?)([^a-z0-9_]|$)|"
    "(tests?|run|failures?|failed|fails?|passed|checks?|asserts?|assertions?|"
    "errors?)[^a-z0-9]*[:=] *[0-9]+([^0-9a-z_.,+*-]|, *[a-z]|$)|"
    "(^|[^a-z])((no|all|some) (tests?|failures?|errors?)|summary|synthesis)|"
    "\\(exit status: [0-9]+\\)$";
static const char failure_pattern[] =
    WORD("(fail|failed|failure|fails)") "|^ *not ok|assert|"
                                        "expected.*(got|but|was|actual|found|"
                                        "received|to be)|"
                                        "(got|was|actual).*expected|\\.(c|h|cc|"
                                        "cpp):[0-9]+:? *error";
// What a build says beside: make's own words, warnings and their excerpts.
static const char noise_pattern[] =
    "^g?make(\\[[0-9]+\\])?: |: (warning|note): |^In file included|"
    "warnings? generated|^[0-9]* *\\|";
// A count of failures that is not 0: "fail: 1", "2 failures".
static const char count_pattern[] =
    "(fail|failed|failures?|fails|errors?)[^a-z0-9]*[:=] *0*[1-9]|"
    "(^|[^a-z0-9_.:/])0*[1-9][0-9]* *(failed|failures?|fails?|errors?)"
    "([^a-z0-9_]|$)";
static const char error_pattern[] = WORD("(error|fatal|panic|bug|wrong)");

typedef struct {
  regex_t summary, failure, error, noise, count;
  bool ready;
} Patterns;

static const Patterns *patterns(void) {
  static Patterns p;
  int flags = REG_EXTENDED | REG_NOSUB | REG_ICASE;
  if (!p.ready) {
    regcomp(&p.summary, summary_pattern, flags);
    regcomp(&p.failure, failure_pattern, flags);
    regcomp(&p.error, error_pattern, flags);
    regcomp(&p.noise, noise_pattern, flags);
    regcomp(&p.count, count_pattern, flags);
    p.ready = true;
  }
  return &p;
}

static bool matches(const regex_t *r, const char *line) {
  return !regexec(r, line, 0, NULL, 0);
}

// A line that names a place is about one thing.
static bool is_summary(const char *line) {
  for (const char *s = line; *s; s++)
    if (is_line_number(line, s))
      return false;
  return matches(&patterns()->summary, line);
}

bool message_says_failed(const char *text, size_t n, const regex_t *also) {
  const Patterns *p = patterns();
  OutputLines lines = {0};
  bool failed = false, summed = false;
  split(text, n, &lines);
  for (size_t i = 0; i < lines.len && !failed && !summed; i++) {
    char *line = plain(lines.items[i]);
    summed = is_summary(line);
    failed =
        (also && matches(also, line)) ||
        (!summed && !matches(&p->noise, line) && matches(&p->failure, line));
    free(line);
  }
  array_release(&lines);
  return failed;
}

bool message_counts_failures(const char *text, size_t n) {
  OutputLines lines = {0};
  bool counts = false;
  split(text, n, &lines);
  for (size_t i = 0; i < lines.len && !counts; i++) {
    char *line = plain(lines.items[i]);
    counts = is_summary(line) && matches(&patterns()->count, line);
    free(line);
  }
  array_release(&lines);
  return counts;
}

size_t message_summary(const char *text, size_t n) {
  OutputLines lines = {0};
  size_t at = n;
  split(text, n, &lines);
  for (size_t i = 0; i < lines.len && at == n; i++) {
    char *line = plain(lines.items[i]);
    if (is_summary(line))
      at = (size_t)(lines.items[i].text - text);
    free(line);
  }
  array_release(&lines);
  return at;
}

void message_lines(const char *text, size_t n,
                   bool visit(void *context, const char *line), void *context) {
  OutputLines lines = {0};
  bool go_on = true;
  split(text, n, &lines);
  for (size_t i = 0; i < lines.len && go_on; i++) {
    char *line = plain(lines.items[i]);
    go_on = visit(context, line);
    free(line);
  }
  array_release(&lines);
}

// The name of the test is the first group, its iteration the second.
static const char *const failing[] = {
    ":[FE]:[^:]*:([^:]+):(-?[0-9]+): ",     // Check
    "^\\[FAIL\\] ([^ ]+::[^ :]+)",          // Criterion
    "^\\[ *FAILED *\\] ([^ ]+)$",           // cmocka
    "^ *Suite .*, Test (.*) had failures:", // CUnit
    "^[^ :]+:[0-9]+:([^: ]+):FAIL",         // Unity
    "^([A-Za-z_][A-Za-z_0-9]*) failed:$",   // minunit
};
static const char *const skipping[] = {
    "^\\[SKIP\\] ([^ ]+::[^ :]+)",         // Criterion
    "^\\[ *SKIPPED *\\] ([^ ]+)$",         // cmocka
    "^not ok [0-9]+ # SKIP ([^ ]+)$",      //   writing TAP
    "^[^ :]+:[0-9]+:([^: ]+):IGNORE",      // Unity
    "^ok [0-9]+ -? ?([^ #]+) +# *SKIP\\b", // GLib
    "^(/[^ :]+): SKIP",                    //   before it wrote TAP
};
#define COUNT(a) (sizeof(a) / sizeof *(a))

static bool find_name(const char *const *patterns, regex_t *compiled, size_t n,
                      const char *line, char **name, long *iteration) {
  regmatch_t groups[3];
  for (size_t i = 0; i < n; i++) {
    if (!compiled[i].re_nsub)
      regcomp(&compiled[i], patterns[i], REG_EXTENDED);
    if (regexec(&compiled[i], line, 3, groups, 0))
      continue;
    *name = mem_printf("%.*s", (int)(groups[1].rm_eo - groups[1].rm_so),
                       line + groups[1].rm_so);
    bool said = compiled[i].re_nsub > 1 && groups[2].rm_so >= 0;
    *iteration = said ? strtol(line + groups[2].rm_so, NULL, 10) : -1;
    return true;
  }
  return false;
}

bool message_names_failed(const char *line, char **name, long *iteration) {
  static regex_t compiled[COUNT(failing)];
  return find_name(failing, compiled, COUNT(failing), line, name, iteration);
}

bool message_names_skipped(const char *line, char **name) {
  static regex_t compiled[COUNT(skipping)];
  long ignored;
  return find_name(skipping, compiled, COUNT(skipping), line, name, &ignored);
}

// Its directive, behind the "#": "SKIP why"; NULL: none.
static const char *tap_directive(const char *line) {
  for (const char *at = line; (at = strchr(at, '#')); at++) {
    const char *word = at + 1 + strspn(at + 1, " ");
    if (!strncasecmp(word, "skip", 4) || !strncasecmp(word, "todo", 4))
      return word;
  }
  return NULL;
}

TapLine message_tap(const char *line) {
  line += strspn(line, " ");
  bool not_ok = text_starts(line, "not ok");
  const char *rest = line + (not_ok ? 6 : 2);
  if ((!not_ok && !text_starts(line, "ok")) || is_word_char(*rest))
    return TAP_NOTHING;
  const char *directive = tap_directive(rest);
  if (directive)
    return strncasecmp(directive, "skip", 4) ? TAP_OK : TAP_SKIPPED;
  return not_ok ? TAP_NOT_OK : TAP_OK;
}

char *message_tap_title(const char *line, size_t number) {
  line += strspn(line, " ");
  line += text_starts(line, "not ok") ? 6 : 2;
  line += strspn(line, " ");
  size_t digits = strspn(line, "0123456789");
  if (digits && !is_word_char(line[digits])) {
    number = strtoul(line, NULL, 10);
    line += digits;
  }
  line += strspn(line, " -");
  const char *directive = tap_directive(line);
  size_t n = directive ? (size_t)(directive - line) : strlen(line);
  while (n && strchr(directive ? " #" : " ", line[n - 1]))
    n--;
  n = n < TITLE_MOST ? n : TITLE_MOST;
  while (n && ((unsigned char)line[n] & 0xc0) == 0x80)
    n--; // whole characters
  return mem_printf("%zu%s%.*s", number, n ? " - " : "", (int)n, line);
}

// --- signatures -------------------------------------------------------------

// Length of the quoted value at `s`, 0: none. 'don't' has none.
static size_t quoted(const char *start, const char *s) {
  char end = *s == '`' ? '\'' : *s;
  if ((*s != '"' && *s != '\'' && *s != '`') ||
      (s > start && is_word_char(s[-1])))
    return 0;
  for (const char *e = s + 1; *e; e++)
    if (*e == end && (end == '"' || !is_word_char(e[1])))
      return (size_t)(e - s) + 1;
  return 0;
}

// Length of the name of a temporary file at `s`, 0: none.
static size_t temporary(const char *s) {
  static const char *const places[] = {"/tmp/", "/var/tmp/", "/dev/shm/"};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++)
    if (!strncmp(s, places[i], strlen(places[i])))
      return strcspn(s, " \t:;,'\")");
  return 0;
}

// Length of the number at `s` with sign, point, exponent and letters of hex.
static size_t number(const char *s) {
  size_t n = 0;
  if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
    return 2 + strspn(s + 2, "0123456789abcdefABCDEF");
  n += *s == '-' || *s == '+';
  if (!isdigit((unsigned char)s[n]))
    return 0;
  n += strspn(s + n, "0123456789");
  if (s[n] == '.' && isdigit((unsigned char)s[n + 1]))
    n += 1 + strspn(s + n + 1, "0123456789");
  return n;
}

void message_normalise(const char *line, Str *out) {
  for (const char *s = line; *s;) {
    size_t n;
    bool in_word = s > line && is_word_char(s[-1]);
    if ((n = quoted(line, s))) {
      str_add(out, "'...'");
    } else if (!in_word && (n = temporary(s))) {
      str_add(out, "/tmp/...");
    } else if ((n = is_line_number(line, s) ? strspn(s, "0123456789") : 0)) {
      str_addn(out, s, n);
    } else if (!in_word && (n = number(s))) {
      str_addc(out, 'N');
    } else {
      n = 1;
      str_addc(out, *s);
    }
    s += n;
  }
}

// "tests/a.c:12" in the line, or "".
static char *find_place(const char *line) {
  for (const char *s = line; *s; s++) {
    if (!is_line_number(line, s))
      continue;
    const char *begin = s - 1;
    while (begin > line &&
           (is_word_char(begin[-1]) || strchr("./+-", begin[-1])))
      begin--;
    return mem_printf("%.*s", (int)(s + strspn(s, "0123456789") - begin),
                      begin);
  }
  return mem_strdup("");
}

bool message_blames_place(const char *text, size_t n) {
  OutputLines lines = {0};
  bool blames = false;
  split(text, n, &lines);
  for (size_t i = 0; i < lines.len && !blames; i++) {
    char *line = plain(lines.items[i]), *place = find_place(line);
    blames = *place && !is_summary(line) && matches(&patterns()->failure, line);
    free(line);
    free(place);
  }
  array_release(&lines);
  return blames;
}

// --- the message ------------------------------------------------------------

// How much a line says about a failure.
enum { NOISE_LINE, SUMMARY_LINE, ANY_LINE, ERROR_LINE, FAILURE_LINE };

static int weight(const char *line) {
  const Patterns *p = patterns();
  if (matches(&p->noise, line))
    return NOISE_LINE;
  if (is_summary(line))
    return SUMMARY_LINE;
  if (matches(&p->failure, line))
    return FAILURE_LINE;
  return matches(&p->error, line) ? ERROR_LINE : ANY_LINE;
}

// The last of those that say most, and how much that is.
static size_t choose(const OutputLines *lines, int *weight_of_it) {
  size_t from = lines->len > LOOKED_AT ? lines->len - LOOKED_AT : 0;
  size_t best = 0;
  int most = -1;
  for (size_t i = from; i < lines->len; i++) {
    char *line = plain(lines->items[i]);
    int w = weight(line);
    if (w >= most) {
      most = w;
      best = i;
    }
    free(line);
  }
  *weight_of_it = most;
  return best;
}

// From the chosen line on; lines before it where too few follow.
static char *around(const OutputLines *lines, size_t chosen) {
  size_t first = chosen, end = chosen + SHOWN;
  Str text = {0};
  if (end > lines->len) {
    end = lines->len;
    first = end > SHOWN ? end - SHOWN : 0;
  }
  for (size_t i = first; i < end; i++) {
    char *line = plain(lines->items[i]);
    str_addf(&text, "%s%s", text.len ? "\n" : "", line);
    free(line);
  }
  char *copy = mem_strdup(str_text(&text));
  str_release(&text);
  return copy;
}

static void fill(Message *m, const OutputLines *lines, size_t chosen) {
  Str signature = {0};
  m->line = plain(lines->items[chosen]);
  m->text = around(lines, chosen);
  m->place = find_place(m->line);
  message_normalise(m->line, &signature);
  m->signature = mem_strdup(str_text(&signature));
  str_release(&signature);
}

bool message_find(const char *text, size_t n, bool choosy, Message *out) {
  OutputLines lines = {0};
  int most;
  *out = (Message){0};
  split(text, n, &lines);
  size_t chosen = choose(&lines, &most);
  bool found = most >= (choosy ? ERROR_LINE : ANY_LINE);
  if (found)
    fill(out, &lines, chosen);
  array_release(&lines);
  return found;
}
