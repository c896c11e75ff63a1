// Links and forms of a page: see page_links.h.
//
// One walk over Gumbo's tree, in the order of the page. In `<table><form><tr>`
// the parser closes the form at once, and its fields stand behind it: a form
// without elements of its own therefore stays open until the next one.
#include "php/page_links.h"

#include <ctype.h>
#include <gumbo.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "util/str.h"

enum { DEEPEST = 400, ADDRESS_MOST = 2048 };

// A form whose fields are being collected. One that a field named by its id is
// there before it is opened.
typedef struct {
  const char *id; // NULL: none
  bool opened;    // and sent to this site
  size_t slot;    // its place among the links
  Link link;
  ARRAY(Field) fields;
} Form;

#define FORM_NONE SIZE_MAX

typedef struct {
  Links links;
  ARRAY(Form) forms;
  size_t form;                   // that elements are in
  const char *host;              // of the site; NULL: localhost only
  const char *base;              // of relative addresses
  const char *self, *self_query; // the page's own
  Arena *arena;
  unsigned disabled; // fieldsets around
} PageWalk;

// --- addresses --------------------------------------------------------------

// Resolves `.`, `..` and empty pieces; the root has nothing above it.
static const char *tidy_path(const char *path, Arena *arena) {
  Str out = {0};
  const char *p = path;
  bool slash = true;
  while (*p) {
    size_t n = strcspn(p, "/");
    bool up = n == 2 && !strncmp(p, "..", 2);
    slash = p[n] == '/' || up || (n == 1 && *p == '.');
    if (up) {
      while (out.len && out.data[--out.len] != '/')
        ;
    } else if (n && !(n == 1 && *p == '.')) {
      str_addc(&out, '/');
      str_addn(&out, p, n);
    }
    p += n + (p[n] == '/');
  }
  if (slash || !out.len)
    str_addc(&out, '/');
  const char *copy = arena_strndup(arena, out.data, out.len);
  str_release(&out);
  return copy;
}

// Behind "http://", "https://" or "//"; NULL: no host follows.
static const char *skip_scheme(const char *a) {
  if (!strncasecmp(a, "http:", 5))
    a += 5;
  else if (!strncasecmp(a, "https:", 6))
    a += 6;
  return strncmp(a, "//", 2) ? NULL : a + 2;
}

// Behind the name and a port; NULL: another host.
static const char *skip_host(const char *a, const char *host) {
  size_t n = strlen(host);
  if (strncasecmp(a, host, n) || (a[n] && !strchr("/?#:", a[n])))
    return NULL;
  a += n;
  a += a[0] == ':' ? 1 + strspn(a + 1, "0123456789") : 0;
  return *a ? a : "/";
}

// Behind "http://localhost" or "//localhost"; NULL: another host or scheme.
static const char *strip_host(const char *a, const char *host) {
  const char *named = skip_scheme(a);
  if (named) {
    const char *own = skip_host(named, "localhost");
    return own || !host ? own : skip_host(named, host);
  }
  size_t scheme = strcspn(a, ":/?#");
  return a[scheme] == ':' ? NULL : a;
}

const char *link_other_host(const char *address, const char *host,
                            Arena *arena) {
  const char *named = skip_scheme(address);
  if (!named || strip_host(address, host))
    return NULL;
  size_t n = strcspn(named, "/?#:");
  return n ? arena_strndup(arena, named, n) : NULL;
}

// As a browser sends it: no blanks, no control characters.
static const char *escape(const char *text, size_t n, Arena *arena) {
  Str out = {0};
  for (size_t i = 0; i < n; i++) {
    unsigned char c = (unsigned char)text[i];
    if (c <= ' ' || c == 0x7f)
      str_addf(&out, "%%%02X", c);
    else
      str_addc(&out, (char)c);
  }
  return arena_take(arena, &out);
}

bool link_resolve(const char *host, const char *base, const char *address,
                  const char **path, const char **query, Arena *arena) {
  while (isspace((unsigned char)*address))
    address++;
  if (strlen(address) > ADDRESS_MOST)
    return false;
  const char *a = strip_host(address, host);
  if (!a || *a == '#')
    return false;
  size_t n = strcspn(a, "?#");
  while (!a[n] && n && isspace((unsigned char)a[n - 1]))
    n--;
  const char *from = a[n] == '?' ? a + n + 1 : "";
  size_t m = strcspn(from, "#");
  while (m && isspace((unsigned char)from[m - 1]))
    m--;
  *query = escape(from, m, arena);
  const char *own = escape(a, n, arena), *slash = strrchr(base, '/');
  if (!n)
    *path = arena_strdup(arena, base);
  else if (*own == '/')
    *path = tidy_path(own, arena);
  else
    *path = tidy_path(arena_printf(arena, "%.*s/%s",
                                   slash ? (int)(slash - base) : 0, base, own),
                      arena);
  return true;
}

