// The collector of faults and the table of keys.
#include "oracle/html/html_fault.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

const HtmlKey html_keys[] = {
    {"unclosed-element", "an element whose end tag is missing"},
    {"stray-end-tag", "an end tag without its start tag"},
    {"mismatched-end-tag", "an element closed by another's end tag: <h1></h2>"},
    {"misnested-tags", "elements that overlap: <b><i></b></i>"},
    {"truncated-page", "the page ends while several elements are open"},
    {"block-in-p", "a block inside a paragraph, which ends it: <p><div></p>"},
    {"nested-element",
     "a link, button or form control inside a link or button, a form in a "
     "form, a heading in a heading"},
    {"misplaced-element", "li, dt, dd, option, tr, td outside their parents"},
    {"content-in-table",
     "text or elements in a table but in none of its cells"},
    {"content-in-head", "text or elements of the body inside <head>"},
    {"content-before-page",
     "text or elements before <!DOCTYPE>, <html>, <body>"},
    {"content-after-page", "text or elements after </body> or </html>"},
    {"duplicate-element", "a second <html>, <head>, <body> or <title>"},
    {"duplicate-id", "an id that two elements have"},
    {"duplicate-attribute", "an attribute given twice in one tag"},
    {"unknown-element", "an element HTML does not know: <buton>"},
    {"self-closing-tag", "<div/>, which opens the element and leaves it open"},
    {"unfinished-tag", "a tag without its >"},
    {"unclosed-quote", "an attribute whose quote is not closed in its tag"},
    {"stray-quote", "a quote inside a value or between attributes"},
    {"unclosed-comment", "<!-- without -->"},
    {"unescaped-lt", "a < in text that starts no tag"},
    {"unknown-entity", "&name; that HTML does not know, or &#number; that is "
                       "no character"},
    {"server-code", "PHP source in the page: <?php or <?="},
    {"null-character", "a NUL byte; browsers drop it or show U+FFFD"},
    {"bad-attribute-value", "libtidy: a value the attribute cannot have"},
    {"missing-doctype", "no <!DOCTYPE>", true},
    {"nested-comment", "<!-- inside a comment", true},
    {"entity-semicolon", "&nbsp without its semicolon", true},
    {"attribute-space", "no space between two attributes", true},
    {"obsolete-element", "an element HTML no longer has: <font>", true},
    {"form-in-table", "a form around rows of a table, inside it", true},
    {"bad-list-child", "something else than <li> directly in <ul>, <ol>", true},
    {"tidy", "all else that libtidy warns of", true},
    {NULL, NULL},
};

static_assert(sizeof html_keys / sizeof *html_keys == RULES + 1,
              "one key for each rule");

static int key_find(const char *key, size_t len) {
  for (int i = 0; i < RULES; i++)
    if (strlen(html_keys[i].key) == len && !memcmp(html_keys[i].key, key, len))
      return i;
  return -1;
}

// Sets what the comma-separated keys name to `value`.
static int set_keys(bool *on, const char *keys, bool value, Err *err) {
  for (const char *p = keys; *p;) {
    p += strspn(p, ", ");
    size_t len = strcspn(p, ", ");
    int rule = key_find(p, len);
    if (rule >= 0)
      on[rule] = value;
    else if (len == 3 && !memcmp(p, "all", 3))
      memset(on, value, RULES * sizeof *on);
    else if (len)
      return err_set(err,
                     "'%.*s' is no key of the HTML oracle; "
                     "docs/reference/html-oracle.md lists them",
                     (int)(len < 80 ? len : 80), p);
    p += len;
  }
  return 0;
}

