// The tokenizer.
//
//   <p class="a>x</p> <b class="c">   unclosed-quote at class="a>; <p> ends at
//                                     its first >, and <b> is a tag again
//
// A quote counts as unclosed if the value it would have has a > in it and what
// comes behind the value shows that the closing quote was meant to open one.
// Values with markup in them (title="<b>", onclick="a>b") are fine.
#include "oracle/html/html_token.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

#include "oracle/html/html_text.h"
#include "oracle/html/html_value.h"

enum {
  ATTRIBUTES_MAX = 64, // of one tag that are compared with each other
  PLAIN_NAME_MAX = 40,
};

typedef struct {
  size_t name, name_len, value, value_len;
} TokenAttribute;

typedef struct {
  const char *page;
  size_t len, pos;
  HtmlTokens *out;
  Faults *faults;
  Hashmap ids;      // other names -> element number
  Hashmap entities; // name -> known?
  size_t foreign;   // how many <svg>, <math> are open
  bool no_quote[2]; // no further " or ' in the page
  bool no_end[EL_COUNT];
  TokenAttribute attributes[ATTRIBUTES_MAX];
  size_t nattributes;
} Reader;

// --- bytes ------------------------------------------------------------------

static bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static char at(const Reader *r, size_t pos) {
  return pos < r->len ? r->page[pos] : '\0';
}

// The next `c` at or behind `pos`; the end of the page if there is none.
static size_t find(const Reader *r, size_t pos, char c) {
  const char *p = pos < r->len ? memchr(r->page + pos, c, r->len - pos) : NULL;
  return p ? (size_t)(p - r->page) : r->len;
}

static size_t find_text(const Reader *r, size_t pos, const char *text) {
  const char *p = pos < r->len
                      ? memmem(r->page + pos, r->len - pos, text, strlen(text))
                      : NULL;
  return p ? (size_t)(p - r->page) : r->len;
}

static bool looking_at(const Reader *r, size_t pos, const char *text) {
  size_t n = strlen(text);
  return pos <= r->len && n <= r->len - pos &&
         strncasecmp(r->page + pos, text, n) == 0;
}

// Is this "<name" or "</name", and nothing longer?
static bool tag_at(const Reader *r, size_t pos, const char *open,
                   const char *name) {
  size_t n = strlen(open), all = n + strlen(name);
  if (!looking_at(r, pos, open) || !looking_at(r, pos + n, name))
    return false;
  char c = at(r, pos + all);
  return pos + all >= r->len || is_space(c) || c == '>' || c == '/';
}

// --- tokens -----------------------------------------------------------------

static void lower(char *to, const char *from, size_t n) {
  for (size_t i = 0; i < n; i++)
    to[i] = from[i] >= 'A' && from[i] <= 'Z' ? from[i] + ('a' - 'A') : from[i];
}

// Is it a name someone chose, and not text that came after a <?
static bool is_plain(const char *name, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!is_letter(name[i]) && !(name[i] >= '0' && name[i] <= '9') &&
        name[i] != '-' && name[i] != ':')
      return false;
  return n <= PLAIN_NAME_MAX;
}

// The number of the element whose name is page[start, start + n).
static size_t name_element(Reader *r, size_t start, size_t n) {
  char small[64];
  Arena *arena = r->faults->arena;
  char *name = n <= sizeof small ? small : arena_alloc(arena, n);
  lower(name, r->page + start, n);
  size_t element = element_find(name, n);
  if (element < EL_COUNT)
    return element;
  size_t fresh = EL_COUNT + r->out->names.len;
  element = hashmap_intern(&r->ids, name, n, fresh);
  if (element == fresh)
    array_push(&r->out->names,
               is_plain(name, n) ? arena_strndup(arena, name, n) : "");
  return element;
}

static HtmlToken *push(Reader *r, HtmlTokenKind kind, size_t element,
                       size_t start, size_t end) {
  array_push(&r->out->list, (HtmlToken){.kind = kind,
                                        .element = element,
                                        .offset = start,
                                        .length = end - start});
  return &array_last(&r->out->list);
}

static bool is_blank(const Reader *r, size_t start, size_t end) {
  while (start < end && is_space(r->page[start]))
    start++;
  return start == end;
}

