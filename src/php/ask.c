// A request as named values: see ask.h.
#include "php/ask.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>
#include <xxhash.h>

enum {
  PARAMS_MOST = 250,
  OPTIONS_TRIED = 12, // of one choice
  VARIANTS_MOST = 60  // of one form
};

typedef ARRAY(Param) Params;

static Ask settle(bool post, const char *path, Params *list, Arena *arena) {
  arena_adopt(arena, list);
  return (Ask){
      .post = post, .path = path, .params = list->items, .nparams = list->len};
}

// Another list of parameters for the same request.
static Ask settle_like(const Ask *a, bool post, Params *list, Arena *arena) {
  Ask out = settle(post, a->path, list, arena);
  out.method = a->method;
  out.json = a->json;
  return out;
}

// --- bytes of a query -------------------------------------------------------

// A zero byte, which no text of ours can hold, becomes a blank.
static const char *decode(const char *text, size_t n, Arena *arena) {
  char *out = arena_strndup(arena, text, n), *to = out;
  for (const char *p = out; *p; p++) {
    char c = *p == '+' ? ' ' : *p;
    if (c == '%' && text_hex(p[1]) >= 0 && text_hex(p[2]) >= 0) {
      c = (char)(text_hex(p[1]) * 16 + text_hex(p[2]));
      p += 2;
    }
    *to++ = c ? c : ' ';
  }
  *to = '\0';
  return out;
}

static void encode(const char *text, Str *out) {
  for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
    if (isalnum(*p) || strchr("-_.~[]/", *p))
      str_addc(out, (char)*p);
    else if (*p == ' ')
      str_addc(out, '+');
    else
      str_addf(out, "%%%02X", *p);
  }
}

static void add_query(Params *list, const char *query, ParamPlace place,
                      Arena *arena) {
  while (*query && list->len < PARAMS_MOST) {
    size_t n = strcspn(query, "&");
    const char *equals = memchr(query, '=', n);
    size_t name = equals ? (size_t)(equals - query) : n;
    Param p = {.name = decode(query, name, arena), .place = place};
    p.bare = !equals;
    p.value = equals ? decode(equals + 1, n - name - 1, arena) : "";
    if (n)
      array_push(list, p);
    query += n + (query[n] == '&');
  }
}

Ask ask_link(const char *path, const char *query, Arena *arena) {
  Params list = {0};
  add_query(&list, query, IN_QUERY, arena);
  return settle(false, path, &list, arena);
}

bool ask_from(const Request *r, Ask *out, Arena *arena) {
  Params list = {0};
  const char *type = headers_get(&r->headers, "Content-Type");
  bool post = !strcmp(r->method, "POST");
  if ((!post && strcmp(r->method, "GET") != 0) ||
      (type && !strcasestr(type, "x-www-form-urlencoded")) ||
      memchr(r->body, '\0', r->body_len))
    return false;
  add_query(&list, r->query, IN_QUERY, arena);
  if (r->body_len)
    add_query(&list, arena_strndup(arena, r->body, r->body_len), IN_BODY,
              arena);
  *out = settle(post, r->path, &list, arena);
  return true;
}

// --- changing ---------------------------------------------------------------

Ask ask_copy(const Ask *a, Arena *arena) {
  Params list = {0};
  for (size_t i = 0; i < a->nparams; i++) {
    Param p = a->params[i];
    p.name = arena_strdup(arena, p.name);
    p.value = arena_strdup(arena, p.value);
    array_push(&list, p);
  }
  Ask out = settle_like(a, a->post, &list, arena);
  out.path = arena_strdup(arena, a->path);
  return out;
}

static const char *const methods[ASK_METHODS] = {"", "PUT", "DELETE", "PATCH"};

void ask_set_method(Ask *a, const char *method) {
  a->post = !strcasecmp(method, "POST");
  a->method = ASK_USUAL;
  for (int i = 1; i < ASK_METHODS; i++)
    if (!strcasecmp(method, methods[i]))
      a->method = (AskMethod)i;
}

