// Builds the user's tree with culprit-cc: see tree.h.
#include "adapter/tree.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "adapter/suites.h"
#include "program/sections.h"
#include "util/capture.h"
#include "util/fs.h"
#include "util/mem.h"

// --- what a directory is ----------------------------------------------------

static const char OUR_CC[] = "^CC = .*culprit-cc"; // in a Makefile

// Did culprit-cc build some program in this directory or one below?
static bool has_program_of_ours(const char *dir) {
  static const char *const patterns[] = {"*", "*/*", "*/.libs/*"};
  bool found = false;
  for (size_t i = 0; !found && i < sizeof patterns / sizeof *patterns; i++) {
    char *full = mem_printf("%s/%s", dir, patterns[i]);
    glob_t files;
    if (!glob(full, GLOB_NOSORT, NULL, &files)) {
      for (size_t k = 0; !found && k < files.gl_pathc; k++) {
        struct stat st;
        found = !stat(files.gl_pathv[k], &st) && S_ISREG(st.st_mode) &&
                (st.st_mode & S_IXUSR) &&
                section_exists(files.gl_pathv[k], "culprit_map");
      }
      globfree(&files);
    }
    free(full);
  }
  return found;
}

// --- building ---------------------------------------------------------------

typedef struct {
  const Tree *tree;
  const char *cc; // culprit-cc
  const char *jobs;
  Str said;
} Work;

// Runs a shell command in `dir`; $1 is the tree, $2 the build directory, $3
// culprit-cc, $4 -jN, $5 the Makefile's target for tests.
static int shell(Work *w, const char *dir, const char *command) {
  const char *target = makefile_target(w->tree->dir);
  char *argv[] = {"sh",
                  "-ec",
                  (char *)command,
                  "sh",
                  w->tree->source,
                  w->tree->dir,
                  (char *)w->cc,
                  (char *)w->jobs,
                  (char *)(target ? target : ""),
                  NULL};
  str_addf(&w->said, "$ %s\n", command);
  return suite_capture(dir, argv, &w->said);
}

static int build_cmake(Work *w) {
  if (!dir_has(w->tree->dir, "CMakeCache.txt")) {
    int status = shell(w, ".",
                       "cmake -S \"$1\" -B \"$2\" -DCMAKE_C_COMPILER=\"$3\" "
                       "-DCMAKE_BUILD_TYPE=RelWithDebInfo");
    if (status)
      return status;
  }
  return shell(w, ".", "cmake --build \"$2\" \"$4\"");
}

static int build_meson(Work *w) {
  if (!dir_has(w->tree->dir, "build.ninja")) {
    int status = shell(w, ".", "CC=\"$3\" meson setup \"$2\" \"$1\"");
    if (status)
      return status;
  }
  return shell(w, ".", "ninja -C \"$2\"");
}

// Newer files replace the copy's, except what compilers make: programs that
// another one built would be taken for new. make does the rest.
static const char COPY[] =
    "cd \"$1\"; ours='( -name .culprit -o -name .git ) -prune'; set -f; "
    "find . $ours -o -type d -print0 | (cd \"$2\"; xargs -0 mkdir -p); "
    "find . $ours -o -type l -print0 | "
    "xargs -0r cp -P -f --parents -t \"$2\"; "
    "find . $ours -o -type f -print0 | "
    "xargs -0 grep -LaZP '^(\\x7fELF|!<arch>)' | "
    "xargs -0r cp -u -p --parents -t \"$2\"";

static int build_configure(Work *w) {
  bool in_place = dir_has(w->tree->source, "config.status");
  if (in_place && shell(w, ".", COPY))
    return 1;
  bool fresh = !file_has(w->tree->dir, "Makefile", OUR_CC);
  int status = 0;
  if (fresh && in_place)
    status = shell(w, w->tree->dir,
                   "eval \"set -- \\\"$3\\\" $(./config.status --config)\"; "
                   "make distclean > /dev/null 2>&1 || :; cc=$1; shift; "
                   "./configure \"$@\" CC=\"$cc\"");
  else if (fresh)
    status = shell(w, w->tree->dir, "\"$1/configure\" CC=\"$3\"");
  return status ? status : shell(w, w->tree->dir, "make \"$4\"");
}