static void push_text(Reader *r, size_t start, size_t end) {
  if (is_blank(r, start, end))
    return;
  text_check(r->faults, start, end, &r->entities);
  while (is_space(r->page[start]))
    start++;
  while (is_space(r->page[end - 1]))
    end--;
  push(r, TOKEN_TEXT, EL_COUNT, start, end);
}

// --- attributes -------------------------------------------------------------

static bool attribute_is(const Reader *r, const TokenAttribute *a,
                         const char *name) {
  return a->name_len == strlen(name) &&
         strncasecmp(r->page + a->name, name, a->name_len) == 0;
}

// Reports `a` if the tag has one of that name already.
static void check_twice(Reader *r, HtmlToken *tag, const TokenAttribute *a) {
  for (size_t i = 0; i < r->nattributes; i++) {
    const TokenAttribute *b = &r->attributes[i];
    if (a->name_len != b->name_len ||
        strncasecmp(r->page + a->name, r->page + b->name, a->name_len))
      continue;
    long n = faults_add_at(
        r->faults, DUPLICATE_ATTRIBUTE, tokens_name(r->out, tag->element),
        "an attribute is given twice; the second one has no effect", a->name,
        a->name_len, "given again here");
    faults_place(r->faults, n, b->name, b->name_len, "given here");
    tag->broken = true;
    return;
  }
}

static void take_attribute(Reader *r, HtmlToken *tag, const TokenAttribute *a) {
  if (!a->name_len || tag->kind == TOKEN_END)
    return;
  if (!tag->broken)
    check_twice(r, tag, a);
  if (r->nattributes < ATTRIBUTES_MAX)
    r->attributes[r->nattributes++] = *a;
  if (attribute_is(r, a, "id") && !tag->id_length) {
    tag->id = a->value;
    tag->id_length = a->value_len;
  }
  if (attribute_is(r, a, "type") && a->value_len == 6 &&
      looking_at(r, a->value, "hidden"))
    tag->hidden = true;
  if (value_is_odd(tag->element, r->page + a->name, a->name_len,
                   r->page + a->value, a->value_len))
    tag->odd = r->out->odd = true;
}

static void report_quote(Reader *r, HtmlToken *tag, HtmlRule rule,
                         const char *message, size_t start, size_t end,
                         const char *what) {
  if (!tag->broken)
    faults_add_at(r->faults, rule, tokens_name(r->out, tag->element), message,
                  start, end - start, what);
  tag->broken = true;
}

// Did the quote that ends the value at `close` open another value?
static bool quote_swallows(const Reader *r, size_t value, size_t close) {
  if (close > r->len || !memchr(r->page + value, '>', close - value))
    return false;
  if (close == r->len)
    return true;
  size_t last = close;
  while (last > value && is_space(r->page[last - 1]))
    last--;
  if (last > value && r->page[last - 1] == '=')
    return true;
  char next = at(r, close + 1);
  return close + 1 < r->len && !is_space(next) && next != '>' && next != '/' &&
         memchr(r->page + value, '<', close - value);
}

// The quote at page[pos - 1] has no partner in its tag: the tag ends at its
// first >, or with the page.
static size_t recover_quote(Reader *r, HtmlToken *tag, const TokenAttribute *a,
                            size_t pos, size_t close) {
  size_t end = find(r, pos, '>');
  if (end == r->len)
    r->out->swallowed = true;
  if (!tag->broken) {
    long n = faults_add_at(r->faults, UNCLOSED_QUOTE,
                           tokens_name(r->out, tag->element),
                           "the quote of an attribute is not closed", a->name,
                           end - a->name, "opened here");
    if (close < r->len)
      faults_place(r->faults, n, close, 1, "the next quote is here");
  }
  tag->broken = true;
  return end;
}

static size_t find_quote(Reader *r, size_t pos, char quote) {
  bool *none = &r->no_quote[quote == '\''];
  size_t close = *none ? r->len : find(r, pos, quote);
  *none |= close == r->len;
  return close;
}

