// Builds the user's tree with culprit-cc: see tree.h.
#include "adapter/tree.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "adapter/suites.h"
#include "adapter/switches.h"
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
  bool old_debug; // debug information as old tools can read it
  char *switched; // see Tree
  bool asks;      // make for its target of tests
  Str said;
} Work;

// Names for what a build command needs; "$@" are the user's build options.
static const char NAMES[] =
    "source=$1 build=$2 cc=$3 jobs=$4 target=$5 scripts=$6; shift 6; "
    "mapped=\"$cc -ffile-prefix-map=$build=$source\"; ";

// Runs a shell command in `dir`.
static int shell(Work *w, const char *dir, const char *command) {
  const Tree *t = w->tree;
  const char *target = w->asks ? make_target(t->work) : NULL;
  ARRAY(char *) argv = {0};
  char *script = mem_printf("%s%s", NAMES, command);
  char *first[] = {"env",
                   "CULPRIT_LENIENT=1",
                   w->old_debug ? "CULPRIT_DWARF=4" : "CULPRIT_DWARF=",
                   "sh",
                   "-ec",
                   script,
                   "sh",
                   t->copied,
                   t->dir,
                   (char *)w->cc,
                   (char *)w->jobs,
                   (char *)(target ? target : ""),
                   w->asks && scripts_there(t->work) ? "yes" : ""};
  for (size_t i = 0; i < sizeof first / sizeof *first; i++)
    array_push(&argv, first[i]);
  for (size_t i = 0; i < t->noptions; i++)
    array_push(&argv, (char *)t->options[i]);
  array_push(&argv, NULL);
  str_addf(&w->said, "$ %s\n", command);
  int status = suite_capture(dir, argv.items, &w->said);
  array_release(&argv);
  free(script);
  return status;
}

// Do the project's build files say that? `pattern`: extended, any case.
static bool build_files_say(const char *source, const char *pattern) {
  Str said = {0};
  char *argv[] = {"grep",
                  "-rqsIiE",
                  "--include=[Mm]akefile*",
                  "--include=CMakeLists.txt",
                  "--include=*.cmake",
                  "--include=meson.build",
                  "--include=configure.ac",
                  "--include=*.sh",
                  "-e",
                  (char *)pattern,
                  ".",
                  NULL};
  bool says = !suite_capture(source, argv, &said);
  str_release(&said);
  return says;
}

// valgrind (3.19) cannot read clang's DWARF 5.
static bool uses_valgrind(const Tree *t) {
  return build_files_say(t->source, "valgrind");
}

static bool ctest_lists_none(const char *dir) {
  Str said = {0};
  char *argv[] = {"ctest", "-N", NULL};
  bool none = !suite_capture(dir, argv, &said) &&
              strstr(str_text(&said), "Total Tests: 0\n");
  str_release(&said);
  return none;
}

// `command` with the option at its end.
static int set_switch(Work *w, const char *command, const TestSwitch *s,
                      const char *value) {
  char *line = mem_printf("%s -D%s=%s", command, s->name, value);
  int status = shell(w, ".", line);
  free(line);
  return status;
}

// Many projects build their tests only if asked: in our copy we ask, unless the
// user says what to build. Without them again if that cannot be configured.
static int turn_tests_on(Work *w, bool (*find)(const char *dir, TestSwitch *s),
                         const char *command) {
  TestSwitch s = {0};
  if (w->tree->noptions || !find(w->tree->dir, &s))
    return 0;
  int status = set_switch(w, command, &s, s.on);
  if (!status)
    w->switched = mem_strdup(s.name);
  else
    status = set_switch(w, command, &s, s.off);
  test_switch_release(&s);
  return status;
}

static int build_cmake(Work *w) {
  if (!dir_has(w->tree->dir, "CMakeCache.txt")) {
    int status = shell(w, ".",
                       "cmake -S \"$source\" -B \"$build\" "
                       "-DCMAKE_C_COMPILER=\"$cc\" "
                       "-DCMAKE_BUILD_TYPE=RelWithDebInfo \"$@\"");
    if (!status && ctest_lists_none(w->tree->dir))
      status = turn_tests_on(w, cmake_test_switch, "cmake -B \"$build\"");
    if (status)
      return status;
  }
  return shell(w, ".", "cmake --build \"$build\" \"$jobs\"");
}

static int build_meson(Work *w) {
  if (!dir_has(w->tree->dir, "build.ninja")) {
    int status =
        shell(w, ".", "CC=\"$cc\" meson setup \"$build\" \"$source\" \"$@\"");
    if (!status && meson_has_no_tests(w->tree->dir))
      status = turn_tests_on(w, meson_test_switch,
                             "meson setup --reconfigure \"$build\"");
    if (status)
      return status;
  }
  return shell(w, ".", "ninja -C \"$build\"");
}

