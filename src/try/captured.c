// Tests decided without their scripts: see captured.h.
#include "try/captured.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/capture_format.h"
#include "util/fs.h"
#include "util/mem.h"

enum {
  SCRIPTS_LEAST = 2, // runs of a script before it is worth recording
  OTHERS_MOST = 512, // outcomes of one test that are remembered
};

// --- opening ----------------------------------------------------------------

// Under each name that a program looks for there is culprit-capture.
static int link_all(const CapturedTests *c, Err *err) {
  DIR *d = opendir(c->builds);
  int rc = d ? 0 : err_set(err, "%s: %s", c->builds, strerror(errno));
  for (struct dirent *e; d && !rc && (e = readdir(d));) {
    if (e->d_name[0] == '.')
      continue;
    char *path = mem_printf("%s/%s", c->bin, e->d_name);
    if (symlink(c->program, path))
      rc = err_set(err, "%s: %s", path, strerror(errno));
    free(path);
  }
  if (d)
    closedir(d);
  return rc;
}

int captured_open(CapturedTests *c, const char *scratch, const char *builds,
                  size_t ntests, Err *err) {
  char *program = path_of_part(CAPTURE_PROGRAM);
  c->program = arena_strdup(&c->arena, program);
  free(program);
  c->dir = arena_printf(&c->arena, "%s/capture", scratch);
  c->bin = arena_printf(&c->arena, "%s/bin", c->dir);
  c->builds = builds;
  c->tests = arena_array(&c->arena, CapturedTest, ntests + 1);
  c->ntests = ntests;
  if (!fs_executable(c->program))
    return 0;
  if (fs_mkdirs(c->bin, err) || link_all(c, err))
    return -1;
  c->enabled = true;
  return 0;
}

void captured_close(CapturedTests *c) {
  for (size_t i = 0; i < c->ntests; i++)
    array_release(&c->tests[i].others);
  if (c->enabled)
    fs_remove_tree(c->dir);
  arena_release(&c->arena);
}

// --- recording --------------------------------------------------------------

bool captured_wants(const CapturedTests *c, size_t test, bool unchanged) {
  const CapturedTest *t = &c->tests[test];
  return c->enabled && t->state == CAPTURED_UNKNOWN &&
         (unchanged || t->scripts >= SCRIPTS_LEAST);
}

int captured_begin(CapturedTests *c, size_t test, Err *err) {
  CapturedTest *t = &c->tests[test];
  t->state = CAPTURED_BUSY;
  if (!t->records)
    t->records = arena_printf(&c->arena, "%s/%zu", c->dir, test);
  fs_remove_tree(t->records);
  if (fs_mkdirs(t->records, err))
    return -1;
  // The test may run as another user.
  return chmod(t->records, 0777)
             ? err_set(err, "%s: %s", t->records, strerror(errno))
             : 0;
}

bool captured_recorded(CapturedTests *c, size_t test,
                       const TriedVerdict *verdicts, size_t n) {
  CapturedTest *t = &c->tests[test];
  char *failed = mem_printf("%s/" CAPTURE_FAILED, t->records);
  char *first = mem_printf("%s/0", t->records);
  bool good = !fs_exists(failed) && fs_exists(first);
  free(failed);
  free(first);
  t->nverdicts = n;
  t->verdicts = arena_array(&c->arena, TriedVerdict, n + 1);
  memcpy(t->verdicts, verdicts, n * sizeof *verdicts);
  return good;
}

void captured_keep(CapturedTests *c, size_t test) {
  c->tests[test].state = CAPTURED_READY;
}

void captured_refuse(CapturedTests *c, size_t test) {
  CapturedTest *t = &c->tests[test];
  t->state = CAPTURED_NEVER;
  if (t->records)
    fs_remove_tree(t->records);
}

size_t captured_variables(const CapturedTests *c, size_t test, const char *from,
                          char **list, Arena *arena) {
  list[0] = arena_printf(arena, CAPTURE_VARIABLE "=%s", c->tests[test].records);
  list[1] = arena_printf(arena, CAPTURE_FROM_VARIABLE "=%s", from);
  return 2 + captured_repeat_variables(c, list + 2, arena);
}

size_t captured_repeat_variables(const CapturedTests *c, char **list,
                                 Arena *arena) {
  list[0] = arena_printf(arena, CAPTURE_BUILDS_VARIABLE "=%s", c->builds);
  return 1;
}

// --- deciding ---------------------------------------------------------------

CapturedAnswer captured_answer(int status, const char *out) {
  CapturedAnswer a = {.same = status == CAPTURE_SAME};
  size_t all, other;
  unsigned long long deed;
  Str text = {0};
  Err ignored;
  if (status == CAPTURE_OTHER && !fs_read_regular(out, 0, &text, &ignored) &&
      sscanf(str_text(&text), CAPTURE_LINE, &all, &other, &deed) == 3 && deed) {
    a.known = true;
    a.starts = other + 1;
    a.deed = deed;
  }
  str_release(&text);
  return a;
}

static const CapturedVerdict *find(const CapturedTest *t,
                                   const CapturedAnswer *a) {
  for (size_t i = 0; a->known && i < t->others.len; i++)
    if (t->others.items[i].answer.starts == a->starts &&
        t->others.items[i].answer.deed == a->deed)
      return &t->others.items[i];
  return NULL;
}

const TriedVerdict *captured_decide(CapturedTests *c, size_t test,
                                    const CapturedAnswer *a) {
  const CapturedTest *t = &c->tests[test];
  const CapturedVerdict *other = find(t, a);
  const TriedVerdict *verdicts = a->same ? t->verdicts
                                 : other ? other->verdicts
                                         : NULL;
  c->decided += verdicts != NULL;
  return verdicts;
}

void captured_learn(CapturedTests *c, size_t test, const CapturedAnswer *a,
                    uint64_t starts, const TriedVerdict *verdicts) {
  CapturedTest *t = &c->tests[test];
  if (!a->known || a->starts != starts || find(t, a) ||
      t->others.len == OTHERS_MOST)
    return;
  TriedVerdict *copy = arena_array(&c->arena, TriedVerdict, t->nverdicts + 1);
  memcpy(copy, verdicts, t->nverdicts * sizeof *copy);
  array_push(&t->others, ((CapturedVerdict){*a, copy}));
}
