// Shell words: splits a command line as sh would, if that needs no shell, so
// that a thousand short tests need not start a thousand shells.
//
//   -k 'a b' "c\"d" < ../in.txt 2>&1
//   words:     -k, a b, c"d
//   redirects: 0 reads ../in.txt; 2 is a copy of 1
//
// Understood: words, quotes, backslashes, and the redirections <, >, >>, N>,
// N>>, N>&M of standard streams. A line with anything else that is special to a
// shell ($ ` ; | & * ? [ ~ ( ) { } ! # << <> >| ...) goes to sh.
#ifndef CULPRIT_PROCESS_WORDS_H
#define CULPRIT_PROCESS_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "util/arena.h"
#include "util/array.h"
#include "util/str.h"

typedef enum {
  REDIRECT_READ,
  REDIRECT_WRITE,
  REDIRECT_APPEND,
  REDIRECT_DUP
} RedirectMode;

typedef struct {
  RedirectMode mode;
  int fd;           // the stream that is redirected: 0, 1 or 2
  int from;         // REDIRECT_DUP: the stream it becomes a copy of
  const char *path; // the others: the file
} Redirect;

typedef ARRAY(char *) WordList;

typedef struct {
  char **argv; // ends with NULL
  size_t argc;
  Redirect *redirects; // in the order they were written
  size_t nredirects;
} Words;

// False if only a shell understands the line. Memory: arena.
bool words_parse(Words *w, const char *line, Arena *arena);

// Appends `word` so that sh reads it back as this one word.
void words_quote(Str *out, const char *word);
// All of them, blanks between.
void words_quote_all(Str *out, char *const *argv);

// Is `name`, as the first word of a command, something only a shell has: a
// keyword (if, while, ...), a builtin (cd, exit, ...) or an assignment?
bool words_is_shell_command(const char *name);

#endif
