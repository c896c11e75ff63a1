// The attributes whose values are looked at.
#include "oracle/html/html_value.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "oracle/html/html_element.h"

// For which elements; EL_COUNT: all. `words` NULL: a whole number.
typedef struct {
  const char *name;
  unsigned elements[3];
  const char *words;
} AttributeRule;

enum { ALL = EL_COUNT, NONE = EL_COUNT + 1 };

static const AttributeRule attributes[] = {
    {"colspan", {EL_TD, EL_TH, NONE}, NULL},
    {"cols", {EL_TEXTAREA, NONE}, NULL},
    {"dir", {ALL, NONE}, " ltr rtl auto "},
    {"maxlength", {EL_INPUT, EL_TEXTAREA, NONE}, NULL},
    {"method", {EL_FORM, NONE}, " get post dialog "},
    {"rows", {EL_TEXTAREA, NONE}, NULL},
    {"rowspan", {EL_TD, EL_TH, NONE}, NULL},
    {"scope", {EL_TD, EL_TH, NONE}, " row col rowgroup colgroup "},
    {"size", {EL_INPUT, EL_SELECT, NONE}, NULL},
    {"tabindex", {ALL, NONE}, NULL},
    {"type", {EL_BUTTON, NONE}, " button submit reset menu "},
    {"type",
     {EL_INPUT, NONE},
     " button checkbox color date datetime datetime-local email file hidden "
     "image month number password radio range reset search submit tel text "
     "time url week "},
};

static bool applies(const AttributeRule *a, size_t element) {
  for (const unsigned *e = a->elements; *e != NONE; e++)
    if (*e == ALL || *e == element)
      return true;
  return false;
}

static bool is_number(const char *value, size_t len) {
  size_t i = len && (*value == '-' || *value == '+');
  size_t digits = i;
  while (i < len && isdigit((unsigned char)value[i]))
    i++;
  return i == len && i > digits;
}

static bool is_word(const char *words, const char *value, size_t len) {
  for (const char *w = words + strspn(words, " "); *w; w += strspn(w, " ")) {
    size_t n = strcspn(w, " ");
    if (n == len && strncasecmp(w, value, len) == 0)
      return true;
    w += n;
  }
  return false;
}

static bool is_odd(const AttributeRule *a, const char *value, size_t len) {
  while (len && isspace((unsigned char)value[len - 1]))
    len--;
  while (len && isspace((unsigned char)*value))
    value++, len--;
  if (!len || memchr(value, '{', len)) // {{ is filled in by scripts
    return false;
  return a->words ? !is_word(a->words, value, len) : !is_number(value, len);
}

bool value_is_odd(size_t element, const char *name, size_t name_len,
                  const char *value, size_t value_len) {
  for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
    const AttributeRule *a = &attributes[i];
    if (strlen(a->name) == name_len && applies(a, element) &&
        strncasecmp(a->name, name, name_len) == 0)
      return is_odd(a, value, value_len);
  }
  return false;
}
