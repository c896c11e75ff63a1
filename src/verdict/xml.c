// Reading XML: see xml.h.
#include "verdict/xml.h"

#include <assert.h>
#include <ctype.h>
#include <expat.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct Xml {
  XML_Parser parser;
  const ImportFile *in;
  const XmlHandlers *handlers;
  void *ctx;
  Err *err;
  bool begun;  // the root was seen
  bool failed; // err says why
};

// XML_STATUS_ERROR is what expat then returns.
static void stop(Xml *x) {
  x->failed = true;
  XML_StopParser(x->parser, XML_FALSE);
}

int xml_fail(Xml *x, const char *fmt, ...) {
  char text[1024];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  return err_set(x->err, "%s:%lu:%lu: %s", x->in->path,
                 (unsigned long)XML_GetCurrentLineNumber(x->parser),
                 (unsigned long)XML_GetCurrentColumnNumber(x->parser) + 1,
                 text);
}

// --- attributes ------------------------------------------------------------

const char *xml_attribute(const char **attributes, const char *name) {
  for (; *attributes; attributes += 2)
    if (!strcmp(*attributes, name))
      return attributes[1];
  return NULL;
}

int xml_need(Xml *x, const char *element, const char **attributes,
             const char *name, const char **out) {
  *out = xml_attribute(attributes, name);
  return *out ? 0 : xml_fail(x, "<%s> without %s=", element, name);
}

int xml_need_line(Xml *x, const char *element, const char **attributes,
                  const char *name, uint32_t *out) {
  const char *text, *end;
  if (xml_need(x, element, attributes, name, &text))
    return -1;
  if (parse_line_number(text, &end, out) && !*end)
    return 0;
  return xml_fail(x, "<%s %s=\"%.40s\">: not the number of a line", element,
                  name, text);
}

int xml_need_positive(Xml *x, const char *element, const char **attributes,
                      const char *name, bool *out) {
  const char *text;
  if (xml_need(x, element, attributes, name, &text))
    return -1;
  *out = false;
  const char *p = text + (*text == '-');
  bool negative = *text == '-', digits = isdigit((unsigned char)*p);
  for (; isdigit((unsigned char)*p); p++)
    *out |= *p != '0' && !negative;
  if (digits && !*p)
    return 0;
  return xml_fail(x, "<%s %s=\"%.40s\">: not a number", element, name, text);
}

// --- parsing ---------------------------------------------------------------

static int check_root(Xml *x, const char *element) {
  const XmlHandlers *h = x->handlers;
  x->begun = true;
  if (!h->root || !strcmp(element, h->root) ||
      (h->other_root && !strcmp(element, h->other_root)))
    return 0;
  return xml_fail(x, "begins with <%.40s>, should with <%s>: another format?",
                  element, h->root);
}

static const XmlElement *find(const Xml *x, const char *name) {
  const XmlElement *e = x->handlers->elements;
  while (e->name && strcmp(e->name, name))
    e++;
  return e;
}

static void XMLCALL on_start(void *ctx, const char *element,
                             const char **attributes) {
  Xml *x = ctx;
  const XmlElement *e = find(x, element);
  if (x->failed)
    return;
  if ((!x->begun && check_root(x, element)) ||
      (e->start && e->start(x->ctx, x, attributes)))
    stop(x);
}

static void XMLCALL on_end(void *ctx, const char *element) {
  Xml *x = ctx;
  const XmlElement *e = find(x, element);
  if (!x->failed && e->end)
    e->end(x->ctx);
}

static void XMLCALL on_text(void *ctx, const char *text, int n) {
  Xml *x = ctx;
  if (!x->failed)
    x->handlers->text(x->ctx, text, (size_t)n);
}

static int parse(Xml *x) {
  // In pieces: expat counts bytes in an int.
  enum { PIECE = 1 << 20 };
  const Str *text = &x->in->text;
  size_t at = 0;
  do {
    size_t n = text->len - at < PIECE ? text->len - at : PIECE;
    bool last = at + n == text->len;
    if (XML_Parse(x->parser, str_text(text) + at, (int)n, last) !=
        XML_STATUS_OK) {
      if (x->failed)
        return -1;
      return xml_fail(x, "%s", XML_ErrorString(XML_GetErrorCode(x->parser)));
    }
    at += n;
  } while (at < text->len);
  return 0;
}

int xml_read(const ImportFile *in, const XmlHandlers *handlers, void *ctx,
             Err *err) {
  Xml x = {.parser = XML_ParserCreate(NULL),
           .in = in,
           .handlers = handlers,
           .ctx = ctx,
           .err = err};
  if (!x.parser)
    return import_file_fail(in, 0, err, "out of memory");
  XML_SetUserData(x.parser, &x);
  XML_SetElementHandler(x.parser, on_start, on_end);
  if (handlers->text)
    XML_SetCharacterDataHandler(x.parser, on_text);
  int rc = parse(&x);
  XML_ParserFree(x.parser);
  return rc;
}
