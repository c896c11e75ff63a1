// Pages that show a failure: see kept_page.h.
#include "run/kept_page.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "util/fs.h"
#include "util/mem.h"

static const char *const kinds[] = {[OUTPUT_PLAIN] = "plain",
                                    [OUTPUT_TEMPLATE] = "template",
                                    [OUTPUT_CHANGED] = "changed",
                                    [OUTPUT_UNKNOWN] = "unknown"};

static char *directory(const Store *store, int64_t session) {
  return mem_printf("%s/made/%lld/pages", store_dir(store), (long long)session);
}

// The files' name without its end.
static char *base_of(const char *dir, const char *signature) {
  return mem_printf(
      "%s/%016llx", dir,
      (unsigned long long)XXH3_64bits(signature, strlen(signature)));
}

// --- writing ----------------------------------------------------------------

// "12" comes before "103"; names that are no numbers as strings.
static bool comes_before(const char *a, const char *b) {
  size_t n = strlen(a), m = strlen(b);
  return n != m ? n < m : strcmp(a, b) < 0;
}

// The test named in the first line of a map, or NULL.
static char *test_of(const char *map) {
  const char *end = strchr(map, '\n');
  if (!text_starts(map, "test ") || !end)
    return NULL;
  return mem_printf("%.*s", (int)(end - map - 5), map + 5);
}

static bool is_first(const char *base, const char *test) {
  Str map = {0};
  Err ignored;
  bool first = true;
  char *path = mem_printf("%s.map", base);
  if (!fs_read(path, 4096, &map, &ignored)) {
    char *other = test_of(str_text(&map));
    first = !other || comes_before(test, other);
    free(other);
  }
  free(path);
  str_release(&map);
  return first;
}

int page_write(const char *base, const char *head, const char *body, size_t n,
               const PhpRecord *record, Err *err) {
  char *body_path = mem_printf("%s.body", base);
  char *map_path = mem_printf("%s.map", base);
  Str map = {0};
  str_add(&map, head);
  for (size_t i = 0; record && i < record->npieces; i++) {
    const OutputPiece *p = &record->pieces[i];
    str_addf(&map, "%llu\t%llu\t%s\t%s:%u\n", (unsigned long long)p->offset,
             (unsigned long long)p->length, kinds[p->kind],
             p->file ? p->file : "", p->line);
  }
  int rc = fs_write(body_path, body, n, err) ||
           fs_write(map_path, map.data, map.len, err);
  str_release(&map);
  free(body_path);
  free(map_path);
  return rc ? -1 : 0;
}

int kept_page_write(const Store *store, int64_t session, const Run *run,
                    const char *body, size_t n, const PhpRecord *record,
                    Err *err) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  if (!run->failures.len || !n || n > KEPT_PAGE_MAX)
    return 0;
  char *dir = directory(store, session);
  char *head = mem_printf("test %s\n", run->test);
  int rc = fs_mkdirs(dir, err);
  pthread_mutex_lock(&lock);
  for (size_t i = 0; !rc && i < run->failures.len; i++) {
    char *base = base_of(dir, run->failures.items[i].signature);
    if (is_first(base, run->test))
      rc = page_write(base, head, body, n, record, err);
    free(base);
  }
  pthread_mutex_unlock(&lock);
  free(head);
  free(dir);
  return rc;
}

// --- reading ----------------------------------------------------------------

static void add_piece(KeptPage *p, size_t offset, size_t length,
                      const char *file, uint32_t line) {
  size_t end = 0;
  if (p->pieces.len)
    end = array_last(&p->pieces).offset + array_last(&p->pieces).length;
  if (!length || offset < end || offset > p->body.len ||
      length > p->body.len - offset)
    return;
  array_push(&p->pieces, (KeptPiece){offset, length, mem_strdup(file), line});
}

// Each line of a template was written by a line of its own.
static void add_template(KeptPage *p, size_t offset, size_t length,
                         const char *file, uint32_t line) {
  if (offset > p->body.len || length > p->body.len - offset)
    return;
  while (length) {
    const char *text = p->body.data + offset;
    const char *end = memchr(text, '\n', length);
    size_t n = end ? (size_t)(end - text) + 1 : length;
    add_piece(p, offset, n, file, line++);
    offset += n;
    length -= n;
  }
}

static void read_piece(KeptPage *p, char *text) {
  char *offset = strsep(&text, "\t"), *length = strsep(&text, "\t");
  char *kind = strsep(&text, "\t");
  char *colon = text ? strrchr(text, ':') : NULL;
  if (!colon)
    return;
  *colon = '\0';
  size_t at = strtoull(offset, NULL, 10), n = strtoull(length, NULL, 10);
  uint32_t line = (uint32_t)strtoul(colon + 1, NULL, 10);
  if (!strcmp(kind, kinds[OUTPUT_TEMPLATE]))
    add_template(p, at, n, text, line);
  else
    add_piece(p, at, n, text, line);
}

static void read_map(KeptPage *p, char *map) {
  p->test = test_of(map);
  if (!p->test)
    return;
  strsep(&map, "\n");
  char *line;
  while ((line = strsep(&map, "\n")))
    read_piece(p, line);
}

void kept_page_read(KeptPage *p, const Store *store, int64_t session,
                    const char *signature) {
  *p = (KeptPage){0};
  char *dir = directory(store, session);
  char *base = base_of(dir, signature);
  char *body_path = mem_printf("%s.body", base);
  char *map_path = mem_printf("%s.map", base);
  Str map = {0};
  Err ignored;
  if (!fs_read(body_path, KEPT_PAGE_MAX, &p->body, &ignored) && p->body.len &&
      !fs_read(map_path, 16 << 20, &map, &ignored) && map.len)
    read_map(p, map.data);
  if (!p->test)
    kept_page_release(p);
  str_release(&map);
  free(body_path);
  free(map_path);
  free(base);
  free(dir);
}

void kept_page_release(KeptPage *p) {
  for (size_t i = 0; i < p->pieces.len; i++)
    free(p->pieces.items[i].file);
  array_release(&p->pieces);
  str_release(&p->body);
  free(p->test);
  *p = (KeptPage){0};
}

static const char *find(const char *text, size_t n, const char *what) {
  return memmem(text, n, what, strlen(what));
}

size_t kept_page_find(const KeptPage *p, const char *file, uint32_t line,
                      const char *text) {
  for (size_t i = 0; *text && i < p->pieces.len; i++) {
    const KeptPiece *k = &p->pieces.items[i];
    if (k->line != line || strcmp(k->file, file) != 0)
      continue;
    // It begins in the piece, and may go on in those behind.
    const char *start = p->body.data + k->offset;
    const char *at = find(start, p->body.len - k->offset, text);
    if (at && (size_t)(at - start) < k->length)
      return (size_t)(at - p->body.data);
  }
  return SIZE_MAX;
}