// The value whose quote is at `pos`; gives the position behind it.
static size_t read_quoted(Reader *r, HtmlToken *tag, TokenAttribute *a,
                          size_t pos) {
  size_t close = find_quote(r, pos + 1, r->page[pos]);
  a->value = pos + 1;
  if (close == r->len || quote_swallows(r, pos + 1, close))
    return recover_quote(r, tag, a, pos + 1, close);
  a->value_len = close - a->value;
  char next = at(r, close + 1);
  if (close + 1 < r->len && !is_space(next) && next != '>' && next != '/')
    faults_add_at(r->faults, ATTRIBUTE_SPACE, tokens_name(r->out, tag->element),
                  "no space between attributes", close, 2, "here");
  return close + 1;
}

static bool starts_tag(const Reader *r, size_t pos) {
  char next = at(r, pos + 1);
  return at(r, pos) == '<' && (is_letter(next) || next == '/' || next == '!');
}

static size_t read_unquoted(Reader *r, HtmlToken *tag, TokenAttribute *a,
                            size_t pos) {
  size_t start = pos;
  while (pos < r->len && !is_space(r->page[pos]) && r->page[pos] != '>' &&
         !starts_tag(r, pos))
    pos++;
  a->value = start;
  a->value_len = pos - start;
  for (size_t i = start; i < pos; i++)
    if (r->page[i] == '"' || (r->page[i] == '\'' && i + 1 == pos))
      report_quote(r, tag, STRAY_QUOTE,
                   "a quote inside a value that has none around it", start, pos,
                   "this value");
  return pos;
}

// One attribute at `pos`, which is at no space, / or >.
static size_t read_attribute(Reader *r, HtmlToken *tag, size_t pos) {
  TokenAttribute a = {.name = pos};
  bool quote = false;
  do
    quote |= r->page[pos] == '"' || r->page[pos] == '\'';
  while (++pos < r->len && !is_space(r->page[pos]) && r->page[pos] != '>' &&
         r->page[pos] != '/' && r->page[pos] != '=' && r->page[pos] != '<');
  a.name_len = pos - a.name;
  if (quote)
    report_quote(r, tag, STRAY_QUOTE, "a quote between attributes", a.name, pos,
                 "this quote");
  size_t equals = pos;
  while (is_space(at(r, equals)))
    equals++;
  if (at(r, equals) == '=') {
    pos = equals + 1;
    while (is_space(at(r, pos)))
      pos++;
    char c = at(r, pos);
    if (c == '"' || c == '\'')
      pos = read_quoted(r, tag, &a, pos);
    else
      pos = read_unquoted(r, tag, &a, pos);
  }
  take_attribute(r, tag, &a);
  return pos;
}

static void report_unfinished(Reader *r, HtmlToken *tag, size_t end) {
  if (!tag->broken) {
    long n = faults_add_at(r->faults, UNFINISHED_TAG,
                           tokens_name(r->out, tag->element),
                           "a tag without its closing >", tag->offset,
                           end - tag->offset, "this tag");
    if (end < r->len)
      faults_place(r->faults, n, end, 1, "the next tag starts here");
  }
  tag->broken = true;
}

// Reads attributes from `pos` up to the > of the tag; gives the position
// behind.
static size_t read_attributes(Reader *r, HtmlToken *tag, size_t pos) {
  r->nattributes = 0;
  while (pos < r->len) {
    char c = r->page[pos];
    if (c == '>')
      return pos + 1;
    if (c == '<') {
      report_unfinished(r, tag, pos);
      return pos;
    }
    tag->self_closing = c == '/' && at(r, pos + 1) == '>';
    pos = is_space(c) || c == '/' ? pos + 1 : read_attribute(r, tag, pos);
  }
  report_unfinished(r, tag, r->len);
  r->out->swallowed = true;
  return r->len;
}

// --- text that is not read as tags ------------------------------------------

// The </script> that ends a script, behind <!-- and <script> in it.
static size_t script_end(const Reader *r, size_t pos) {
  size_t escape_end = 0; // of the <!-- we are in
  bool doubled = false;  // in a <script> in it
  for (; (pos = find(r, pos, '<')) < r->len; pos++) {
    bool escaped = pos < escape_end;
    doubled = doubled && escaped;
    if (!escaped && looking_at(r, pos, "<!--"))
      escape_end = find_text(r, pos + 2, "-->");
    else if (escaped && tag_at(r, pos, "<", "script"))
      doubled = true;
    else if (tag_at(r, pos, "</", "script")) {
      if (!doubled)
        return pos;
      doubled = false;
    }
  }
  return r->len;
}

