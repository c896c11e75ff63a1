// How a program was linked, carried by the program itself: a small object file
// with the one section `culprit_link`, added to every link. Later builds of the
// same program (trace, mutants) link again from it.
//
// The section holds one chunk per link: the header, then NUL-terminated
// strings: the working directory, each argument (response files expanded), an
// empty string, then for each input file its path and the hash of its content
// in hexadecimal.
#ifndef CULPRIT_COMPILE_LINK_RECORD_H
#define CULPRIT_COMPILE_LINK_RECORD_H

#include <stdint.h>

#include "compile/cc_args.h"
#include "util/err.h"

#define LINK_SECTION "culprit_link"
#define LINK_MAGIC 0x4b4e494c50554c43ull // "CLUPLINK"
#define LINK_VERSION 1u

typedef struct {
  uint64_t magic;
  uint64_t size; // of the strings
  uint32_t version;
  uint32_t reserved;
} LinkHeader;

int link_record_write(const char *path, const CcArgs *args, Err *err);

#endif
