// Character references and bare < in text. HTML5's 2231 entity names are
// Gumbo's: a name is looked up by having it decode one.
#include "oracle/html/html_text.h"

#include <ctype.h>
#include <gumbo.h>
#include <stdint.h>
#include <string.h>

#include "util/str.h"

enum { ENTITY_NAME_MAX = 32 };

// Does Gumbo decode "&name;" whole?
static bool decodes(const char *name, size_t len) {
  char text[ENTITY_NAME_MAX + 3];
  text[0] = '&';
  memcpy(text + 1, name, len);
  text[len + 1] = ';';
  GumboOptions options = kGumboDefaultOptions;
  options.fragment_context = GUMBO_TAG_DIV;
  GumboOutput *tree = gumbo_parse_with_options(&options, text, len + 2);
  GumboVector *children = &tree->root->v.element.children;
  bool known = false;
  if (children->length == 1) {
    GumboNode *node = children->data[0];
    bool is_text =
        node->type == GUMBO_NODE_TEXT || node->type == GUMBO_NODE_WHITESPACE;
    known = is_text && !text_ends(node->v.text.text, ";");
  }
  gumbo_destroy_output(&options, tree);
  return known;
}

static bool entity_known(const char *name, size_t len, Hashmap *known) {
  uint64_t value;
  if (hashmap_get(known, name, len, &value))
    return value;
  value = decodes(name, len);
  hashmap_put(known, name, len, value);
  return value;
}

// Is the number after &# that of a character? Reads up to `end`.
static bool number_good(const char *p, const char *end) {
  int base = p < end && (*p == 'x' || *p == 'X') ? 16 : 10;
  p += base == 16;
  uint32_t value = 0;
  const char *first = p;
  for (; p < end && isxdigit((unsigned char)*p); p++) {
    int digit = isdigit((unsigned char)*p) ? *p - '0' : (*p | 32) - 'a' + 10;
    if (digit >= base)
      break;
    value = value > 0x110000 ? value : value * base + digit;
  }
  bool surrogate = value >= 0xd800 && value <= 0xdfff;
  return p > first && value && value <= 0x10ffff && !surrogate;
}

// The reference at `at`, an &.
static void check_reference(Faults *f, size_t at, size_t end, Hashmap *known) {
  const char *name = f->page + at + 1;
  size_t len = 0, room = end - at - 1;
  if (room && *name == '#') {
    if (room > 1 && (isalnum((unsigned char)name[1]) || name[1] == ';') &&
        !number_good(name + 1, f->page + end))
      faults_add_at(f, UNKNOWN_REFERENCE, "",
                    "a numeric character reference that is no character", at, 2,
                    "this reference");
    return;
  }
  while (len < room && len < ENTITY_NAME_MAX &&
         isalnum((unsigned char)name[len]))
    len++;
  if (!len || !isalpha((unsigned char)*name))
    return;
  bool closed = len < room && name[len] == ';';
  if (closed && !entity_known(name, len, known))
    faults_add_at(f, UNKNOWN_REFERENCE, "",
                  "a character reference HTML does not know", at, len + 2,
                  "this reference");
  if (!closed && f->on[ENTITY_SEMICOLON] && entity_known(name, len, known))
    faults_add_at(f, ENTITY_SEMICOLON, "",
                  "a character reference without its semicolon", at, len + 1,
                  "this reference");
}

static void check_references(Faults *f, size_t start, size_t end,
                             Hashmap *known) {
  const char *page = f->page;
  for (size_t at = start; at < end; at++) {
    const char *amp = memchr(page + at, '&', end - at);
    if (!amp)
      return;
    at = amp - page;
    check_reference(f, at, end, known);
  }
}

// All bare < of one text are one fault.
static void check_bare(Faults *f, size_t start, size_t end) {
  const char *page = f->page;
  long fault = NO_FAULT;
  for (size_t at = start; at < end; at++) {
    const char *less = memchr(page + at, '<', end - at);
    if (!less)
      return;
    at = less - page;
    if (fault == NO_FAULT)
      fault = faults_add(f, UNESCAPED_LT, "",
                         "a < in text that should be written &lt;");
    faults_place(f, fault, at, 1, "this <");
  }
}

void text_check(Faults *f, size_t start, size_t end, Hashmap *known) {
  check_references(f, start, end, known);
  check_bare(f, start, end);
}
