// Inside php/record/php_record.c: the items of shadows. Each function takes one
// item of at least its structure's size and returns NULL, or what is wrong with
// it.
#ifndef CULPRIT_PHP_RECORD_RECORD_TERMS_H
#define CULPRIT_PHP_RECORD_RECORD_TERMS_H

#include "php/record/term.h"
#include "util/array.h"

typedef struct {
  ARRAY(PhpTerm) terms; // [0] is unused
  ARRAY(PhpBranch) branches;
  ARRAY(PhpNamed) kept, opaque;
} TermList;

const char *term_list_add(TermList *l, const unsigned char *item, uint32_t size,
                          Arena *arena);
// Counters and files are the caller's to look up: `counter` of the item goes to
// *counter, the file's number to *file.
const char *term_list_branch(TermList *l, const unsigned char *item,
                             uint32_t *counter, uint32_t *file);
const char *term_list_named(TermList *l, const unsigned char *item,
                            uint32_t size, bool kept, Arena *arena);
void term_list_fill(const TermList *l, PhpShadows *out, Arena *arena);
void term_list_release(TermList *l);

#endif