// --- what the tree holds ----------------------------------------------------

static const char *attribute(const GumboNode *node, const char *name) {
  const GumboAttribute *a =
      gumbo_get_attribute(&node->v.element.attributes, name);
  return a ? a->value : NULL;
}

static bool is(const char *value, const char *word) {
  return value && !strcasecmp(value, word);
}

static void add_text(const GumboNode *node, Str *out, int depth) {
  if (node->type == GUMBO_NODE_TEXT || node->type == GUMBO_NODE_WHITESPACE)
    str_add(out, node->v.text.text);
  if (node->type != GUMBO_NODE_ELEMENT || depth > DEEPEST)
    return;
  const GumboVector *v = &node->v.element.children;
  for (unsigned i = 0; i < v->length; i++)
    add_text(v->data[i], out, depth + 1);
}

// Blanks at both ends left out.
static const char *text_of(const GumboNode *node, Arena *arena) {
  Str s = {0};
  add_text(node, &s, 0);
  const char *p = str_text(&s);
  while (isspace((unsigned char)*p))
    p++;
  size_t n = strlen(p);
  while (n && isspace((unsigned char)p[n - 1]))
    n--;
  const char *copy = arena_strndup(arena, p, n);
  str_release(&s);
  return copy;
}

// Not as a part of another word, such as "skills".
static bool has_word(const char *text, const char *word) {
  size_t n = strlen(word);
  for (const char *p = text; p && (p = strcasestr(p, word)); p += n)
    if ((p == text || !isalpha((unsigned char)p[-1])) &&
        !isalpha((unsigned char)p[n]))
      return true;
  return false;
}

bool link_ends_something(const char *text) {
  static const char *const words[] = {"logout", "logoff", "log out", "signout",
                                      "delete", "remove", "destroy", "uninst",
                                      "drop",   "erase",  "truncat"};
  for (size_t i = 0; text && i < sizeof words / sizeof *words; i++)
    if (strcasestr(text, words[i]))
      return true;
  return has_word(text, "kill") || has_word(text, "shutdown");
}

// --- links ------------------------------------------------------------------

static void add_link(PageWalk *w, const char *address, const char *label) {
  Link l = {0};
  if (!address || w->links.len >= LINKS_MOST ||
      !link_resolve(w->host, w->base, address, &l.path, &l.query, w->arena))
    return;
  l.last = link_ends_something(l.path) || link_ends_something(l.query) ||
           link_ends_something(label);
  array_push(&w->links, l);
}

// Pictures and styles are no business of PHP's, unless a script makes them.
static void add_source(PageWalk *w, const char *address) {
  if (address && strstr(address, ".php"))
    add_link(w, address, NULL);
}

// "5; url=next.php"
static void add_refresh(PageWalk *w, const char *content) {
  const char *p = content ? strcasestr(content, "url") : NULL;
  if (!p)
    return;
  p += 3 + strspn(p + 3, " ");
  if (*p != '=')
    return;
  p += 1 + strspn(p + 1, " '\"");
  add_link(w, arena_strndup(w->arena, p, strcspn(p, "'\"")), NULL);
}

// location = 'a', location.href = "a", location.replace('a'), .assign('a')
static void add_scripted(PageWalk *w, const char *text) {
  while (text && (text = strstr(text, "location"))) {
    text += strlen("location");
    const char *p = text;
    if (*p == '.')
      p += 1 + strspn(p + 1, "abcdefghijklmnopqrstuvwxyz");
    p += strspn(p, " \t\n=(");
    if (p > text && (*p == '\'' || *p == '"')) {
      const char *end = strchr(p + 1, *p);
      if (end && end - p < ADDRESS_MOST)
        add_link(w, arena_strndup(w->arena, p + 1, (size_t)(end - p - 1)),
                 NULL);
    }
  }
}

// --- forms ------------------------------------------------------------------

