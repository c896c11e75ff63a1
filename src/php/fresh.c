// Values taken from the page before: see fresh.h.
#include "php/fresh.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

void fresh_release(Fresh *f) {
  text_list_release(&f->values);
  hashmap_release(&f->fields);
}

static void note_field(Fresh *f, const Field *field) {
  const char *name = field->name;
  uint64_t fresh = f->values.len;
  uint64_t i = hashmap_intern(&f->fields, name, strlen(name), fresh);
  if (i == fresh)
    array_push(&f->values, NULL);
  free(f->values.items[i]);
  f->values.items[i] = mem_strdup(field->value);
}

void fresh_note(Fresh *f, const char *host, const Request *r,
                const Response *page) {
  Arena arena = {0};
  Links links =
      links_read(page->body, page->body_len, host, r->path, r->query, &arena);
  for (size_t i = links.len; i--;) // of several the first counts
    for (size_t k = links.items[i].nfields; k--;)
      if (links.items[i].fields[k].kind == FIELD_FIXED)
        note_field(f, &links.items[i].fields[k]);
  arena_release(&arena);
}

bool fresh_names(const char *header, const char *name) {
  size_t n = strlen(name);
  for (const char *p = header; p && (p = strstr(p, name)); p++)
    if ((p == header || strchr(" ,\t", p[-1])) &&
        (!p[n] || strchr(" ,\t", p[n])))
      return true;
  return false;
}

static void add_escaped(Str *out, const char *text) {
  for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
    if (isalnum(*p) || strchr("-_.~", *p))
      str_addc(out, (char)*p);
    else
      str_addf(out, "%%%02X", *p);
  }
}

static const char *value_of(const Fresh *f, const char *header,
                            const char *name) {
  uint64_t i;
  return fresh_names(header, name) &&
                 hashmap_get(&f->fields, name, strlen(name), &i)
             ? f->values.items[i]
             : NULL;
}

// name=value&name=value
static const char *rewrite(const Fresh *f, const char *header, const char *data,
                           size_t len, size_t *out_len, Arena *arena) {
  Str out = {0};
  for (const char *p = data, *end = data + len; p < end;) {
    const char *stop = memchr(p, '&', (size_t)(end - p));
    stop = stop ? stop : end;
    const char *equals = memchr(p, '=', (size_t)(stop - p));
    size_t n = (size_t)((equals ? equals : stop) - p);
    const char *now = value_of(f, header, arena_strndup(arena, p, n));
    if (now) {
      str_addn(&out, p, n);
      str_addc(&out, '=');
      add_escaped(&out, now);
    } else {
      str_addn(&out, p, (size_t)(stop - p));
    }
    if (stop < end)
      str_addc(&out, '&');
    p = stop + (stop < end);
  }
  *out_len = out.len;
  return arena_take(arena, &out);
}

// Content-Disposition: form-data; name="token" CRLF CRLF value CRLF
static const char *rewrite_part(const Fresh *f, const char *name,
                                const char *data, size_t len, size_t *out_len,
                                Arena *arena) {
  const char *head = arena_printf(arena, "name=\"%s\"\r\n\r\n", name);
  const char *at = memmem(data, len, head, strlen(head));
  uint64_t i;
  *out_len = len;
  if (!at || !hashmap_get(&f->fields, name, strlen(name), &i))
    return data;
  at += strlen(head);
  const char *end = memmem(at, len - (size_t)(at - data), "\r\n", 2);
  if (!end)
    return data;
  Str out = {0};
  str_addn(&out, data, (size_t)(at - data));
  str_add(&out, f->values.items[i]);
  str_addn(&out, end, len - (size_t)(end - data));
  *out_len = out.len;
  return arena_take(arena, &out);
}

static void rewrite_parts(const Fresh *f, const char *header, Request *out,
                          Arena *arena) {
  for (const char *p = header; *p;) {
    size_t n = strcspn(p, " ,\t");
    if (n)
      out->body = rewrite_part(f, arena_strndup(arena, p, n), out->body,
                               out->body_len, &out->body_len, arena);
    p += n + (p[n] != '\0');
  }
}

Request fresh_apply(const Fresh *f, const Request *r, Arena *arena) {
  Request out = *r;
  const char *header = headers_get(&r->headers, FRESH_HEADER);
  const char *type = headers_get(&r->headers, "Content-Type");
  size_t ignored;
  if (!header)
    return out;
  out.query = rewrite(f, header, r->query, strlen(r->query), &ignored, arena);
  if (type && strstr(type, "multipart"))
    rewrite_parts(f, header, &out, arena);
  else
    out.body = rewrite(f, header, r->body, r->body_len, &out.body_len, arena);
  return out;
}
