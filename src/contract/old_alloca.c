// Declarations of alloca that clang refuses: see old_alloca.h.
#include "contract/old_alloca.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "contract/overlay.h"
#include "util/array.h"
#include "util/fs.h"
#include "util/mem.h"

static const char NAME[] = "alloca", OTHER[] = "allocQ";
static const char ERROR[] = ": error: conflicting types for "
                            "'__builtin_alloca'";

typedef struct {
  char *path;
  Str text;
} Changed;

typedef ARRAY(Changed) ChangedFiles;

static bool is_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

bool old_alloca_suspected(const char *text) {
  for (const char *p = text; (p = strstr(p, NAME)); p += strlen(NAME)) {
    const char *before = p;
    while (before > text && (before[-1] == ' ' || before[-1] == '\t'))
      before--;
    if (before > text && before[-1] == '*' && !is_name(p[strlen(NAME)]))
      return true;
  }
  return false;
}

// The file that is to be changed; NULL: it cannot be read.
static Changed *find_file(ChangedFiles *files, const char *path, size_t n) {
  Err ignored;
  Changed file = {.path = mem_printf("%.*s", (int)n, path)};
  for (size_t i = 0; i < files->len; i++)
    if (!strcmp(files->items[i].path, file.path)) {
      free(file.path);
      return &files->items[i];
    }
  if (fs_read(file.path, 0, &file.text, &ignored)) {
    free(file.path);
    str_release(&file.text);
    return NULL;
  }
  array_push(files, file);
  return &array_last(files);
}

// Renames what stands at line and column, both from 1.
static bool rename_at(Str *text, unsigned long line, unsigned long column) {
  char *p = text->data;
  while (p && --line)
    p = (p = strchr(p, '\n')) ? p + 1 : NULL;
  if (!p || !column || column > strcspn(p, "\n") ||
      !text_starts(p + column - 1, NAME))
    return false;
  memcpy(p + column - 1, OTHER, strlen(OTHER));
  return true;
}

// One line of clang's: "FILE:LINE:COLUMN: error: conflicting types ...".
static bool change(ChangedFiles *files, const char *message, const char *end) {
  const char *column = end, *line;
  while (column > message && column[-1] != ':')
    column--;
  for (line = column - (column > message); line > message && line[-1] != ':';)
    line--;
  if (line - 1 <= message)
    return false;
  Changed *file = find_file(files, message, (size_t)(line - 1 - message));
  return file && rename_at(&file->text, strtoul(line, NULL, 10),
                           strtoul(column, NULL, 10));
}

int old_alloca_write(const char *messages, const char *prefix, char **overlay,
                     Err *err) {
  ChangedFiles files = {0};
  bool any = false;
  *overlay = NULL;
  for (const char *p = messages; (p = strstr(p, ERROR)); p += strlen(ERROR)) {
    const char *line = p;
    while (line > messages && line[-1] != '\n')
      line--;
    any |= change(&files, line, p);
  }
  Overlay o = {.prefix = prefix};
  int rc = 0;
  for (size_t i = 0; i < files.len && any && !rc; i++)
    rc = overlay_add(&o, files.items[i].path, &files.items[i].text, err);
  if (any && !rc && !(*overlay = overlay_write(&o, err)))
    rc = -1;
  for (size_t i = 0; i < files.len; i++) {
    free(files.items[i].path);
    str_release(&files.items[i].text);
  }
  array_release(&files);
  return rc;
}