bool ask_has(const Ask *a, ParamPlace place, const char *name) {
  for (size_t i = 0; i < a->nparams; i++)
    if (a->params[i].place == place && !strcmp(a->params[i].name, name))
      return true;
  return false;
}

Ask ask_with(const Ask *a, ParamPlace place, const char *name,
             const char *value, Arena *arena) {
  Params list = {0};
  bool found = false;
  for (size_t i = 0; i < a->nparams; i++) {
    Param p = a->params[i];
    if (!found && p.place == place && !strcmp(p.name, name)) {
      found = true;
      p.value = value;
      p.bare = p.page = false;
    }
    array_push(&list, p);
  }
  if (!found)
    array_push(&list, (Param){.name = name, .value = value, .place = place});
  return settle_like(a, a->post || place == IN_BODY || place == IN_FILE, &list,
                     arena);
}

Ask ask_with_fresh(const Ask *a, size_t param, const char *value,
                   Arena *arena) {
  Params list = {0};
  for (size_t i = 0; i < a->nparams; i++)
    array_push(&list, a->params[i]);
  list.items[param].value = value;
  list.items[param].page = true;
  return settle_like(a, a->post, &list, arena);
}

Ask ask_without(const Ask *a, size_t param, Arena *arena) {
  Params list = {0};
  for (size_t i = 0; i < a->nparams; i++)
    if (i != param)
      array_push(&list, a->params[i]);
  return settle_like(a, a->post, &list, arena);
}

// --- uploads ----------------------------------------------------------------

#define BOUNDARY "culprit-9d2f07c4e1"

typedef struct {
  const char *end, *type, *bytes;
  size_t len;
} Sample;

// What is in a file of that name: the last, if nothing fits.
static const Sample *sample_of(const char *name) {
  static const char gif[] = "GIF89a\1\0\1\0\x80\0\0\0\0\0\xff\xff\xff!\xf9\4\1"
                            "\0\0\0\0,\0\0\0\0\1\0\1\0\0\2\2D\1\0;";
  static const char csv[] = "id,name,value\n1,wvisitor,10\n2,wother,20\n";
  static const char page[] = "<p>visitor</p>\n", json[] = "{\"id\": 1}\n";
  static const char xml[] = "<?xml version=\"1.0\"?>\n<visitor id=\"1\"/>\n";
  static const char text[] = "wvisitor line 1\nwvisitor line 2\n";
  static const Sample samples[] = {
      {".gif", "image/gif", gif, sizeof gif - 1},
      {".csv", "text/csv", csv, sizeof csv - 1},
      {".html", "text/html", page, sizeof page - 1},
      {".json", "application/json", json, sizeof json - 1},
      {".xml", "application/xml", xml, sizeof xml - 1},
      {"", "text/plain", text, sizeof text - 1}};
  const Sample *s = samples;
  while (!text_ends(name, s->end))
    s++;
  return s;
}

static bool has_file(const Ask *a) {
  for (size_t i = 0; i < a->nparams; i++)
    if (a->params[i].place == IN_FILE)
      return true;
  return false;
}

// A quote or line break in a name is sent as browsers do.
static void add_quoted(Str *out, const char *text) {
  str_addc(out, '"');
  for (const char *p = text; *p; p++) {
    if (*p == '"' || *p == '\r' || *p == '\n')
      str_addf(out, "%%%02X", (unsigned)*p);
    else
      str_addc(out, *p);
  }
  str_addc(out, '"');
}

// A field without a name for its file: none was chosen.
static void add_part(Str *out, const Param *p) {
  str_add(out, "--" BOUNDARY "\r\nContent-Disposition: form-data; name=");
  add_quoted(out, p->name);
  if (p->place != IN_FILE) {
    str_addf(out, "\r\n\r\n%s\r\n", p->value);
    return;
  }
  const Sample *s = sample_of(p->value);
  str_add(out, "; filename=");
  add_quoted(out, p->value);
  str_addf(out, "\r\nContent-Type: %s\r\n\r\n",
           *p->value ? s->type : "application/octet-stream");
  if (*p->value)
    str_addn(out, s->bytes, s->len);
  str_add(out, "\r\n");
}