// The form with that id, though it may come later.
static size_t form_of_id(PageWalk *w, const char *id) {
  for (size_t i = 0; i < w->forms.len; i++)
    if (w->forms.items[i].id && !strcmp(w->forms.items[i].id, id))
      return i;
  if (w->forms.len >= LINKS_MOST)
    return FORM_NONE;
  array_push(&w->forms, (Form){.id = arena_strdup(w->arena, id)});
  return w->forms.len - 1;
}

// The form that an element belongs to; NULL: none.
static Form *form_of(PageWalk *w, const GumboNode *node) {
  const char *id = attribute(node, "form");
  size_t i = id ? form_of_id(w, id) : w->form;
  return i == FORM_NONE ? NULL : &w->forms.items[i];
}

// False: it leaves the site.
static bool read_target(PageWalk *w, const char *action, FormTarget *out) {
  bool own = !action || !*action;
  if (!link_resolve(w->host, own ? w->self : w->base, own ? "" : action,
                    &out->path, &out->query, w->arena))
    return false;
  if (own)
    out->query = w->self_query;
  return true;
}

static void open_form(PageWalk *w, const GumboNode *node) {
  const char *id = attribute(node, "id");
  FormTarget to;
  w->form = FORM_NONE;
  if (w->links.len >= LINKS_MOST || w->forms.len >= LINKS_MOST ||
      !read_target(w, attribute(node, "action"), &to))
    return;
  if (id && *id)
    w->form = form_of_id(w, id);
  if (w->form == FORM_NONE || w->forms.items[w->form].opened) {
    array_push(&w->forms, (Form){0});
    w->form = w->forms.len - 1;
  }
  Form *f = &w->forms.items[w->form];
  f->opened = true;
  f->slot = w->links.len;
  f->link =
      (Link){.path = to.path,
             .query = to.query,
             .form = true,
             .post = is(attribute(node, "method"), "post"),
             .multipart = is(attribute(node, "enctype"), "multipart/form-data"),
             .last = f->link.last || link_ends_something(to.path) ||
                     link_ends_something(to.query)};
  array_push(&w->links, f->link);
}

// All fields are known: the forms go where they stood.
static void place_forms(PageWalk *w) {
  for (size_t i = 0; i < w->forms.len; i++) {
    Form *f = &w->forms.items[i];
    f->link.nfields = f->fields.len;
    f->link.fields = arena_adopt(w->arena, &f->fields);
    if (f->opened)
      w->links.items[f->slot] = f->link;
  }
  array_release(&w->forms);
}

// --- fields -----------------------------------------------------------------

static Field *find_field(Form *form, const char *name, FieldKind kind) {
  for (size_t i = 0; i < form->fields.len; i++)
    if (form->fields.items[i].kind == kind &&
        !strcmp(form->fields.items[i].name, name))
      return &form->fields.items[i];
  return NULL;
}

static Field *add_field(PageWalk *w, Form *form, const char *name,
                        const char *value, FieldKind kind) {
  if (!form || !name || (!*name && kind != FIELD_BUTTON) ||
      form->fields.len >= FIELDS_MOST)
    return NULL;
  Field f = {.name = arena_strdup(w->arena, name),
             .value = arena_strdup(w->arena, value ? value : ""),
             .kind = kind,
             .type = ""};
  array_push(&form->fields, f);
  return &array_last(&form->fields);
}

static void add_option(PageWalk *w, Field *f, const char *value, bool chosen) {
  if (!f->options)
    f->options = arena_array(w->arena, const char *, OPTIONS_MOST);
  value = arena_strdup(w->arena, value);
  if (f->noptions < OPTIONS_MOST)
    f->options[f->noptions++] = value;
  if (chosen) {
    f->value = value;
    f->on = true;
  }
}

static void add_radio(PageWalk *w, Form *form, const GumboNode *node) {
  const char *name = attribute(node, "name"), *value = attribute(node, "value");
  Field *f = form && name ? find_field(form, name, FIELD_CHOICE) : NULL;
  f = f ? f : add_field(w, form, name, "", FIELD_CHOICE);
  if (f)
    add_option(w, f, value ? value : "on", attribute(node, "checked"));
}

static void add_tick(PageWalk *w, Form *form, const char *name,
                     const char *value, bool on) {
  Field *f = add_field(w, form, name, value, FIELD_TICK);
  if (f)
    f->on = on;
}

