// One file given to an import: see import_file.h.
#include "verdict/import_file.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "util/fs.h"

// A file of a few kilobytes can unpack to as many gigabytes.
#define UNPACKED_MOST ((size_t)1 << 30)

int import_file_fail(const ImportFile *in, size_t line, Err *err,
                     const char *fmt, ...) {
  char text[1024];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  if (line)
    return err_set(err, "%s:%zu: %s", in->path, line, text);
  return err_set(err, "%s: %s", in->path, text);
}

// --- gzip ------------------------------------------------------------------

static bool is_packed(const Str *s) {
  return s->len > 2 && !memcmp(s->data, "\x1f\x8b", 2);
}

static int unpack_all(z_stream *z, const ImportFile *in, Str *out, Err *err) {
  char buf[65536];
  int rc = Z_OK;
  while (rc == Z_OK) {
    z->next_out = (unsigned char *)buf;
    z->avail_out = sizeof buf;
    rc = inflate(z, Z_NO_FLUSH);
    str_addn(out, buf, sizeof buf - z->avail_out);
    if (out->len > UNPACKED_MOST)
      return import_file_fail(in, 0, err, "unpacks to more than %zu MB",
                              UNPACKED_MOST >> 20);
    if (rc == Z_STREAM_END && z->avail_in) // several packed files in one
      rc = inflateReset(z);
  }
  if (rc == Z_STREAM_END)
    return 0;
  if (rc == Z_BUF_ERROR)
    return import_file_fail(
        in, 0, err, "cut off: gzip data ends after %lu bytes", z->total_in);
  return import_file_fail(in, 0, err, "damaged gzip data at byte %lu: %s",
                          z->total_in, z->msg ? z->msg : "not gzip");
}

int import_file_unpack(ImportFile *in, Err *err) {
  if (!is_packed(&in->text))
    return 0;
  Str packed = in->text;
  in->text = (Str){0};
  z_stream z = {.next_in = (unsigned char *)packed.data,
                .avail_in = (unsigned)packed.len};
  int rc = -1;
  if (packed.len > UNPACKED_MOST || inflateInit2(&z, 16 + MAX_WBITS) != Z_OK)
    import_file_fail(in, 0, err, "cannot be unpacked: too large");
  else
    rc = unpack_all(&z, in, &in->text, err);
  inflateEnd(&z);
  str_release(&packed);
  return rc;
}

int import_file_read(ImportFile *in, Err *err) {
  str_clear(&in->text);
  if (fs_read(in->path, 0, &in->text, err))
    return -1;
  return import_file_unpack(in, err);
}

void import_file_release(ImportFile *in) { str_release(&in->text); }

// --- lines -----------------------------------------------------------------

int lines_next(Lines *l, Err *err) {
  const Str *all = &l->in->text;
  if (l->at >= all->len)
    return 0;
  const char *start = all->data + l->at;
  const char *end = memchr(start, '\n', all->len - l->at);
  size_t n = end ? (size_t)(end - start) : all->len - l->at;
  l->at += n + 1;
  l->number++;
  if (memchr(start, '\0', n))
    return import_file_fail(l->in, l->number, err,
                            "a NUL byte: not a text file");
  while (n && start[n - 1] == '\r')
    n--;
  str_clear(&l->text);
  str_addn(&l->text, start, n);
  return 1;
}

void lines_release(Lines *l) { str_release(&l->text); }

bool parse_line_number(const char *text, const char **end, uint32_t *line) {
  uint32_t n = 0;
  const char *p = text;
  for (; isdigit((unsigned char)*p) && n <= LINE_MOST; p++)
    n = n * 10 + (uint32_t)(*p - '0');
  *end = p;
  *line = n;
  return p > text && n >= 1 && n <= LINE_MOST;
}