int faults_init(Faults *f, const char *page, size_t len, const HtmlOptions *o,
                Arena *arena, Err *err) {
  *f = (Faults){.page = page, .len = len, .arena = arena};
  for (int i = 0; i < RULES; i++)
    f->on[i] = !html_keys[i].off;
  if (o->enable && set_keys(f->on, o->enable, true, err) != 0)
    return -1;
  f->on[NO_DOCTYPE] |= o->doctype;
  if (o->ignore && set_keys(f->on, o->ignore, false, err) != 0)
    return -1;
  if (o->no_tidy)
    f->on[TIDY_OTHER] = f->on[BAD_VALUE] = false;
  return 0;
}

long faults_add(Faults *f, HtmlRule rule, const char *element,
                const char *message) {
  if (!f->on[rule] || f->list.len >= HTML_FAULTS_MAX)
    return NO_FAULT;
  array_push(&f->list, (HtmlFault){.key = html_keys[rule].key,
                                   .element = arena_strdup(f->arena, element),
                                   .message = message});
  return (long)f->list.len - 1;
}

// Room for one more place; doubles at powers of two.
static void grow(Arena *arena, HtmlFault *fault) {
  size_t n = fault->nplaces;
  if (n & (n - 1))
    return;
  HtmlPlace *more = arena_array(arena, HtmlPlace, n ? 2 * n : 1);
  if (n)
    memcpy(more, fault->places, n * sizeof *more);
  fault->places = more;
}

void faults_place(Faults *f, long n, size_t offset, size_t length,
                  const char *what) {
  if (n == NO_FAULT)
    return;
  assert(offset + length <= f->len);
  HtmlFault *fault = &f->list.items[n];
  HtmlPlace place = {offset, length, what};
  if (fault->nplaces == HTML_PLACES_MAX) {
    fault->places[HTML_PLACES_MAX - 1] = place;
    return;
  }
  grow(f->arena, fault);
  fault->places[fault->nplaces++] = place;
}

void faults_place_first(Faults *f, long n, size_t offset, size_t length,
                        const char *what) {
  if (n == NO_FAULT)
    return;
  HtmlFault *fault = &f->list.items[n];
  HtmlPlace last = fault->places[fault->nplaces - 1];
  faults_place(f, n, last.offset, last.length, last.what);
  memmove(fault->places + 1, fault->places,
          (fault->nplaces - 1) * sizeof *fault->places);
  fault->places[fault->nplaces - 1] = last;
  fault->places[0] = (HtmlPlace){offset, length, what};
}

long faults_add_at(Faults *f, HtmlRule rule, const char *element,
                   const char *message, size_t offset, size_t length,
                   const char *what) {
  long n = faults_add(f, rule, element, message);
  faults_place(f, n, offset, length, what);
  return n;
}

void faults_place_end(Faults *f, long n) {
  size_t end = f->len;
  while (end > 1 && strchr(" \t\r\n", f->page[end - 1]))
    end--;
  faults_place(f, n, end ? end - 1 : 0, end ? 1 : 0, HTML_PAGE_ENDS);
}

static int by_place(const void *a, const void *b) {
  const HtmlFault *x = a, *y = b;
  const HtmlPlace *p = x->places, *q = y->places;
  if (p->offset != q->offset)
    return p->offset < q->offset ? -1 : 1;
  int order = strcmp(x->key, y->key);
  return order ? order : strcmp(x->element, y->element);
}

static bool same(const HtmlFault *a, const HtmlFault *b) {
  return by_place(a, b) == 0;
}

void faults_finish(Faults *f, HtmlFault **out, size_t *n) {
  HtmlFault *list = arena_array(f->arena, HtmlFault, f->list.len + 1);
  size_t kept = 0;
  for (size_t i = 0; i < f->list.len; i++)
    if (f->list.items[i].nplaces)
      list[kept++] = f->list.items[i];
  qsort(list, kept, sizeof *list, by_place);
  size_t unique = 0;
  for (size_t i = 0; i < kept; i++)
    if (!unique || !same(&list[unique - 1], &list[i]))
      list[unique++] = list[i];
  *out = list;
  *n = unique;
}

void faults_release(Faults *f) { array_release(&f->list); }