static size_t plain_end(const Reader *r, size_t pos, const char *name) {
  for (; (pos = find(r, pos, '<')) < r->len; pos++)
    if (tag_at(r, pos, "</", name))
      return pos;
  return r->len;
}

static size_t raw_end(Reader *r, size_t pos, size_t element) {
  if (r->no_end[element])
    return r->len;
  const char *name = element_info[element].name;
  size_t end = r->len;
  if (element == EL_SCRIPT)
    end = script_end(r, pos);
  if (end == r->len)
    end = plain_end(r, pos, name);
  r->no_end[element] = end == r->len;
  return end;
}

// Where the text of an element without its end tag was meant to end.
static size_t meant_end(const Reader *r, size_t pos, size_t element) {
  for (; (pos = find(r, pos, '<')) < r->len; pos++) {
    if (element == EL_TITLE && starts_tag(r, pos))
      return pos;
    if (tag_at(r, pos, "</", "head") || tag_at(r, pos, "<", "body") ||
        tag_at(r, pos, "</", "body") || tag_at(r, pos, "</", "html") ||
        (element == EL_TEXTAREA && tag_at(r, pos, "</", "form")))
      return pos;
  }
  return r->len;
}

static size_t raw_unclosed(Reader *r, const HtmlToken *tag, size_t pos) {
  size_t end = meant_end(r, pos, tag->element), behind = find(r, end, '>');
  long n = faults_add_at(
      r->faults, UNCLOSED_ELEMENT, element_info[tag->element].name,
      "an element is not closed", tag->offset, tag->length, "opened here");
  if (end < r->len)
    faults_place(r->faults, n, end, behind < r->len ? behind + 1 - end : 1,
                 "should be closed before this");
  else
    faults_place_end(r->faults, n);
  r->out->swallowed |= end == r->len;
  return end;
}

// Skips the text of script, title and such. The start tag is the last token;
// if its end tag is missing, it is taken off again.
static size_t read_raw(Reader *r, size_t pos) {
  HtmlToken tag = array_last(&r->out->list);
  if (tag.element == EL_PLAINTEXT)
    return r->len;
  size_t end = raw_end(r, pos, tag.element);
  if (end < r->len)
    return end;
  r->out->list.len--;
  return raw_unclosed(r, &tag, pos);
}

// --- markup -----------------------------------------------------------------

static void report_self_closing(Reader *r, const HtmlToken *tag) {
  faults_add_at(r->faults, SELF_CLOSING_TAG, tokens_name(r->out, tag->element),
                "an element that cannot close itself ends with />; browsers "
                "leave it open",
                tag->offset, tag->length, "this tag");
}

static void count_foreign(Reader *r, const HtmlToken *tag) {
  if (tag->element != EL_SVG && tag->element != EL_MATH)
    return;
  if (tag->kind == TOKEN_START)
    r->foreign += !tag->self_closing;
  else if (r->foreign)
    r->foreign--;
}

// A tag whose name starts at `name`.
static void read_tag(Reader *r, HtmlTokenKind kind, size_t name) {
  size_t start = r->pos, pos = name;
  while (pos < r->len && !is_space(r->page[pos]) && r->page[pos] != '/' &&
         r->page[pos] != '>' && r->page[pos] != '<')
    pos++;
  HtmlToken tag = {.kind = kind,
                   .element = name_element(r, name, pos - name),
                   .offset = start};
  r->pos = read_attributes(r, &tag, pos);
  tag.length = r->pos - start;
  bool closable = r->out->xhtml || r->foreign || tag.element >= EL_COUNT ||
                  element_is(tag.element, VOID) || tag.element == EL_SVG ||
                  tag.element == EL_MATH;
  if (kind == TOKEN_START && tag.self_closing && !closable)
    report_self_closing(r, &tag);
  count_foreign(r, &tag);
  array_push(&r->out->list, tag);
  if (kind == TOKEN_START && element_is(tag.element, RAW) && !tag.self_closing)
    r->pos = read_raw(r, r->pos);
}

static void report_comment(Reader *r, size_t start) {
  long n = faults_add_at(r->faults, UNCLOSED_COMMENT, "",
                         "a comment is not closed", start, 4, "opened here");
  faults_place_end(r->faults, n);
  r->out->swallowed = true;
}

