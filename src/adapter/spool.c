// Files between `culprit run` and its log driver: see spool.h. They are text,
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

typedef struct {
  const char *name;
  enum { TEXT, NUMBER, REAL } kind; // char *, int, double
  size_t at;
} SpoolField;

#define FIELD(type, kind, member) {#member, kind, offsetof(type, member)}
#define LENGTH(a) (sizeof(a) / sizeof *(a))

static const SpoolField config_fields[] = {
    FIELD(SpoolConfig, REAL, timeout), FIELD(SpoolConfig, REAL, limit),
    FIELD(SpoolConfig, NUMBER, shard), FIELD(SpoolConfig, NUMBER, shards),
    FIELD(SpoolConfig, NUMBER, rerun), FIELD(SpoolConfig, TEXT, root),
    FIELD(SpoolConfig, TEXT, source),  FIELD(SpoolConfig, TEXT, close)};
static const SpoolField record_fields[] = {
    FIELD(SpoolRecord, TEXT, test), FIELD(SpoolRecord, TEXT, command),
    FIELD(SpoolRecord, TEXT, context), FIELD(SpoolRecord, REAL, overran)};
// The first one begins a result.
static const SpoolField result_fields[] = {
    FIELD(SpoolResult, TEXT, result), FIELD(SpoolResult, NUMBER, status),
    FIELD(SpoolResult, NUMBER, end),  FIELD(SpoolResult, REAL, seconds),
    FIELD(SpoolResult, NUMBER, sent), FIELD(SpoolResult, TEXT, log),
    FIELD(SpoolResult, TEXT, run)};

static void put_fields(Str *s, const SpoolField *f, size_t n,
                       const void *from) {
  for (; n; n--, f++) {
    const void *at = (const char *)from + f->at;
    str_addf(s, "%s ", f->name);
    if (f->kind == NUMBER)
      str_addf(s, "%d", *(const int *)at);
    else if (f->kind == REAL)
      str_addf(s, "%.17g", *(const double *)at);
    else
      for (const char *c = *(char *const *)at; c && *c; c++)
        str_addc(s, *c == '\n' ? ' ' : *c);
    str_addc(s, '\n');
  }
}

static void get_field(const SpoolField *f, size_t n, const char *name,
                      const char *value, void *to, Arena *arena) {
  for (; n; n--, f++) {
    void *at = (char *)to + f->at;
    if (strcmp(name, f->name) != 0)
      continue;
    if (f->kind == NUMBER)
      *(int *)at = atoi(value);
    else if (f->kind == REAL)
      *(double *)at = strtod(value, NULL);
    else
      *(char **)at = arena_strdup(arena, value);
  }
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
  put_fields(&text, config_fields, LENGTH(config_fields), c);
  int rc = write_complete(dir, "config", &text, err);
  str_release(&text);
  return rc;
}

int spool_read_config(const char *dir, SpoolConfig *c, Arena *arena, Err *err) {
  *c = (SpoolConfig){.root = "", .source = ".", .close = ""};
  Str text = {0};
  char *path = mem_printf("%s/config", dir);
  int rc = fs_read_regular(path, 1 << 16, &text, err);
  free(path);
  char *at = text.data, *name, *value;
  while (!rc && at && next_line(&at, &name, &value))
    get_field(config_fields, LENGTH(config_fields), name, value, c, arena);
  str_release(&text);
  return rc;
}

// --- records ----------------------------------------------------------------

int spool_write_record(const char *dir, const SpoolRecord *r, Err *err) {
  Str text = {0};
  put_fields(&text, record_fields, LENGTH(record_fields), r);
  for (int i = 0; i < r->nresults; i++)
    put_fields(&text, result_fields, LENGTH(result_fields), &r->results[i]);
  char *name = mem_printf("rec-%d", (int)getpid());
  int rc = write_complete(dir, name, &text, err);
  free(name);
  str_release(&text);
  return rc;
}

static void get_line(SpoolRecord *r, const char *name, const char *value) {
  if (!strcmp(name, "result") && r->nresults < ATTEMPTS_MOST)
    r->results[r->nresults++] =
        (SpoolResult){.result = "", .status = -1, .log = "", .run = ""};
  get_field(record_fields, LENGTH(record_fields), name, value, r, &r->arena);
  if (r->nresults)
    get_field(result_fields, LENGTH(result_fields), name, value,
              &r->results[r->nresults - 1], &r->arena);
}

static int read_record(const char *path, SpoolRecord *r, Err *err) {
  *r = (SpoolRecord){.test = "", .command = "", .context = ""};
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

char *trs_result(const char *path, Arena *arena) {
  char *word = fs_match(path, "^:global-test-result:[ \t]*([^ \t\r\n]*)");
  if (!word)
    word = fs_match(path, "^:test-result:[ \t]*([^ \t\r\n]*)");
  char *result = arena_strdup(arena, word ? word : "");
  free(word);
  return result;
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