// Where the default target runs the tests too, building is left to them: what
// the target of the tests does last ($5) is among what the default target does.
static const char MAKE[] =
    "cc=\"CC=$3 -ffile-prefix-map=$2=$1\"; "
    "last=$([ -z \"$5\" ] || make -n \"$5\" \"$cc\" 2> /dev/null | tail -n 1); "
    "if [ -n \"$last\" ] && make -n \"$cc\" 2> /dev/null | "
    "grep -qxF -e \"$last\"; then :; else make \"$4\" \"$cc\"; fi";

static int build_make(Work *w) {
  int status = shell(w, ".", COPY);
  return status ? status : shell(w, w->tree->dir, MAKE);
}

// --- the table --------------------------------------------------------------

typedef struct {
  const char *name, *file; // the file that tells
  const char *command;     // the user's command for it; NULL: make
  int (*build)(Work *w);
} TreeKind;

static const TreeKind kinds[] = {
    {"CMake", "CMakeLists.txt", "ctest", build_cmake},
    {"Meson", "meson.build", "meson", build_meson},
    {"configure", "configure", NULL, build_configure},
    {"make", "Makefile", NULL, build_make},
};

static bool is_make(char *const *command) {
  return command_is(command, "make", "check") ||
         command_is(command, "make", "test") ||
         command_is(command, "make", "tests");
}

// Does the user's command go with this kind of tree?
static bool fits(const TreeKind *k, char *const *command) {
  if (!command)
    return true;
  return k->command ? command_is(command, k->command, NULL) ||
                          (!strcmp(k->name, "CMake") &&
                           command_is(command, "make", "test"))
                    : is_make(command);
}

static bool can_be_built(const TreeKind *k, const char *dir) {
  if (strcmp(k->name, "make") != 0)
    return dir_has(dir, k->file);
  return makefile_name(dir) && (makefile_target(dir) || dir_has(dir, "tests") ||
                                dir_has(dir, "t"));
}

// A build directory remembers its source: caller frees; NULL: it is none.
static char *source_of_build(const char *dir) {
  char *home = file_match(dir, "CMakeCache.txt",
                          "^CMAKE_HOME_DIRECTORY:INTERNAL=([^\r\n]*)");
  if (!home && is_automake_dir(dir))
    home = file_match(dir, "Makefile", "^abs_top_srcdir = ([^\r\n]*)");
  return home;
}

// Is the directory a build of ours already?
static bool is_built_by_us(const char *dir) {
  return file_has(dir, "CMakeCache.txt", "^CMAKE_C_COMPILER:.*culprit-cc") ||
         file_has(dir, "Makefile", OUR_CC) ||
         file_has(dir, "meson-info/intro-compilers.json", "culprit-cc") ||
         file_has(dir, "build.ninja", "culprit-cc") || has_program_of_ours(dir);
}

bool tree_find(Tree *t, const RunOptions *o, const char *store) {
  *t = (Tree){0};
  if (o->exe || o->tests || is_built_by_us(o->cwd))
    return false;
  char *source = source_of_build(o->cwd);
  if (!source)
    source = mem_strdup(o->cwd);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !t->needed; i++)
    if (fits(&kinds[i], o->command) && can_be_built(&kinds[i], source)) {
      t->needed = true;
      t->kind = kinds[i].name;
      t->dir = path_absolute("build", store);
      t->source = mem_strdup(source);
    }
  free(source);
  return t->needed;
}

static int build(Work *w) {
  for (size_t i = 0;; i++)
    if (!strcmp(kinds[i].name, w->tree->kind))
      return kinds[i].build(w);
}

int tree_build(const Tree *t, int jobs, const char *log, Err *err) {
  char count[16], *self = path_of_self();
  char *cc = mem_printf("%s/culprit-cc", self);
  snprintf(count, sizeof count, "-j%d", jobs);
  Work w = {.tree = t, .cc = cc, .jobs = count};
  int rc = fs_mkdirs(t->dir, err);
  int status = rc ? 0 : build(&w);
  if (!rc)
    rc = fs_write(log, str_text(&w.said), w.said.len, err);
  if (!rc && status)
    rc = err_set(err,
                 "the build with culprit-cc in %s failed (exit status %d); the "
                 "end of %s:\n%s",
                 t->dir, status, log, output_tail(&w.said));
  str_release(&w.said);
  free(cc);
  free(self);
  return rc;
}

const char *tree_make_variable(const Tree *t, Arena *arena) {
  char *self = path_of_self();
  const char *word =
      arena_printf(arena, "CC=%s/culprit-cc -ffile-prefix-map=%s=%s", self,
                   t->dir, t->source);
  free(self);
  return word;
}

void tree_release(Tree *t) {
  free(t->source);
  free(t->dir);
}