// formaction, formmethod, formenctype: the button sends the form elsewhere.
static const FormTarget *own_target(PageWalk *w, const Form *form,
                                    const GumboNode *node) {
  const char *action = attribute(node, "formaction");
  const char *method = attribute(node, "formmethod");
  const char *type = attribute(node, "formenctype");
  if (!action && !method && !type)
    return NULL;
  FormTarget *t = arena_new(w->arena, FormTarget);
  *t = (FormTarget){.path = form->link.path,
                    .query = form->link.query,
                    .post = form->link.post,
                    .multipart = form->link.multipart};
  if (action && !read_target(w, action, t))
    return NULL;
  if (method)
    t->post = is(method, "post");
  if (type)
    t->multipart = is(type, "multipart/form-data");
  return t->path ? t : NULL;
}

// What ends something because of a button without a name: all of the form, if
// it has no other.
static void add_button(PageWalk *w, Form *form, const GumboNode *node,
                       const char *value, const char *label) {
  const char *name = attribute(node, "name");
  Field *f = add_field(w, form, name ? name : "", value, FIELD_BUTTON);
  if (!f)
    return;
  f->image = is(attribute(node, "type"), "image");
  f->sends = own_target(w, form, node);
  if (!*f->name && !f->sends)
    form->link.last |= link_ends_something(label);
}

// What a text is wanted for; a type nobody knows is a text.
static const char *free_type(const char *type) {
  static const char *const known[] = {
      "number", "range", "email", "url",   "date",           "tel",
      "time",   "month", "week",  "color", "datetime-local", "password"};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (is(type, known[i]))
      return known[i];
  return "";
}

static void add_free(PageWalk *w, Form *form, const GumboNode *node) {
  const char *type = attribute(node, "type"), *least = attribute(node, "min");
  Field *f = add_field(w, form, attribute(node, "name"),
                       attribute(node, "value"), FIELD_FREE);
  if (!f)
    return;
  f->type = free_type(type);
  f->least = least ? arena_strdup(w->arena, least) : NULL;
}

static void add_input(PageWalk *w, Form *form, const GumboNode *node) {
  const char *type = attribute(node, "type"), *name = attribute(node, "name");
  const char *value = attribute(node, "value");
  if (is(type, "button") || is(type, "reset"))
    return;
  if (is(type, "file"))
    add_field(w, form, name, attribute(node, "accept"), FIELD_FILE);
  else if (is(type, "radio"))
    add_radio(w, form, node);
  else if (is(type, "checkbox"))
    add_tick(w, form, name, value ? value : "on", attribute(node, "checked"));
  else if (is(type, "submit") || is(type, "image"))
    add_button(w, form, node, value ? value : "Submit", value);
  else if (is(type, "hidden"))
    add_field(w, form, name, value, FIELD_FIXED);
  else
    add_free(w, form, node);
}

// One choice of all options, or (`many`) a box for each of them.
typedef struct {
  Form *form;
  const char *name;
  size_t field; // of the choice
  bool many;
} Select;

static void take_option(PageWalk *w, const Select *s, const GumboNode *node) {
  const char *value = attribute(node, "value");
  bool chosen = attribute(node, "selected");
  if (attribute(node, "disabled"))
    return;
  value = value ? value : text_of(node, w->arena);
  if (s->many)
    add_tick(w, s->form, s->name, value, chosen);
  else
    add_option(w, &s->form->fields.items[s->field], value, chosen);
}

static void add_options(PageWalk *w, const Select *s, const GumboNode *node,
                        int depth) {
  if (node->type != GUMBO_NODE_ELEMENT || depth > DEEPEST)
    return;
  if (node->v.element.tag == GUMBO_TAG_OPTION)
    take_option(w, s, node);
  const GumboVector *v = &node->v.element.children;
  for (unsigned i = 0; i < v->length; i++)
    add_options(w, s, v->data[i], depth + 1);
}

// Without a chosen one, a browser sends the first.
static void add_select(PageWalk *w, Form *form, const GumboNode *node) {
  Select s = {.form = form,
              .name = attribute(node, "name"),
              .many = attribute(node, "multiple")};
  if (!s.many && !add_field(w, form, s.name, "", FIELD_CHOICE))
    return;
  s.field = form ? form->fields.len - 1 : 0;
  add_options(w, &s, node, 0);
  if (s.many)
    return;
  Field *f = &form->fields.items[s.field];
  if (!f->on && f->noptions) {
    f->value = f->options[0];
    f->on = true;
  }
}

