// The source files a report shows: see source.h.
#include "report/source.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "util/array.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

enum { MAX_BYTES = 64 << 20 };

struct ReportSource {
  SourceState state;
  bool kept; // text and starts are filled
  Str text;
  ARRAY(size_t) starts; // of lines
};

void sources_init(Sources *s, const Suite *suite) {
  s->suite = suite;
  s->texts = mem_array(ReportSource, suite->nsources);
}

void sources_release(Sources *s) {
  for (size_t i = 0; s->suite && i < s->suite->nsources; i++) {
    str_release(&s->texts[i].text);
    array_release(&s->texts[i].starts);
  }
  free(s->texts);
  *s = (Sources){0};
}

// Only plain files: a path may have become a device or a pipe that never ends.
static int read_plain(const char *path, Str *text) {
  struct stat st;
  Err ignored;
  if (stat(path, &st) || !S_ISREG(st.st_mode) || st.st_size > MAX_BYTES)
    return -1;
  return fs_read(path, MAX_BYTES, text, &ignored);
}

static SourceState read_source(const Sources *s, uint32_t source, Str *text) {
  const Source *info = &s->suite->sources[source];
  char *path = path_absolute(info->path, s->suite->cwd);
  int rc = read_plain(path, text);
  free(path);
  if (rc)
    return SOURCE_UNREADABLE;
  if (info->hash && XXH3_64bits(str_text(text), text->len) != info->hash)
    return SOURCE_CHANGED;
  return SOURCE_READABLE;
}

SourceState sources_state(const Sources *s, uint32_t source) {
  return s->texts[source].state;
}

SourceState sources_check(Sources *s, uint32_t source) {
  ReportSource *t = &s->texts[source];
  if (t->state == SOURCE_UNSEEN) {
    Str text = {0};
    t->state = read_source(s, source, &text);
    str_release(&text);
  }
  return t->state;
}

static void keep(const Sources *s, uint32_t source, ReportSource *t) {
  t->kept = true;
  t->state = read_source(s, source, &t->text);
  if (t->state == SOURCE_UNREADABLE)
    return;
  for (size_t at = 0; at < t->text.len;) {
    array_push(&t->starts, at);
    const char *end = memchr(t->text.data + at, '\n', t->text.len - at);
    at = end ? (size_t)(end - t->text.data) + 1 : t->text.len;
  }
}

bool sources_line(Sources *s, uint32_t source, uint32_t line, const char **text,
                  size_t *n) {
  ReportSource *t = &s->texts[source];
  if (!t->kept)
    keep(s, source, t);
  if (!line || line > t->starts.len)
    return false;
  size_t start = t->starts.items[line - 1];
  size_t end = line < t->starts.len ? t->starts.items[line] : t->text.len;
  while (end > start && strchr("\r\n", t->text.data[end - 1]) &&
         t->text.data[end - 1])
    end--;
  *text = t->text.data + start;
  *n = end - start;
  return true;
}
