// Invalid attribute values: not a number, or a word that the attribute does not
// accept. Only those that change what the page does: width="22px" and
// the like are left alone.
#ifndef CULPRIT_ORACLE_HTML_HTML_VALUE_H
#define CULPRIT_ORACLE_HTML_HTML_VALUE_H

#include <stdbool.h>
#include <stddef.h>

bool value_is_odd(size_t element, const char *name, size_t name_len,
                  const char *value, size_t value_len);

#endif
