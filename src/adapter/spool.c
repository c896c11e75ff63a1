// Between `culprit run` and its log driver: see spool.h. All files are text,
// "name value" a line; values hold no newline.
#include "adapter/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/fs.h"
#include "util/mem.h"

// --- lines ------------------------------------------------------------------

static void put(Str *s, const char *name, const char *value) {
  str_addf(s, "%s ", name);
  for (const char *c = value; *c; c++)
    str_addc(s, *c == '\n' ? ' ' : *c);
  str_addc(s, '\n');
}

// Splits the next line of *text into name and value; false at the end.
static bool next_line(char **text, char **name, char **value) {
  if (!**text)
    return false;
  char *line = *text;
  size_t n = strcspn(line, "\n");
  *text = line + n + (line[n] == '\n');
  line[n] = '\0';
  *name = line;
  *value = line + strcspn(line, " ");
  if (**value)
    *(*value)++ = '\0';
  return true;
}

// The file appears complete, or changes at once.
static int write_complete(const char *dir, const char *name, const Str *text,
                          Err *err) {
  char *temporary = mem_printf("%s/new-%d", dir, (int)getpid());
  char *path = mem_printf("%s/%s", dir, name);
  int rc = fs_write(temporary, text->data, text->len, err);
  if (!rc && rename(temporary, path))
    rc = err_set(err, "%s: %s", path, strerror(errno));
  free(temporary);
  free(path);
  return rc;
}

// --- config -----------------------------------------------------------------

int spool_write_config(const char *dir, const SpoolConfig *c, Err *err) {
  Str text = {0};
  char number[64];
  snprintf(number, sizeof number, "%.17g", c->timeout);
  put(&text, "timeout", number);
  snprintf(number, sizeof number, "%.17g", c->limit);
  put(&text, "limit", number);
  put(&text, "rerun", c->rerun ? "1" : "0");
  put(&text, "root", c->root);
  int rc = write_complete(dir, "config", &text, err);
  str_release(&text);
  return rc;
}

int spool_read_config(const char *dir, SpoolConfig *c, Arena *arena, Err *err) {
  *c = (SpoolConfig){.root = ""};
  Str text = {0};
  char *path = mem_printf("%s/config", dir);
  int rc = fs_read_regular(path, 1 << 16, &text, err);
  free(path);
  char *at = text.data, *name, *value;
  while (!rc && at && next_line(&at, &name, &value)) {
    if (!strcmp(name, "timeout"))
      c->timeout = strtod(value, NULL);
    else if (!strcmp(name, "limit"))
      c->limit = strtod(value, NULL);
    else if (!strcmp(name, "rerun"))
      c->rerun = *value == '1';
    else if (!strcmp(name, "root"))
      c->root = arena_strdup(arena, value);
  }
  str_release(&text);
  return rc;
}

// --- records ----------------------------------------------------------------

static void put_result(Str *s, const SpoolResult *r) {
  char number[64];
  put(s, "result", r->result);
  snprintf(number, sizeof number, "%d", r->status);
  put(s, "status", number);
  snprintf(number, sizeof number, "%d", (int)r->end);
  put(s, "end", number);
  snprintf(number, sizeof number, "%.6f", r->seconds);
  put(s, "seconds", number);
  snprintf(number, sizeof number, "%d", r->sent);
  put(s, "sent", number);
  put(s, "log", r->log);
  put(s, "run", r->run);
}

int spool_write_record(const char *dir, const SpoolRecord *r, Err *err) {
  Str text = {0};
  put(&text, "test", r->test);
  put(&text, "command", r->command);
  char number[64];
  snprintf(number, sizeof number, "%.17g", r->overran);
  put(&text, "overran", number);
  for (int i = 0; i < r->nresults; i++)
    put_result(&text, &r->results[i]);
  char *name = mem_printf("rec-%d", (int)getpid());
  int rc = write_complete(dir, name, &text, err);
  free(name);
  str_release(&text);
  return rc;
}