static const char *multipart(const Ask *a, size_t *len, Arena *arena) {
  Str s = {0};
  for (size_t i = 0; i < a->nparams; i++)
    if (a->params[i].place == IN_BODY || a->params[i].place == IN_FILE)
      add_part(&s, &a->params[i]);
  str_add(&s, "--" BOUNDARY "--\r\n");
  *len = s.len;
  return arena_take(arena, &s);
}

// --- the request ------------------------------------------------------------

static const char *join(const Ask *a, ParamPlace place, const char *between,
                        Arena *arena) {
  Str s = {0};
  for (size_t i = 0; i < a->nparams; i++) {
    const Param *p = &a->params[i];
    if (p->place != place)
      continue;
    if (s.len)
      str_add(&s, between);
    encode(p->name, &s);
    if (!p->bare)
      str_addc(&s, '=');
    encode(p->value, &s);
  }
  return arena_take(arena, &s);
}

static bool is_json_word(const char *text) {
  size_t n = strspn(text, "0123456789");
  return (n && n < 16 && !text[n] && (*text != '0' || n == 1)) ||
         !strcmp(text, "true") || !strcmp(text, "false");
}

static void add_json_text(const char *text, Str *out) {
  str_addc(out, '"');
  for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
    if (*p == '"' || *p == '\\')
      str_addf(out, "\\%c", *p);
    else if (*p < ' ')
      str_addf(out, "\\u%04x", *p);
    else
      str_addc(out, (char)*p);
  }
  str_addc(out, '"');
}

static const char *json_body(const Ask *a, Arena *arena) {
  Str s = {0};
  str_addc(&s, '{');
  for (size_t i = 0; i < a->nparams; i++) {
    const Param *p = &a->params[i];
    if (p->place != IN_BODY)
      continue;
    if (s.len > 1)
      str_addc(&s, ',');
    add_json_text(p->name, &s);
    str_addc(&s, ':');
    if (is_json_word(p->value))
      str_add(&s, p->value);
    else
      add_json_text(p->value, &s);
  }
  str_addc(&s, '}');
  return arena_take(arena, &s);
}

static void add_header(Headers *list, const char *name, const char *value) {
  list->items[list->len++] = (Header){.name = name, .value = value};
}

void ask_request(const Ask *a, unsigned number, Request *out, Arena *arena) {
  const char *cookies = join(a, IN_COOKIE, "; ", arena);
  *out = (Request){.method = a->method ? methods[a->method]
                             : a->post ? "POST"
                                       : "GET",
                   .path = a->path,
                   .query = join(a, IN_QUERY, "&", arena),
                   .body = "",
                   .line = number};
  out->headers.items = arena_array(arena, Header, 2);
  if (a->json) {
    out->body = json_body(a, arena);
    out->body_len = strlen(out->body);
    add_header(&out->headers, "Content-Type", "application/json");
  } else if (a->post && has_file(a)) {
    out->body = multipart(a, &out->body_len, arena);
    add_header(&out->headers, "Content-Type",
               "multipart/form-data; boundary=" BOUNDARY);
  } else if (a->post) {
    out->body = join(a, IN_BODY, "&", arena);
    out->body_len = strlen(out->body);
  }
  if (*cookies)
    add_header(&out->headers, "Cookie", cookies);
}

// Fields of one name keep their order, of different ones it does not matter.
static int by_name(const void *a, const void *b) {
  const Param *const *x = a, *const *y = b;
  if ((*x)->place != (*y)->place)
    return (*x)->place < (*y)->place ? -1 : 1;
  int c = strcmp((*x)->name, (*y)->name);
  return c ? c : (*x > *y) - (*x < *y);
}

void ask_key(const Ask *a, bool values, Str *out) {
  const Param **sorted = mem_array(const Param *, a->nparams + 1);
  for (size_t i = 0; i < a->nparams; i++)
    sorted[i] = &a->params[i];
  if (a->nparams)
    qsort(sorted, a->nparams, sizeof *sorted, by_name);
  str_addf(out, "%d%s%s%s", a->post, methods[a->method], a->json ? "j" : "",
           a->path);
  for (size_t i = 0; i < a->nparams; i++) {
    const Param *p = sorted[i];
    str_addf(out, "\n%d%s", p->place, p->name);
    if (values)
      str_addf(out, "%s%s", p->bare ? "" : "=", p->value);
  }
  free(sorted);
}