// The --> or --!> that ends a comment; *length is that of either.
static size_t comment_end(const Reader *r, size_t pos, size_t *length) {
  for (; (pos = find_text(r, pos, "--")) < r->len; pos++) {
    *length = looking_at(r, pos, "-->") ? 3 : 4;
    if (*length == 3 || looking_at(r, pos, "--!>"))
      return pos;
  }
  return r->len;
}

static void check_nested(Reader *r, size_t start, size_t end) {
  const char *inner = memmem(r->page + start + 4, end - start - 4, "<!--", 4);
  if (!inner)
    return;
  long n = faults_add_at(r->faults, NESTED_COMMENT, "",
                         "a comment starts inside a comment", inner - r->page,
                         4, "this one");
  faults_place(r->faults, n, start, 4, "inside this one");
}

static void read_comment(Reader *r) {
  size_t start = r->pos, body = start + 4, length = 0;
  if (at(r, body) == '>' || looking_at(r, body, "->")) { // <!--> is one
    r->pos = find(r, body, '>') + 1;
    return;
  }
  size_t end = comment_end(r, body, &length);
  if (end == r->len) {
    r->pos = r->len;
    report_comment(r, start);
    return;
  }
  check_nested(r, start, end);
  r->pos = end + length;
}

static void report_code(Reader *r, size_t start, size_t length) {
  faults_add_at(r->faults, SERVER_CODE, "",
                "PHP source in the page, sent instead of executed", start,
                length, "this code");
  size_t end = find_text(r, start, "?>");
  r->pos = end < r->len ? end + 2 : r->len;
}

// <!DOCTYPE>, <![CDATA[, <? and whatever else browsers skip up to >.
static void read_declaration(Reader *r) {
  size_t start = r->pos;
  bool data = r->foreign || r->out->xhtml;
  size_t end = data && looking_at(r, start, "<![CDATA[")
                   ? find_text(r, start, "]]>") + 2
                   : find(r, start, '>');
  r->pos = end < r->len ? end + 1 : r->len;
  r->out->swallowed |= end >= r->len;
  if (looking_at(r, start, "<!doctype"))
    push(r, TOKEN_DOCTYPE, EL_COUNT, start, r->pos);
  else if (looking_at(r, start, "<?php"))
    report_code(r, start, 5);
  else if (looking_at(r, start, "<?="))
    report_code(r, start, 3);
}

// The next < that starts markup; those before it are text.
static size_t text_end(const Reader *r, size_t pos) {
  for (; (pos = find(r, pos, '<')) < r->len; pos++) {
    char next = at(r, pos + 1);
    if (is_letter(next) || next == '!' || next == '?' ||
        (next == '/' && is_letter(at(r, pos + 2))))
      return pos;
  }
  return r->len;
}

static void read_markup(Reader *r) {
  char next = at(r, r->pos + 1);
  if (is_letter(next))
    read_tag(r, TOKEN_START, r->pos + 1);
  else if (next == '/')
    read_tag(r, TOKEN_END, r->pos + 2);
  else if (looking_at(r, r->pos, "<!--"))
    read_comment(r);
  else
    read_declaration(r);
}

static size_t skip_mark(const char *page, size_t len) {
  return len >= 3 && !memcmp(page, "\xef\xbb\xbf", 3) ? 3 : 0;
}

void tokens_read(HtmlTokens *t, const char *page, size_t len, Faults *faults) {
  assert(len < UINT32_MAX / 2);
  Reader r = {.page = page,
              .len = len,
              .pos = skip_mark(page, len),
              .out = t,
              .faults = faults};
  t->xhtml |= looking_at(&r, r.pos, "<?xml ");
  while (r.pos < len) {
    size_t end = text_end(&r, r.pos);
    push_text(&r, r.pos, end);
    r.pos = end;
    if (end < len)
      read_markup(&r);
  }
  hashmap_release(&r.ids);
  hashmap_release(&r.entities);
}

void tokens_release(HtmlTokens *t) {
  array_release(&t->list);
  array_release(&t->names);
}

const char *tokens_name(const HtmlTokens *t, size_t element) {
  return element < EL_COUNT ? element_info[element].name
                            : t->names.items[element - EL_COUNT];
}