static void get_line(SpoolRecord *r, const char *name, const char *value) {
  SpoolResult *last = r->nresults ? &r->results[r->nresults - 1] : NULL;
  char *copy = arena_strdup(&r->arena, value);
  if (!strcmp(name, "test"))
    r->test = copy;
  else if (!strcmp(name, "command"))
    r->command = copy;
  else if (!strcmp(name, "overran"))
    r->overran = strtod(value, NULL);
  else if (!strcmp(name, "result") && r->nresults < 2)
    r->results[r->nresults++] =
        (SpoolResult){.result = copy, .status = -1, .log = "", .run = ""};
  else if (!last)
    return;
  else if (!strcmp(name, "status"))
    last->status = atoi(value);
  else if (!strcmp(name, "end"))
    last->end = (End)atoi(value);
  else if (!strcmp(name, "seconds"))
    last->seconds = strtod(value, NULL);
  else if (!strcmp(name, "sent"))
    last->sent = atoi(value);
  else if (!strcmp(name, "log"))
    last->log = copy;
  else if (!strcmp(name, "run"))
    last->run = copy;
}

static int read_record(const char *path, SpoolRecord *r, Err *err) {
  *r = (SpoolRecord){.test = "", .command = ""};
  Str text = {0};
  if (fs_read_regular(path, 1 << 20, &text, err)) {
    str_release(&text);
    return -1;
  }
  char *at = text.data, *name, *value;
  while (at && next_line(&at, &name, &value))
    get_line(r, name, value);
  str_release(&text);
  return *r->test && r->nresults ? 1 : err_set(err, "%s: not a record", path);
}

int spool_take_record(const char *dir, SpoolRecord *r, Err *err) {
  DIR *d = opendir(dir);
  if (!d)
    return err_set(err, "%s: %s", dir, strerror(errno));
  int rc = 0;
  struct dirent *e;
  while (!rc && (e = readdir(d))) {
    if (strncmp(e->d_name, "rec-", 4) != 0)
      continue;
    char *path = mem_printf("%s/%s", dir, e->d_name);
    rc = read_record(path, r, err);
    unlink(path);
    free(path);
  }
  closedir(d);
  return rc;
}

void spool_record_release(SpoolRecord *r) {
  arena_release(&r->arena);
  *r = (SpoolRecord){0};
}

// --- automake's files -------------------------------------------------------

// The word after `field` in a line of `text` that starts with it.
static char *field_word(const char *text, const char *field, Arena *arena) {
  for (const char *line = text; *line;) {
    if (text_starts(line, field)) {
      const char *word = line + strlen(field);
      word += strspn(word, " \t");
      return arena_strndup(arena, word, strcspn(word, " \t\r\n"));
    }
    line += strcspn(line, "\n");
    line += *line == '\n';
  }
  return NULL;
}

char *trs_result(const char *path, Arena *arena) {
  Str text = {0};
  Err ignored;
  char *result = NULL;
  if (!fs_read_regular(path, 1 << 20, &text, &ignored)) {
    result = field_word(str_text(&text), ":global-test-result:", arena);
    if (!result)
      result = field_word(str_text(&text), ":test-result:", arena);
  }
  str_release(&text);
  return result ? result : arena_strdup(arena, "");
}

int log_status(const char *path) {
  static const char mark[] = "(exit status: ";
  int status = -1;
  Err ignored;
  int fd = fs_open_regular(AT_FDCWD, path, true, &ignored);
  FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
  if (!f)
    return -1;
  char tail[512];
  if (fseek(f, -(long)sizeof tail + 1, SEEK_END))
    rewind(f);
  size_t n = fread(tail, 1, sizeof tail - 1, f);
  fclose(f);
  for (size_t i = 0; i + strlen(mark) < n; i++)
    if (!memcmp(tail + i, mark, strlen(mark))) {
      tail[n] = '\0';
      status = atoi(tail + i + strlen(mark));
    }
  return status;
}
