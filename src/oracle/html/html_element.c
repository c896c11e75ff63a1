// The table of elements and the search in it.
#include "oracle/html/html_element.h"

#include <string.h>

const ElementInfo element_info[EL_COUNT] = {
#define E(ID, name, flags) {name, flags},
#include "oracle/html/html_element.def"
#undef E
};

// Like strcmp, of a name that is not terminated and may hold any byte.
static int compare(const char *name, size_t len, const char *known) {
  size_t known_len = strlen(known);
  int order = memcmp(name, known, len < known_len ? len : known_len);
  return order ? order : (len > known_len) - (len < known_len);
}

size_t element_find(const char *name, size_t len) {
  size_t low = 0, high = EL_COUNT;
  while (low < high) {
    size_t middle = (low + high) / 2;
    int order = compare(name, len, element_info[middle].name);
    if (order == 0)
      return middle;
    if (order < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return EL_COUNT;
}