static void add_control(PageWalk *w, const GumboNode *node) {
  const char *type = attribute(node, "type");
  if (w->disabled || attribute(node, "disabled"))
    return;
  Form *form = form_of(w, node);
  switch (node->v.element.tag) {
  case GUMBO_TAG_INPUT:
    add_input(w, form, node);
    break;
  case GUMBO_TAG_TEXTAREA:
    add_field(w, form, attribute(node, "name"), text_of(node, w->arena),
              FIELD_FREE);
    break;
  case GUMBO_TAG_SELECT:
    add_select(w, form, node);
    break;
  default: // a button
    if (!type || is(type, "submit"))
      add_button(w, form, node, attribute(node, "value"),
                 text_of(node, w->arena));
  }
}

// --- the walk ---------------------------------------------------------------

static void take_base(PageWalk *w, const GumboNode *node) {
  const char *href = attribute(node, "href"), *query;
  if (href)
    link_resolve(w->host, w->self, href, &w->base, &query, w->arena);
}

static void take_element(PageWalk *w, const GumboNode *node) {
  // clang-format off
  switch (node->v.element.tag) {
  case GUMBO_TAG_BASE: take_base(w, node); break;
  case GUMBO_TAG_A:
    add_link(w, attribute(node, "href"), text_of(node, w->arena)); break;
  case GUMBO_TAG_AREA: add_link(w, attribute(node, "href"), NULL); break;
  case GUMBO_TAG_IFRAME:
  case GUMBO_TAG_FRAME: add_link(w, attribute(node, "src"), NULL); break;
  case GUMBO_TAG_IMG: add_source(w, attribute(node, "src")); break;
  case GUMBO_TAG_LINK: add_source(w, attribute(node, "href")); break;
  case GUMBO_TAG_META:
    if (is(attribute(node, "http-equiv"), "refresh"))
      add_refresh(w, attribute(node, "content"));
    break;
  case GUMBO_TAG_SCRIPT:
    add_source(w, attribute(node, "src"));
    add_scripted(w, text_of(node, w->arena)); break;
  case GUMBO_TAG_FORM: open_form(w, node); break;
  case GUMBO_TAG_INPUT:
  case GUMBO_TAG_TEXTAREA:
  case GUMBO_TAG_SELECT:
  case GUMBO_TAG_BUTTON: add_control(w, node); break;
  default: break;
  }
  // clang-format on
  add_scripted(w, attribute(node, "onclick"));
  add_scripted(w, attribute(node, "onchange"));
}

static bool has_elements(const GumboNode *node) {
  const GumboVector *v = &node->v.element.children;
  for (unsigned i = 0; i < v->length; i++)
    if (((const GumboNode *)v->data[i])->type == GUMBO_NODE_ELEMENT)
      return true;
  return false;
}

static void walk(PageWalk *w, const GumboNode *node, int depth) {
  if ((node->type != GUMBO_NODE_ELEMENT && node->type != GUMBO_NODE_TEMPLATE) ||
      depth > DEEPEST)
    return;
  take_element(w, node);
  const GumboVector *v = &node->v.element.children;
  bool off =
      node->v.element.tag == GUMBO_TAG_FIELDSET && attribute(node, "disabled");
  w->disabled += off;
  for (unsigned i = 0; i < v->length; i++)
    walk(w, v->data[i], depth + 1);
  w->disabled -= off;
  if (node->v.element.tag == GUMBO_TAG_FORM && has_elements(node))
    w->form = FORM_NONE;
}

// The tree goes with its arena: Gumbo would take it apart by recursion.
static void *allocate(void *arena, size_t size) {
  return arena_alloc(arena, size);
}

static void leave(void *arena, void *p) {
  (void)arena;
  (void)p;
}

Links links_read(const char *page, size_t len, const char *host,
                 const char *path, const char *query, Arena *arena) {
  Arena tree = {0};
  PageWalk w = {.form = FORM_NONE,
                .host = host,
                .base = path,
                .self = path,
                .self_query = query,
                .arena = arena};
  GumboOptions options = kGumboDefaultOptions;
  options.allocator = allocate;
  options.deallocator = leave;
  options.userdata = &tree;
  options.max_errors = 0;
  if (len <= LINKS_PAGE)
    walk(&w, gumbo_parse_with_options(&options, page, len)->root, 0);
  place_forms(&w);
  arena_release(&tree);
  arena_adopt(arena, &w.links);
  return w.links;
}