// Newer files replace the copy's, except what compilers make: programs that
// another one built would be taken for new. make does the rest.
static const char COPY[] =
    "cd \"$source\"; ours='( -name .culprit -o -name .git ) -prune'; set -f; "
    "find . $ours -o -type d -print0 | (cd \"$build\"; xargs -0 mkdir -p); "
    "find . $ours -o -type l -print0 | "
    "xargs -0r cp -P -f --parents -t \"$build\"; "
    "find . $ours -o -type f -print0 | "
    "xargs -0 grep -LaZP '^(\\x7fELF|!<arch>)' | "
    "xargs -0r cp -u -p --parents -t \"$build\"";

static int configure_copy(Work *w) {
  return shell(w, w->tree->dir, "./configure CC=\"$mapped\" \"$@\"");
}

// As the user has configured it.
static int configure_again(Work *w) {
  return shell(w, w->tree->dir,
               "eval \"set -- \\\"\\$@\\\" $(./config.status --config)\"; "
               "make distclean > /dev/null 2>&1 || :; "
               "./configure \"$@\" CC=\"$mapped\"");
}

// Not all trees can be built outside of themselves: only those that are.
static int build_configure(Work *w) {
  const Tree *t = w->tree;
  bool configured = dir_has(t->source, "config.status");
  int status = t->outside ? 0 : shell(w, ".", COPY);
  if (!status && !file_has(t->dir, "Makefile", OUR_CC))
    status = t->outside
                 ? shell(w, t->dir, "\"$source/configure\" CC=\"$cc\" \"$@\"")
             : configured ? configure_again(w)
                          : configure_copy(w);
  return status ? status : shell(w, w->tree->dir, "make \"$jobs\"");
}

// Only configure.ac: what makes configure runs in the copy.
static int build_autoreconf(Work *w) {
  int status = shell(w, ".", COPY);
  if (!status && !dir_has(w->tree->dir, "configure"))
    status = shell(w, w->tree->dir,
                   "autoreconf -fi || { [ -f autogen.sh ] && NOCONFIGURE=1 sh "
                   "autogen.sh; }");
  if (!status && !file_has(w->tree->dir, "Makefile", OUR_CC))
    status = configure_copy(w);
  return status ? status : shell(w, w->tree->dir, "make \"$jobs\"");
}

// A configure script of another kind.
static int build_own_configure(Work *w) {
  int status = shell(w, ".", COPY);
  if (!status && !makefile_name(w->tree->dir))
    status = shell(w, w->tree->dir, "CC=\"$mapped\" sh ./configure.sh \"$@\"");
  return status ? status
                : shell(w, w->tree->dir, "make \"$jobs\" CC=\"$mapped\"");
}

// Where the default target runs the tests too, building is left to them: what
// the target of the tests does last is among what the default target does. A
// default target that fails where there is one for tests may not matter: the
// tests will tell. Tests that are scripts need what is built before them; what
// only the target of the tests builds, it builds as it runs them.
static const char MAKE[] =
    "cc=\"CC=$mapped\"; "
    "last=$([ -z \"$target\" ] || "
    "make -n \"$target\" \"$cc\" \"$@\" 2> /dev/null | tail -n 1); "
    "if [ -n \"$last\" ] && make -n \"$cc\" \"$@\" 2> /dev/null | "
    "grep -qxF -e \"$last\"; then "
    "[ -z \"$scripts\" ] || make -k \"$jobs\" \"$cc\" \"$@\" || :; "
    "else make \"$jobs\" \"$cc\" \"$@\" || "
    "[ -n \"$target\" -a -z \"$scripts\" ]; fi; "
    "if [ -n \"$target\" -a -n \"$scripts\" ] && "
    "{ make -n \"$target\" \"$cc\" \"$@\" 2> /dev/null | "
    "grep -qF culprit-cc || grep -qsE '^\t@?-?make ' [Mm]akefile; }; "
    "then make -k \"$target\" \"$cc\" \"$@\" < /dev/null || :; fi";

static int build_make(Work *w) {
  int status = shell(w, ".", COPY);
  w->asks = true;
  return status ? status : shell(w, w->tree->work, MAKE);
}

// --build CMD.
static int build_command(Work *w) {
  int status = shell(w, ".", COPY);
  char *command = mem_printf("export CC=\"$mapped\"; %s", w->tree->command);
  if (!status)
    status = shell(w, w->tree->work, command);
  free(command);
  return status;
}

// --- the table --------------------------------------------------------------

typedef struct {
  const char *name, *file; // the file that tells
  const char *command;     // the user's command for it; NULL: make
  const char *tests;       // what the build files of one with tests say; NULL:
                           // any may have some
  int (*build)(Work *w);
} TreeKind;

