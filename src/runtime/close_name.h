// How the runtime finds the build of its program that was made for a closer look
// (program/trace_build.h, close_build): in the directory that CULPRIT_CLOSE
// names, under a hash of the program's path, which is what /proc/self/exe says.
// Guest code.
#ifndef CULPRIT_RUNTIME_CLOSE_NAME_H
#define CULPRIT_RUNTIME_CLOSE_NAME_H

#include <stddef.h>
#include <stdint.h>

enum { CLOSE_NAME = 16 }; // letters

// Writes the name and a NUL: FNV-1a with 64 bits, in hexadecimal.
static inline __attribute__((always_inline)) void
close_name(char *name, const char *program, size_t n) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < n; i++)
    hash = (hash ^ (unsigned char)program[i]) * 0x100000001b3u;
  for (int i = CLOSE_NAME; i--; hash >>= 4)
    name[i] = "0123456789abcdef"[hash & 15];
  name[CLOSE_NAME] = '\0';
}

#endif
