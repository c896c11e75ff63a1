// Allocation that cannot fail: out of memory ends the program with a message.
#ifndef CULPRIT_UTIL_MEM_H
#define CULPRIT_UTIL_MEM_H

#include <stddef.h>

void *mem_alloc(size_t size);            // zeroed
void *mem_realloc(void *p, size_t size); // new bytes are undefined
void *mem_dup(const void *p, size_t size);
char *mem_strdup(const char *s);
char *mem_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#define mem_new(T) ((T *)mem_alloc(sizeof(T)))
#define mem_array(T, n) ((T *)mem_alloc_array((n), sizeof(T)))
void *mem_alloc_array(size_t n, size_t size); // zeroed; overflow checked

#endif
