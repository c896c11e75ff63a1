// Reading XML: elements and their attributes, errors with file, line and
// column.
#ifndef CULPRIT_VERDICT_XML_H
#define CULPRIT_VERDICT_XML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/err.h"
#include "verdict/import_file.h"

typedef struct Xml Xml;

// What to do where an element starts and ends; NULL: nothing. start() returns
// 0, or -1 after xml_fail: reading ends there.
typedef struct {
  const char *name;
  int (*start)(void *ctx, Xml *x, const char **attributes);
  void (*end)(void *ctx);
} XmlElement;

typedef struct {
  // The first element: NULL: any.
  const char *root, *other_root;
  const XmlElement *elements; // up to one without a name; others are ignored
  void (*text)(void *ctx, const char *text, size_t n); // NULL: ignored
} XmlHandlers;

int xml_read(const ImportFile *in, const XmlHandlers *handlers, void *ctx,
             Err *err);

int xml_fail(Xml *x, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

// The value of an attribute; NULL: there is none.
const char *xml_attribute(const char **attributes, const char *name);
// Those that must be there.
int xml_need(Xml *x, const char *element, const char **attributes,
             const char *name, const char **out);
int xml_need_line(Xml *x, const char *element, const char **attributes,
                  const char *name, uint32_t *out);
// A count: is it above 0?
int xml_need_positive(Xml *x, const char *element, const char **attributes,
                      const char *name, bool *out);

#endif
