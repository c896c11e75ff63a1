// Experiments on PHP scripts, as the extension makes them
// (culprit.collect=try): what is changed in the next request, and what there is
// to change. php/record/record_format.h describes the files.
#ifndef CULPRIT_PHP_SOURCE_PHP_CHANGE_H
#define CULPRIT_PHP_SOURCE_PHP_CHANGE_H

#include <stddef.h>
#include <stdint.h>

#include "php/record/record_format.h"
#include "util/array.h"
#include "util/err.h"
#include "util/str.h"

typedef struct {
  const char *path;        // of the script, as records name it
  uint64_t hash;           // of its text
  uint32_t offset, length; // the bytes that are replaced
  const char *with;
} PhpChange;

// From now on the worker in `dir` (worker_dir) makes this change, NULL: none.
// `steps`: statements that a request with a change may execute; 0: any number.
int php_change_set(const char *dir, const PhpChange *c, uint64_t steps,
                   Err *err);

typedef ARRAY(PhpToken) PhpTokens;

// The tokens of the script whose text has this hash and size. They lie in the
// text, in order. -1: they are not there, or are none.
int php_tokens_read(const char *maps, uint64_t hash, size_t size,
                    PhpTokens *out, Err *err);
// The text itself, as it was compiled, with its tokens.
int php_text_read(const char *maps, uint64_t hash, Str *text, PhpTokens *tokens,
                  Err *err);

#endif
