// A virtual file system for clang: see overlay.h.
#include "contract/overlay.h"

#include <stdlib.h>

#include "util/fs.h"
#include "util/mem.h"

void overlay_quote(Str *out, const char *text) {
  str_addc(out, '"');
  for (; *text; text++) {
    if (*text == '"' || *text == '\\')
      str_addc(out, '\\');
    str_addc(out, *text);
  }
  str_addc(out, '"');
}

int overlay_add(Overlay *o, const char *path, const Str *text, Err *err) {
  char *written = mem_printf("%s-%zu.c", o->prefix, o->files++);
  char *name = path_absolute(path, NULL), *full = path_absolute(written, NULL);
  int rc = fs_write(written, str_text(text), text->len, err);
  str_add(&o->list, "{\"type\": \"file\", \"name\": ");
  overlay_quote(&o->list, name);
  str_add(&o->list, ", \"external-contents\": ");
  overlay_quote(&o->list, full);
  str_add(&o->list, "},\n");
  free(name);
  free(full);
  free(written);
  return rc;
}

char *overlay_write(Overlay *o, Err *err) {
  Str text = {0};
  char *path = mem_printf("%s.yaml", o->prefix);
  str_addf(&text,
           "{\"version\": 0, \"use-external-names\": false, "
           "\"roots\": [\n%s]}\n",
           str_text(&o->list));
  if (fs_write(path, str_text(&text), text.len, err)) {
    free(path);
    path = NULL;
  }
  str_release(&text);
  str_release(&o->list);
  return path;
}
