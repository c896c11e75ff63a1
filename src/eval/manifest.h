// The list of faulty versions that `culprit eval` goes through: a file of
// tab-separated columns, so that a spreadsheet or a few lines of shell make
// one.
//
//   # golden/ holds the correct program, vN/ a version with one fault each
//   name    build       program tests    oracle                faulty
//   tcas/v1 make -C v1  v1/tcas universe reference:golden/tcas v1/tcas.c:75
//   tcas/v2 make -C v2  v2/tcas universe reference:golden/tcas v2/tcas.c:63,66
//
// The first line names the columns, in any order; `cwd` and `timeout` may be
// left out, others may be added and are ignored. Empty lines and lines that
// begin with # are skipped. Paths are relative to the manifest's directory,
// where the build command runs. "{dir}" in any column but `name` is a directory
// that belongs to this version alone.
//
//   name     SUBJECT/VERSION; versions of one subject are averaged together
//   build    a shell command; empty: nothing to build
//   program  what it makes
//   tests    as for `culprit run --tests`
//   oracle   exit, reference:PROG, expect:DIR or command:CMD; web:OPTIONS of
//            `culprit web` (%w as there) for a PHP application: the program is
//            its document root, the tests are requests
//   faulty   FILE:LINE[,LINE]..., several separated by spaces
//   cwd      where the tests run (default: the manifest's directory)
//   timeout  seconds for one test
#ifndef CULPRIT_EVAL_MANIFEST_H
#define CULPRIT_EVAL_MANIFEST_H

#include <stddef.h>

#include "util/arena.h"
#include "util/array.h"
#include "util/err.h"

typedef struct {
  const char *name;
  const char *subject; // name up to its last '/', or all of it
  const char *text;    // the row as it stands in the file
  const char *dir;     // what {dir} stands for; absolute, as the paths are
  const char *build, *program, *tests, *cwd;
  const char *oracle; // option of `culprit run` (--reference, ...), NULL: exit
  const char *oracle_value;
  const char *web;     // options of `culprit web`, NULL: a C program
  const char *timeout; // NULL: the default
  const char **faulty; // each FILE:LINE[,LINE]...
  size_t nfaulty;
} Version;

typedef struct {
  const char *root; // the manifest's directory, absolute
  ARRAY(Version) versions;
  Arena arena;
} Manifest;

// `state`: the directory below which every version gets one of its own. The
// message names the line of the manifest.
int manifest_read(Manifest *m, const char *path, const char *state, Err *err);
// The same from text; `path` is for messages and relative paths.
int manifest_parse(Manifest *m, const char *path, const char *text,
                   const char *state, Err *err);
void manifest_release(Manifest *m);

#endif
