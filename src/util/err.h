// Errors as values. A function that can fail returns 0 or -1 and leaves one
// sentence in the caller's Err: what is wrong, with which file, and what to do
// about it. Only cli/ prints it.
//
//   if (h.version != RUNFILE_VERSION)
//     return err_set(err, "%s: run file version %u, this build reads %u",
//                    path, h.version, RUNFILE_VERSION);
#ifndef CULPRIT_UTIL_ERR_H
#define CULPRIT_UTIL_ERR_H

typedef struct {
  char text[2048]; // empty: no error
} Err;

// Sets the text (a later call replaces an earlier one) and returns -1.
int err_set(Err *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

// Puts "prefix: " before the text already there. Returns -1.
int err_prefix(Err *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
