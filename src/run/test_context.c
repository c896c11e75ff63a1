// Tests that no file lists: see test_context.h.
#include "run/test_context.h"

#include <string.h>

#include "process/words.h"
#include "util/mem.h"
#include "util/str.h"

// "LINE\0NAME=value\0...".
void test_context_keep(Runner *r, const Test *t) {
  Str text = {0};
  str_addn(&text, t->line, strlen(t->line) + 1);
  for (char *const *e = t->env; e && *e; e++)
    str_addn(&text, *e, strlen(*e) + 1);
  size_t size = text.len;
  array_push(&r->contexts,
             (TestContext){mem_strdup(t->name), str_take(&text), size});
}

Test test_context_read(const TestContext *c, Arena *arena) {
  Test t = {.name = c->test, .line = c->text};
  WordList env = {0};
  for (const char *at = c->text + strlen(c->text) + 1; at < c->text + c->size;
       at += strlen(at) + 1)
    array_push(&env, (char *)at);
  char **list = arena_array(arena, char *, env.len + 1);
  if (env.len)
    memcpy(list, env.items, env.len * sizeof *list);
  t.env = env.len ? list : NULL;
  array_release(&env);
  return t;
}
