// html_check: one page through all parts, and what is a page at all.
#include "oracle/html/html_check.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "oracle/html/html_balance.h"
#include "oracle/html/html_model.h"
#include "oracle/html/html_tidy.h"

enum { SNIFF_MAX = 4096 };

// A parse error wherever it stands: in text, tags, comments and scripts. All
// NULs of a page are one fault.
static void check_nulls(Faults *f) {
  long fault = NO_FAULT;
  const char *end = f->page + f->len;
  for (const char *p = f->page; (p = memchr(p, '\0', end - p)); p++) {
    if (fault == NO_FAULT)
      fault = faults_add(f, NULL_CHARACTER, "", "a NUL byte in the page");
    if (fault == NO_FAULT) // its key is off
      return;
    faults_place(f, fault, p - f->page, 1, "this byte");
  }
}

int html_check(const char *page, size_t len, const HtmlOptions *o,
               HtmlFault **out, size_t *n, Arena *arena, Err *err) {
  *out = NULL;
  *n = 0;
  if (len > HTML_PAGE_MAX)
    return err_set(err, "a page of %zu bytes is too large to be checked", len);
  Faults faults;
  if (faults_init(&faults, page, len, o, arena, err) != 0)
    return -1;
  HtmlTokens tokens = {.xhtml = o->xhtml};
  Balance balance;
  check_nulls(&faults);
  tokens_read(&tokens, page, len, &faults);
  balance_check(&balance, &tokens, &faults, o);
  model_confirm(&balance, page, len);
  tidy_check(&balance, page, len);
  faults_finish(&faults, out, n);
  balance_release(&balance);
  tokens_release(&tokens);
  faults_release(&faults);
  return 0;
}

// --- is it a page? ----------------------------------------------------------

static bool type_is(const char *type, const char *wanted) {
  size_t n = strlen(wanted);
  type += strspn(type, " \t");
  return strncasecmp(type, wanted, n) == 0 &&
         (!type[n] || strchr("; \t\r\n", type[n]));
}

// Skips what may stand before a page: spaces, comments, <?xml ?>.
static size_t skip_prologue(const char *body, size_t len) {
  size_t i = len >= 3 && !memcmp(body, "\xef\xbb\xbf", 3) ? 3 : 0;
  for (;;) {
    while (i < len && isspace((unsigned char)body[i]))
      i++;
    const char *end = NULL;
    size_t left = len - i;
    if (left >= 4 && !memcmp(body + i, "<!--", 4))
      end = memmem(body + i + 4, left - 4, "-->", 3);
    else if (left >= 5 && !memcmp(body + i, "<?xml", 5))
      end = memchr(body + i, '>', left);
    if (!end)
      return i;
    i = end - body + (*end == '>' ? 1 : 3);
  }
}

static bool starts_with(const char *p, size_t len, const char *text) {
  size_t n = strlen(text);
  return n <= len && strncasecmp(p, text, n) == 0;
}

// Does it start with a tag of HTML?
static bool starts_with_tag(const char *p, size_t len) {
  char name[16];
  size_t n = 0;
  if (starts_with(p, len, "<!doctype html"))
    return true;
  if (!len || *p != '<')
    return false;
  for (; n < sizeof name && n + 1 < len && isalnum((unsigned char)p[n + 1]);
       n++)
    name[n] = tolower((unsigned char)p[n + 1]);
  size_t element = n ? element_find(name, n) : EL_COUNT;
  char next = n + 1 < len ? p[n + 1] : '\0';
  return element < EL_COUNT && element != EL_SVG && element != EL_MATH &&
         (next == '>' || next == '/' || isspace((unsigned char)next));
}

// Is there a tag that only pages have, behind other text?
static bool has_page_tag(const char *body, size_t len) {
  static const char *const tags[] = {"<!doctype html", "<html", "<body",
                                     "</body", "</html"};
  for (size_t i = 0; i < len; i++)
    for (size_t k = 0; body[i] == '<' && k < sizeof tags / sizeof *tags; k++)
      if (starts_with(body + i, len - i, tags[k]))
        return true;
  return false;
}

static bool has_tag(const char *body, size_t len) {
  for (size_t i = 0; i < len; i++)
    if (body[i] == '<' && starts_with_tag(body + i, len - i))
      return true;
  return false;
}

// NULs in its first bytes, and no tag: an image, an archive, UTF-16.
static bool is_binary(const char *body, size_t len) {
  size_t sniffed = len < SNIFF_MAX ? len : SNIFF_MAX;
  return memchr(body, '\0', sniffed) && !has_tag(body, sniffed);
}

// As PHP programs send it with the content type they have by default.
static bool looks_like_json(const char *body, size_t start, size_t len) {
  while (len > start && isspace((unsigned char)body[len - 1]))
    len--;
  return start < len && ((body[start] == '{' && body[len - 1] == '}') ||
                         (body[start] == '[' && body[len - 1] == ']'));
}

static bool is_given(const char *content_type) {
  return content_type && content_type[strspn(content_type, " \t")];
}

static bool is_html_type(const char *content_type) {
  return type_is(content_type, "text/html") ||
         type_is(content_type, "application/xhtml+xml");
}

bool html_is_binary(const char *content_type, const char *body, size_t len) {
  return is_given(content_type) && is_html_type(content_type) &&
         is_binary(body, len);
}

bool html_is_page(const char *content_type, const char *body, size_t len) {
  size_t sniffed = len < SNIFF_MAX ? len : SNIFF_MAX;
  bool given = is_given(content_type);
  if (given && !is_html_type(content_type))
    return false;
  size_t start = skip_prologue(body, len);
  if (start == len || is_binary(body, len) || looks_like_json(body, start, len))
    return false;
  return given || starts_with_tag(body + start, len - start) ||
         has_page_tag(body, sniffed);
}
