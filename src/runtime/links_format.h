// The link-time constants of a unit (addresses of globals and functions) as
// they are in the running program: a LinksHeader, then `n` values of 8 bytes,
// in the program's own memory. A reader finds them in a snapshot of that memory
// by magic number and unit.
#ifndef CULPRIT_RUNTIME_LINKS_FORMAT_H
#define CULPRIT_RUNTIME_LINKS_FORMAT_H

#include <stdint.h>

#define LINKS_MAGIC 0x314b4e4c50554c43ull // "CLUPLNK1"
#define LINKS_SECTION "culprit_lnk"

typedef struct {
  uint64_t magic;
  unsigned char id[16]; // of the unit
  uint64_t n;
} LinksHeader;

#endif
