// The words of a page: what a reader sees of it, without tags. Numbers, and what
// broken markup turns into text, are not counted: only words of letters.
//
// An experiment that makes a page good by printing less of it repairs nothing.
#ifndef CULPRIT_TRY_WEB_PAGE_WORDS_H
#define CULPRIT_TRY_WEB_PAGE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/array.h"

typedef ARRAY(uint64_t) PageWords; // hashes, ascending, as often as they occur

void page_words(const char *page, size_t size, PageWords *out);
// Does `page` have all words of `base`, as often?
bool page_words_kept(const PageWords *base, const PageWords *page);

#endif
