// Inputs of a request by name: see named_input.h.
#include "explore/solve/named_input.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool place_of(const Ask *a, const char *name, ParamPlace *place) {
  static const struct {
    const char *prefix;
    ParamPlace place;
  } places[] = {{"GET.", IN_QUERY},
                {"POST.", IN_BODY},
                {"COOKIE.", IN_COOKIE},
                {"FILES.", IN_FILE}};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++)
    if (text_starts(name, places[i].prefix)) {
      *place = places[i].place;
      return true;
    }
  *place = a->post ? IN_BODY : IN_QUERY;
  return text_starts(name, "REQUEST.");
}

// PHP makes a name out of what was sent: "a.b" is $_GET['a_b'].
static bool is_named(const char *sent, const char *key) {
  for (; *sent && *sent != '['; sent++, key++) {
    char c = *sent == '.' || *sent == ' ' ? '_' : *sent;
    if (c != *key)
      return false;
  }
  return !strcmp(sent, key);
}

// f[2] is the third of the parameters that are called f[].
static bool is_numbered(const char *sent, const char *key, long *left) {
  const char *open = strrchr(key, '[');
  size_t n = open ? (size_t)(open - key) : 0;
  char *end;
  if (!open || strlen(sent) != n + 2 || strncmp(sent, key, n) != 0 ||
      strcmp(sent + n, "[]") != 0)
    return false;
  long want = strtol(open + 1, &end, 10);
  return end != open + 1 && *end == ']' && want == (*left)++;
}

static size_t find_param(const Ask *a, ParamPlace place, const char *key) {
  long count = 0;
  for (size_t i = 0; i < a->nparams; i++)
    if (a->params[i].place == place &&
        (is_named(a->params[i].name, key) ||
         is_numbered(a->params[i].name, key, &count)))
      return i;
  return a->nparams;
}

static Ask set_at(const Ask *a, size_t param, const char *value, Arena *arena) {
  Param *params = arena_array(arena, Param, a->nparams);
  memcpy(params, a->params, a->nparams * sizeof *params);
  params[param].value = value;
  params[param].bare = params[param].page = false;
  Ask out = *a;
  out.params = params;
  return out;
}

static bool change_method(const Ask *a, PhpValue value, Ask *out) {
  if (value.type != VALUE_STRING)
    return false;
  *out = *a;
  out->post = !strcmp(value.s, "POST");
  return (out->post || !strcmp(value.s, "GET")) && out->post != a->post;
}

bool input_change(const Ask *a, const char *name, PhpValue value, Ask *out,
                  Arena *arena) {
  ParamPlace place;
  if (!strcmp(name, "SERVER.REQUEST_METHOD"))
    return change_method(a, value, out);
  if (!place_of(a, name, &place))
    return false;
  char *key = arena_strdup(arena, strchr(name, '.') + 1);
  if (place == IN_FILE)
    key[strcspn(key, "[")] = '\0';
  size_t at = find_param(a, place, key);
  if (value.type == VALUE_NULL) {
    *out = at < a->nparams ? ask_without(a, at, arena) : *a;
    return at < a->nparams;
  }
  const char *text = arena_strndup(arena, value.s, value.n);
  *out = at < a->nparams ? set_at(a, at, text, arena)
                         : ask_with(a, place, key, text, arena);
  return *key;
}
