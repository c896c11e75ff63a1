// Requests that stand as literals in the JavaScript of a page, which is not run.
//
//   fetch('/api/item.php?id=3')                         GET
//   fetch("item.php", {method: 'PUT',
//         body: JSON.stringify({name: n, size: 3})})    PUT, a JSON object
//   xhr.open('DELETE', 'item.php?id=3')                 DELETE
//
// Values that are not literals are guessed by their names.
#ifndef CULPRIT_EXPLORE_SURVEY_SCRIPT_REQUESTS_H
#define CULPRIT_EXPLORE_SURVEY_SCRIPT_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>

#include "php/ask.h"
#include "util/arena.h"

enum { SCRIPT_REQUESTS_MOST = 40 }; // of one page

// Appends the requests of the scripts in the page at `path`, and in the files
// below `root` that it loads. True: its scripts make forms or requests besides.
bool script_requests_find(const char *page, size_t len, const char *path,
                          const char *root, Asks *out, Arena *arena);

#endif
