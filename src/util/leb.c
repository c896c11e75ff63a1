// Numbers in as few bytes as they need: see leb.h.
#include "util/leb.h"

void leb_put(Str *out, uint64_t v) {
  do {
    unsigned char low = v & 0x7f;
    v >>= 7;
    str_addc(out, (char)(low | (v ? 0x80 : 0)));
  } while (v);
}

bool leb_get(const unsigned char **at, const unsigned char *end, uint64_t *v) {
  *v = 0;
  for (int shift = 0; shift < 64 && *at < end; shift += 7) {
    unsigned char c = *(*at)++;
    if (shift == 63 && c > 1)
      break;
    *v |= (uint64_t)(c & 0x7f) << shift;
    if (!(c & 0x80))
      return true;
  }
  *at = end;
  *v = 0;
  return false;
}