static const TreeKind kinds[] = {
    {"CMake", "CMakeLists.txt", "ctest",
     "enable_testing|add_test|include *\\( *\"?CTest", build_cmake},
    {"Meson", "meson.build", "meson", "(^|[^_a-z])test *\\(", build_meson},
    {"configure", "configure", NULL, NULL, build_configure},
    {"autoreconf", "configure.ac", NULL, NULL, build_autoreconf},
    {"configure.sh", "configure.sh", NULL, NULL, build_own_configure},
    {"make", "Makefile", NULL, NULL, build_make},
    {"command", NULL, NULL, NULL, build_command},
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
  if (!k->file)
    return false;
  if (strcmp(k->name, "make") != 0)
    return dir_has(dir, k->file);
  const char *name = makefile_name(dir);
  return name && (dir_has(dir, "tests") || dir_has(dir, "t") ||
                  file_has(dir, name, "(^|[^[:alnum:]])(check|tests?)"));
}

// Is the directory a build of ours already?
static bool is_built_by_us(const char *dir) {
  return file_has(dir, "CMakeCache.txt", "^CMAKE_C_COMPILER:.*culprit-cc") ||
         file_has(dir, "Makefile", OUR_CC) ||
         file_has(dir, "meson-info/intro-compilers.json", "culprit-cc") ||
         file_has(dir, "build.ninja", "culprit-cc") || has_program_of_ours(dir);
}

// The first that has tests: a CMakeLists.txt may be there to install a library
// whose tests are the Makefile's. None says so: the first.
static const TreeKind *find_kind(const RunOptions *o, const char *source) {
  size_t n = sizeof kinds / sizeof *kinds;
  const TreeKind *first = NULL;
  if (o->build)
    return &kinds[n - 1];
  for (size_t i = 0; i < n; i++) {
    const TreeKind *k = &kinds[i];
    if (!fits(k, o->command) || !can_be_built(k, source))
      continue;
    if (!k->tests || build_files_say(source, k->tests))
      return k;
    first = first ? first : k;
  }
  return first;
}

// A Makefile that names files above its directory needs these in the copy: the
// directory of the repository, or the one above.
static char *copied_directory(const char *source) {
  const char *name = makefile_name(source);
  if (!name || !file_has(source, name, "(^|[^./[:alnum:]])\\.\\./"))
    return mem_strdup(source);
  for (const char *end = source + strlen(source); end > source; end--) {
    char *dir = mem_printf("%.*s", (int)(end - source), source);
    if (*end != '/' && *end) {
      free(dir);
      continue;
    }
    if (dir_has(dir, ".git"))
      return dir;
    free(dir);
  }
  char *above = path_absolute("..", source);
  char *real = realpath(above, NULL);
  free(above);
  return real ? real : mem_strdup(source);
}

bool tree_find(Tree *t, const RunOptions *o, const char *store) {
  *t = (Tree){0};
  if (o->exe || o->tests || (!o->build && is_built_by_us(o->cwd)))
    return false;
  char *source = source_of_build(o->cwd);
  if (!source)
    source = mem_strdup(o->cwd);
  const TreeKind *k = find_kind(o, source);
  if (k) {
    bool copies = !strcmp(k->name, "make") || !strcmp(k->name, "command");
    *t =
        (Tree){.needed = true,
               .kind = k->name,
               .dir = path_absolute("build", store),
               .copied = copies ? copied_directory(source) : mem_strdup(source),
               .command = o->build,
               .options = o->build_options.items,
               .noptions = o->build_options.len,
               .outside = !dir_has(o->cwd, "configure"),
               .source = source};
    const char *below = path_below(source, t->copied);
    t->work = strcmp(below, source) ? mem_printf("%s/%s", t->dir, below)
                                    : mem_strdup(t->dir);
  } else {
    free(source);
  }
  return t->needed;
}

static int build(Work *w) {
  for (size_t i = 0;; i++)
    if (!strcmp(kinds[i].name, w->tree->kind))
      return kinds[i].build(w);
}

int tree_build(Tree *t, int jobs, const char *log, Err *err) {
  char count[16], *self = path_of_self();
  char *cc = mem_printf("%s/culprit-cc", self);
  snprintf(count, sizeof count, "-j%d", jobs);
  Work w = {.tree = t, .cc = cc, .jobs = count, .old_debug = uses_valgrind(t)};
  int rc = fs_mkdirs(t->dir, err);
  int status = rc ? 0 : build(&w);
  if (!rc)
    rc = fs_write(log, str_text(&w.said), w.said.len, err);
  if (!rc && status)
    rc = err_set(err,
                 "the build with culprit-cc in %s failed (exit status %d); the "
                 "end of %s:\n%s",
                 t->dir, status, log, output_tail(&w.said));
  t->switched = w.switched;
  str_release(&w.said);
  free(cc);
  free(self);
  return rc;
}

const char *tree_make_variable(const Tree *t, Arena *arena) {
  char *self = path_of_self();
  const char *word =
      arena_printf(arena, "CC=%s/culprit-cc -ffile-prefix-map=%s=%s", self,
                   t->dir, t->copied);
  free(self);
  return word;
}

void tree_release(Tree *t) {
  free(t->source);
  free(t->copied);
  free(t->dir);
  free(t->work);
  free(t->switched);
}