// --- guesses ----------------------------------------------------------------

// id, user_id, userId, id2: a name's part, not just any letters in it.
static bool is_count(const char *name) {
  static const char *const wholes[] = {"id",   "n",    "no",    "nr",  "num",
                                       "page", "year", "month", "day", "p",
                                       "x",    "y",    NULL};
  for (const char *const *w = wholes; *w; w++)
    if (!strcasecmp(name, *w))
      return true;
  static const char *const parts[] = {
      "_id",    "Id",  "count", "amount", "qty",    "quantity", "price",
      "number", "age", "limit", "offset", "points", "score",    NULL};
  return text_holds_any(name, parts) && !strcasestr(name, "image") &&
         !strcasestr(name, "language") && !strcasestr(name, "message");
}

const char *ask_guess(const char *name, bool number, Arena *arena) {
  static const char *const mail[] = {"mail", NULL};
  static const char *const pass[] = {"pass", "pwd", "pw", NULL};
  static const char *const date[] = {"date", "birth", NULL};
  static const char *const address[] = {"url", "website", "homepage", NULL};
  if (text_holds_any(name, mail))
    return "visitor@example.org";
  if (text_holds_any(name, pass)) // often wanted twice
    return "Secret7word";
  if (text_holds_any(name, date))
    return "2024-02-29";
  if (text_holds_any(name, address))
    return "http://example.org/";
  if (number || is_count(name))
    return "1";
  uint64_t h = XXH3_64bits(name, strlen(name));
  return arena_printf(arena, "w%c%c%c%c", (int)('a' + h % 26),
                      (int)('a' + h / 26 % 26), (int)('0' + h / 676 % 10),
                      (int)('a' + h / 6760 % 26));
}

// --- forms ------------------------------------------------------------------

// How one field is to differ from the usual way to fill in the form.
typedef struct {
  bool empty;         // free fields stay as the page has them
  bool all;           // every box is ticked
  const Field *field; // NULL: none differs
  const char *value;  // of this one; NULL: not sent
} Variation;

static void add_param(Params *list, const FormTarget *to, const Field *f,
                      const char *value, Arena *arena) {
  Param p = {.name = f->name,
             .value = value,
             .place = to->post ? IN_BODY : IN_QUERY,
             .page = f->kind == FIELD_FIXED};
  if (f->kind == FIELD_FILE && to->post && to->multipart)
    p.place = IN_FILE;
  for (int i = 0; f->image && i < 2; i++) { // where it was clicked
    p.value = "1";
    p.name = *f->name ? arena_printf(arena, "%s.%c", f->name, "xy"[i])
             : i      ? "y"
                      : "x";
    array_push(list, p);
  }
  if (!f->image && *f->name)
    array_push(list, p);
}

static const char *const file_names[] = {"visitor.txt", "visitor.gif",
                                         "visitor.csv"};
enum { FILE_NAMES = sizeof file_names / sizeof *file_names };

// By what the field says it accepts.
static const char *usual_file(const Field *f) {
  if (strstr(f->value, "image") || strstr(f->value, ".gif"))
    return "visitor.gif";
  return strstr(f->value, "csv") ? "visitor.csv" : "visitor.txt";
}

// The default; where that says nothing ("choose one"), the first that does.
static const char *usual_choice(const Field *f, bool empty) {
  if (empty || (f->on && *f->value))
    return f->on ? f->value : NULL;
  for (size_t i = 0; i < f->noptions; i++)
    if (*f->options[i])
      return f->options[i];
  return f->on ? f->value : NULL;
}

// By the type of the field, else by its name.
static const char *guess_field(const Field *f, Arena *arena) {
  static const char *const of[][2] = {{"email", "visitor@example.org"},
                                      {"url", "http://example.org/"},
                                      {"date", "2024-02-29"},
                                      {"time", "12:30"},
                                      {"month", "2024-02"},
                                      {"week", "2024-W09"},
                                      {"color", "#336699"},
                                      {"datetime-local", "2024-02-29T12:30"},
                                      {"password", "Secret7word"},
                                      {"tel", "0123456789"}};
  bool number = !strcmp(f->type, "number") || !strcmp(f->type, "range");
  if (number && f->least && *f->least)
    return f->least;
  for (size_t i = 0; i < sizeof of / sizeof *of; i++)
    if (!strcmp(f->type, of[i][0]))
      return of[i][1];
  return ask_guess(f->name, number, arena);
}

static const char *usual_value(const Field *f, bool empty, Arena *arena) {
  switch (f->kind) {
  case FIELD_FREE:
    return *f->value || empty ? f->value : guess_field(f, arena);
  case FIELD_FIXED:
    return f->value;
  case FIELD_CHOICE:
    return usual_choice(f, empty);
  case FIELD_TICK:
    return f->on ? f->value : NULL;
  case FIELD_FILE:
    return empty ? "" : usual_file(f);
  case FIELD_BUTTON:
    break;
  }
  return NULL;
}

// Of the buttons the first is pressed, unless the variation is about another.
static const Field *pressed(const Link *form, const Variation *v) {
  if (v->field && v->field->kind == FIELD_BUTTON)
    return v->field;
  for (size_t i = 0; i < form->nfields; i++)
    if (form->fields[i].kind == FIELD_BUTTON)
      return &form->fields[i];
  return NULL;
}

static Ask fill(const Link *form, Variation v, Arena *arena) {
  Params list = {0};
  const Field *button = pressed(form, &v);
  FormTarget to = {form->path, form->query, form->post, form->multipart};
  if (button && button->sends)
    to = *button->sends;
  if (to.post)
    add_query(&list, to.query, IN_QUERY, arena);
  for (size_t i = 0; i < form->nfields; i++) {
    const Field *f = &form->fields[i];
    const char *value = usual_value(f, v.empty, arena);
    if (f->kind == FIELD_TICK && v.all)
      value = f->value;
    if (f == button)
      value = f->value;
    if (f == v.field)
      value = v.value;
    if (value)
      add_param(&list, &to, f, value, arena);
  }
  return settle(to.post, to.path, &list, arena);
}

static void vary(const Link *form, const Field *f, Asks *out, Arena *arena) {
  Variation v = {.field = f};
  size_t n = f->noptions < OPTIONS_TRIED ? f->noptions : OPTIONS_TRIED;
  for (size_t i = 0; f->kind == FIELD_CHOICE && i < n; i++) {
    v.value = f->options[i];
    if (!f->on || strcmp(v.value, f->value) != 0)
      array_push(out, fill(form, v, arena));
  }
  for (size_t i = 0; f->kind == FIELD_FILE && i < FILE_NAMES; i++) {
    v.value = file_names[i];
    if (strcmp(v.value, usual_file(f)) != 0)
      array_push(out, fill(form, v, arena));
  }
  if (f->kind == FIELD_TICK) {
    v.value = f->on ? NULL : f->value;
    array_push(out, fill(form, v, arena));
  } else if (f->kind == FIELD_BUTTON) {
    v.value = f->value;
    array_push(out, fill(form, v, arena));
  }
}

static size_t ticks_of(const Link *form) {
  size_t n = 0;
  for (size_t i = 0; i < form->nfields; i++)
    n += form->fields[i].kind == FIELD_TICK;
  return n;
}

void ask_form(const Link *form, Asks *out, Arena *arena) {
  size_t most = out->len + VARIANTS_MOST;
  array_push(out, fill(form, (Variation){0}, arena));
  array_push(out, fill(form, (Variation){.empty = true}, arena));
  if (ticks_of(form) > 1)
    array_push(out, fill(form, (Variation){.all = true}, arena));
  for (size_t i = 0; i < form->nfields && out->len < most; i++)
    vary(form, &form->fields[i], out, arena);
}
