// culprit-cc: clang, with instrumentation. It takes the place of cc in any
// build. Linking, preprocessing, assembly and other languages go straight to
// clang; a C source is compiled in three steps:
//
//   clang  to bitcode   with the user's options, LLVM's passes off; prints all
//                       messages and writes the depfile
//   culprit-instrument  plans and counts
//   clang  to machine code, with the user's code generation options; where
//   those
//                       are plain, culprit-instrument has done it already
//
// If the second or third step fails, clang compiles the file alone: it reports
// what is wrong, or the file is compiled without counters and a note says so.
// culprit-cc never breaks a build. Exit status and messages are clang's.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cc/checked.h"
#include "compile/bitcode_format.h"
#include "compile/cc_args.h"
#include "compile/changed_file.h"
#include "compile/link_record.h"
#include "contract/contract.h"
#include "contract/old_alloca.h"
#include "contract/overlay.h"
#include "util/area.h"
#include "util/escape.h"
#include "util/fs.h"
#include "util/str.h"

typedef struct {
  CcArgs args;
  const char *clang;
  char *instrument, *runtime; // NULL: not found
  Area area;                  // of temporary files, made when needed
  int next_file;
  const char *source; // being compiled
  const char
      *changed; // the overlay of a changed file (changed_file.h), or NULL
} Cc;

static void note(const char *what, const char *why) {
  escape_printf(stderr, "culprit-cc: %s: %s\n", what, why);
}

// --- running ----------------------------------------------------------------

static volatile sig_atomic_t child, interrupted;

// The compiler ends, then we do, after removing what is ours.
static void pass_on(int sig) {
  interrupted = sig;
  if (child)
    kill(child, sig);
}

static void catch_interruptions(void) {
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
    if (signal(signals[i], pass_on) == SIG_IGN)
      signal(signals[i], SIG_IGN);
}

// `messages`: where its error output goes; NULL: to ours.
static int run(const Args *args, const char *messages) {
  if (interrupted)
    return 128 + interrupted;
  fflush(NULL);
  pid_t pid = vfork();
  if (pid < 0) {
    perror("culprit-cc: fork");
    return 3;
  }
  if (pid == 0) {
    int fd = messages ? open(messages, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
    if (fd >= 0)
      dup2(fd, STDERR_FILENO);
    execvp(args->items[0], (char *const *)args->items);
    int saved = errno;
    fprintf(stderr,
            "culprit-cc: %s: %s (install clang-19, or name a clang 19 in "
            "CULPRIT_CC)\n",
            args->items[0], strerror(saved));
    _exit(127);
  }
  child = pid;
  int status;
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR)
      return 3;
  child = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void add(Args *a, const char *text) { array_push(a, text); }

static int run_and_free(Args *a, const char *messages) {
  add(a, NULL);
  int rc = run(a, messages);
  array_release(a);
  return rc;
}

// What is an error to this clang and a warning to the gcc that most programs
// are built with, today and when they were written. First, so that the user's
// own options have the last word.
static void add_leniency(const CcArgs *c, Args *a) {
  static const char *const errors[] = {
      "-Wno-error=implicit-function-declaration", "-Wno-error=implicit-int",
      "-Wno-error=int-conversion", "-Wno-error=return-mismatch",
      "-Wno-error=incompatible-function-pointer-types"};
  bool strict = c->pedantic || (c->probe && c->errors_all);
  for (size_t i = 0; !strict && i < sizeof errors / sizeof *errors; i++)
    add(a, errors[i]);
}

// In a build that culprit makes of a stranger's tree, warnings that another
// compiler does not have must not end it.
static void be_lenient(char **argv) {
  for (char **arg = argv + 1; *arg; arg++) {
    if (!strcmp(*arg, "-pedantic-errors"))
      *arg = "-pedantic";
    else if (!strcmp(*arg, "-Werror"))
      *arg = "-Wno-error";
    else if (text_starts(*arg, "-Werror="))
      *arg = mem_printf("-Wno-error=%s", *arg + strlen("-Werror="));
  }
}

// Options of gcc's stay in a probe: it is to learn that clang has them not.
static int pass_through(const Cc *cc, char **argv) {
  Args a = {0};
  add(&a, cc->clang);
  if (cc->args.nsources)
    add_leniency(&cc->args, &a);
  for (char **arg = argv + 1; *arg; arg++)
    if (cc->args.probe || !cc_args_gcc_alone(*arg))
      add(&a, *arg);
  add(&a, NULL);
  execvp(cc->clang, (char **)a.items);
  escape_printf(stderr,
                "culprit-cc: %s: %s (install clang-19, or name a clang 19 in "
                "CULPRIT_CC)\n",
                cc->clang, strerror(errno));
  return 127;
}

// --- files ------------------------------------------------------------------

static char *find_part(const char *self, const char *name, const char *place) {
  char *path = mem_printf("%s/%s", self, name);
  if (fs_exists(path))
    return path;
  free(path);
  path = mem_printf("%s/../%s/%s", self, place, name);
  if (fs_exists(path))
    return path;
  free(path);
  return NULL;
}

static char *temporary(Cc *cc, const char *suffix) {
  Err err;
  if (!cc->area.dir && area_open_temporary(&cc->area, &err)) {
    note("scratch", err.text);
    exit(3);
  }
  return mem_printf("%s/%d%s", cc->area.dir, cc->next_file++, suffix);
}

static char *with_suffix(const char *path, const char *suffix) {
  const char *base = path_base(path), *dot = strrchr(base, '.');
  size_t n = dot && dot != base ? (size_t)(dot - path) : strlen(path);
  return mem_printf("%.*s%s", (int)n, path, suffix);
}

// --- compiling one source ---------------------------------------------------

// Depfiles name the object that the user asked for, not our temporary one.
static void add_depfile(const CcArgs *c, Args *a, const char *source,
                        const char *object) {
  if (!c->depfile)
    return;
  if (!c->depfile_named) {
    add(a, "-MF");
    add(a, with_suffix(c->output ? c->output : path_base(source), ".d"));
  }
  if (!c->deptarget_named) {
    add(a, "-MQ");
    add(a, object);
  }
}

// clang with all the user's options that concern compiling this source.
static void begin_compile(Cc *cc, const char *source, const char *object,
                          Args *a) {
  const CcArgs *c = &cc->args;
  add(a, cc->clang);
  add_leniency(c, a);
  add(a, "-Wno-unknown-warning-option"); // of another compiler
  const char *dwarf = getenv("CULPRIT_DWARF");
  // First: a later option may say which kind.
  add(a, dwarf && !strcmp(dwarf, "4") ? "-gdwarf-4" : "-g");
  for (size_t i = 0; i < c->args.len; i++) {
    const Arg *arg = &c->args.items[i];
    if (arg->role == ARG_OPTION || arg->role == ARG_FRONT ||
        arg->role == ARG_LANGUAGE ||
        (arg->role == ARG_LINK && c->compile_only) ||
        (arg->role == ARG_SOURCE && arg->text == source))
      add(a, arg->text);
  }
  if (c->errors_all) // the other compiler had not these warnings
    add(a, "-Wno-error");
  if (!c->compile_only) // what linking takes need not be used here
    add(a, "-Wno-unused-command-line-argument");
  add_depfile(c, a, source, object);
}

// `overlay`: texts that stand in for files, or NULL; `messages` as for run().
static int to_bitcode(Cc *cc, const char *source, const char *object,
                      const char *bitcode, const char *overlay,
                      const char *messages) {
  Args a = {0};
  begin_compile(cc, source, object, &a);
  if (cc->changed) { // below the other: that was made from it
    add(&a, "-ivfsoverlay");
    add(&a, cc->changed);
  }
  if (overlay) {
    add(&a, "-ivfsoverlay");
    add(&a, overlay);
    add(&a, "-ferror-limit=0"); // all that is wrong, at once
  }
  static const char *const ours[] = {"-gcolumn-info",
                                     "-c",
                                     "-emit-llvm",
                                     "-Xclang",
                                     "-disable-llvm-passes",
                                     "-Xclang",
                                     "-disable-lifetime-markers",
                                     "-Xclang",
                                     "-disable-O0-optnone",
                                     "-o"};
  for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
    add(&a, ours[i]);
  add(&a, bitcode);
  return run_and_free(&a, messages);
}

typedef struct {
  Cc *cc;
  const char *source, *object, *bitcode;
} ToBitcode;

static int with_overlay(void *context, const char *overlay,
                        const char *messages) {
  const ToBitcode *t = context;
  return to_bitcode(t->cc, t->source, t->object, t->bitcode, overlay, messages);
}

static int checked_to_bitcode(Cc *cc, Contracts *c, const char *source,
                              const char *object, const char *bitcode) {
  ToBitcode context = {cc, source, object, bitcode};
  char *prefix = temporary(cc, ""), *messages = temporary(cc, ".txt");
  int rc = compile_checked(c, contract_telling(&cc->args), source, prefix,
                           messages, with_overlay, &context);
  free(prefix);
  free(messages);
  return rc;
}

// A declaration of alloca that clang refuses is tried again as gcc takes it.
static int with_old_alloca(Cc *cc, const char *source, const char *object,
                           const char *bitcode) {
  char *prefix = temporary(cc, ""), *messages = temporary(cc, ".txt");
  char *overlay = NULL;
  Str said = {0};
  Err err = {0};
  int rc = to_bitcode(cc, source, object, bitcode, NULL, messages);
  if (!fs_read(messages, 0, &said, &err) && rc &&
      old_alloca_write(str_text(&said), prefix, &overlay, &err))
    note(source, err.text);
  if (rc && overlay)
    rc = to_bitcode(cc, source, object, bitcode, overlay, NULL);
  else
    fputs(str_text(&said), stderr);
  str_release(&said);
  free(prefix);
  free(messages);
  free(overlay);
  return rc;
}

static int source_to_bitcode(Cc *cc, const char *source, const char *object,
                             const char *bitcode, bool *contracts) {
  Contracts c;
  Args dirs = {0};
  contracts_dirs(&cc->args, &dirs);
  contracts_open(&c, source, &dirs);
  *contracts = contracts_found(&c);
  int rc = *contracts     ? checked_to_bitcode(cc, &c, source, object, bitcode)
           : c.old_alloca ? with_old_alloca(cc, source, object, bitcode)
                          : to_bitcode(cc, source, object, bitcode, NULL, NULL);
  contracts_close(&c);
  array_release(&dirs);
  return rc;
}

static void add_pair(Args *a, const char *option, const char *value) {
  if (value && *value) {
    add(a, option);
    add(a, value);
  }
}

// A trace build or one with marks, made by program/trace_build.c from the
// program's own bitcode.
static void add_trace_options(Args *a, const char *mode) {
  if (strstr(mode, "check"))
    add(a, "--check");
  if (strstr(mode, "stores"))
    add(a, "--stores");
  add_pair(a, "--unit", getenv("CULPRIT_TRACE_UNIT"));
  add_pair(a, "--names", getenv("CULPRIT_TRACE_NAMES"));
}

static void add_prefix_maps(Args *a, const Cc *cc) {
  for (size_t i = 0; i < cc->args.prefix_maps.len; i++)
    add_pair(a, "--prefix-map", cc->args.prefix_maps.items[i]);
}

static void add_close_options(Args *a, const Cc *cc, const char *mode) {
  if (strstr(mode, "fixed"))
    add(a, "--fixed");
  add_prefix_maps(a, cc);
  add_pair(a, "--mutate", getenv("CULPRIT_MUTATE"));
}

// How the source was compiled, for it to be compiled again with a change.
static void add_front_options(Args *a, const Cc *cc) {
  Args front = {0};
  cc_args_front(&cc->args, cc->source, &front);
  for (size_t i = 0; i < front.len; i++) {
    add(a, "--front");
    add(a, front.items[i]);
  }
  array_release(&front);
}

static void add_count_options(Args *a, const Cc *cc, const char *mode) {
  if (strstr(mode, "counts"))
    add_pair(a, "--mode", "counts");
  if (strstr(mode, "returns"))
    add(a, "--returns");
  if (strstr(mode, "links"))
    add(a, "--links");
  add_prefix_maps(a, cc);
  for (size_t i = 0; i < cc->args.args.len; i++)
    if (cc->args.args.items[i].role == ARG_OPTION)
      add_pair(a, "--arg", cc->args.args.items[i].text);
  add_front_options(a, cc);
  add_pair(a, "--mutate", getenv("CULPRIT_MUTATE"));
}

// As bitcode, or (`object`) as machine code right away. Messages go to the file
// `messages`, if not NULL.
static int instrument(Cc *cc, const char *from, const char *to, bool object,
                      const char *messages) {
  const char *mode = getenv("CULPRIT_MODE"); // hits, counts, +returns
  mode = mode ? mode : "";
  bool traces = text_starts(mode, "trace"), marks = text_starts(mode, "marks");
  bool close = text_starts(mode, "close"), tries = text_starts(mode, "try");
  Args a = {0};
  char level[2] = {cc->args.opt, 0};
  add(&a, cc->instrument);
  add(&a, traces  ? "trace"
          : marks ? "mark"
          : close ? "close"
          : tries ? "try"
                  : "count");
  add_pair(&a, "--runtime", cc->runtime);
  add_pair(&a, "--opt", level);
  if (object)
    add(&a, "--object");
  if (traces || marks)
    add_trace_options(&a, mode);
  else if (close || tries)
    add_close_options(&a, cc, mode);
  else
    add_count_options(&a, cc, mode);
  add(&a, from);
  add(&a, "-o");
  add(&a, to);
  return run_and_free(&a, messages);
}

// Options that say all they have to say in the module clang's front end makes,
// or nothing about code at all: with these alone clang need not be asked again.
static bool is_plain_option(const char *arg) {
  // clang-format off
  static const char *const plain[] = {
      "-O0", "-O", "-O1", "-O2", "-O3", "-Os", "-Oz", "-Og", "-g", "-g1", "-g2",
      "-g3", "-ggdb", "-ggdb3", "-gdwarf-4", "-gdwarf-5", "-gcolumn-info",
      "-fPIC", "-fpic", "-fPIE", "-fpie", "-fno-pic", "-fno-PIC", "-fno-pie",
      "-fno-PIE", "-fcommon", "-fno-common", "-fstrict-aliasing",
      "-fno-strict-aliasing", "-fwrapv", "-fno-math-errno", "-fsigned-char",
      "-funsigned-char", "-fomit-frame-pointer", "-fno-omit-frame-pointer",
      "-fno-builtin", "-ffreestanding", "-fno-plt", "-fexceptions", "-pthread",
      "-pipe", "-m64", NULL};
  static const char *const starts[] = {
      "-fstack-protector", "-fno-stack-protector", "-fvisibility=",
      "-fdiagnostics", "-fno-diagnostics", "-fcolor", "-fno-color",
      "-fmessage-length", "-ffile-prefix-map=", "-fdebug-prefix-map=",
      "-fmacro-prefix-map=", "-march=", "-mtune=", "-W", "-w", NULL};
  // clang-format on
  return text_is_one_of(arg, plain) ||
         (text_starts_one_of(arg, starts) && !text_starts(arg, "-Wa,"));
}

static bool is_plain_codegen(const CcArgs *c) {
  for (size_t i = 0; i < c->args.len; i++) {
    const Arg *arg = &c->args.items[i];
    bool late = text_starts(arg->text, "-Wframe-larger-than"); // a warning
    if (late || (arg->role == ARG_OPTION && !is_plain_option(arg->text)))
      return false;
  }
  return c->opt != 'f' && !getenv("CULPRIT_CC");
}

static int to_object(Cc *cc, const char *bitcode, const char *object,
                     const char *messages) {
  const CcArgs *c = &cc->args;
  Args a = {0};
  add(&a, cc->clang);
  for (size_t i = 0; i < c->args.len; i++)
    if (c->args.items[i].role == ARG_OPTION)
      add(&a, c->args.items[i].text);
  static const char *const ours[] = {"-Wno-unused-command-line-argument",
                                     "-Wno-unknown-warning-option",
                                     "-Wno-override-module",
                                     "-mllvm",
                                     BITCODE_LLVM_OPTION,
                                     "-x",
                                     "ir",
                                     "-c"};
  for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
    add(&a, ours[i]);
  add(&a, bitcode);
  add(&a, "-o");
  add(&a, object);
  return run_and_free(&a, messages);
}

// As if we were not there. Warnings were printed already, except those that are
// errors.
static int to_plain_object(Cc *cc, const char *source, const char *object,
                           const char *target) {
  Args a = {0};
  begin_compile(cc, source, target, &a);
  if (!cc->args.warnings_fail)
    add(&a, "-w");
  add(&a, "-c");
  add(&a, "-o");
  add(&a, object);
  return run_and_free(&a, NULL);
}

static void show_messages(const char *path) {
  Str text = {0};
  Err ignored;
  if (!fs_read(path, 0, &text, &ignored))
    fputs(str_text(&text), stderr);
  str_release(&text);
}

static int uninstrumented(const char *source) {
  if (interrupted)
    return 3;
  note(source, "compiled without instrumentation (see above)");
  return getenv("CULPRIT_STRICT") || getenv("CULPRIT_MUTATE") ? 3 : 0;
}

// The third step. What it says about the source it says without seeing it:
// where it fails, plain clang says it better, or finds nothing wrong.
static int generate(Cc *cc, const char *source, const char *bitcode,
                    const char *object, const char *target) {
  char *messages = temporary(cc, ".txt");
  int rc = to_object(cc, bitcode, object, messages);
  bool again = rc && strcmp(source, "-") != 0;
  if (again)
    rc = to_plain_object(cc, source, object, target);
  if (!again || !rc)
    show_messages(messages);
  if (again && !rc)
    rc = uninstrumented(source);
  unlink(messages);
  free(messages);
  return rc;
}

// One process less. If it fails, for whatever reason, the long way is gone.
static bool generate_here(Cc *cc, const char *bitcode, const char *object) {
  if (!is_plain_codegen(&cc->args))
    return false;
  char *messages = temporary(cc, ".txt");
  bool done = !instrument(cc, bitcode, object, true, messages);
  if (done)
    show_messages(messages);
  unlink(messages);
  free(messages);
  return done;
}

// Code that an earlier compilation has left in its program.
static int compile_bitcode(Cc *cc, const char *bitcode, const char *object) {
  if (generate_here(cc, bitcode, object))
    return 0;
  char *counted = temporary(cc, ".bc");
  int rc = instrument(cc, bitcode, counted, false, NULL);
  if (!rc)
    rc = to_object(cc, counted, object, NULL);
  unlink(counted);
  free(counted);
  return rc;
}

// `object` is where the result goes; `target` what a depfile calls it.
static int compile(Cc *cc, const char *source, const char *object,
                   const char *target) {
  cc->source = source;
  if (text_ends(source, BITCODE_SUFFIX))
    return compile_bitcode(cc, source, object);
  char *bitcode = temporary(cc, ".bc"), *counted = temporary(cc, ".bc");
  bool contracts;
  int rc = source_to_bitcode(cc, source, target, bitcode, &contracts);
  if (!rc && generate_here(cc, bitcode, object))
    rc = 0;
  else if (!rc && !instrument(cc, bitcode, counted, false, NULL))
    rc = generate(cc, source, counted, object, target);
  else if (!rc && uninstrumented(source))
    rc = 3;
  else if (!rc) // contracts are nothing without the runtime
    rc = contracts ? to_plain_object(cc, source, object, target)
                   : to_object(cc, bitcode, object, NULL);
  unlink(bitcode);
  unlink(counted);
  free(bitcode);
  free(counted);
  return rc;
}

// Assembler and other languages that stand beside C sources.
static int compile_others(Cc *cc) {
  const CcArgs *c = &cc->args;
  Args a = {0};
  add(&a, cc->clang);
  for (size_t i = 0; i < c->args.len; i++)
    if (c->args.items[i].role != ARG_SOURCE &&
        c->args.items[i].role != ARG_DROP)
      add(&a, c->args.items[i].text);
  add(&a, "-c");
  return run_and_free(&a, NULL);
}

static int compile_all(Cc *cc) {
  const CcArgs *c = &cc->args;
  int rc = c->ninputs > c->nsources ? compile_others(cc) : 0;
  for (size_t i = 0; i < c->args.len; i++) {
    if (c->args.items[i].role != ARG_SOURCE)
      continue;
    const char *source = c->args.items[i].text;
    char *object = c->output ? mem_strdup(c->output)
                             : with_suffix(path_base(source), ".o");
    int one = compile(cc, source, object, object);
    rc = rc ? rc : one;
    free(object);
  }
  return rc;
}

// --- linking ----------------------------------------------------------------

// An object of ours in the place of a source; -x is not meant for it.
static void add_object(Args *a, const char *object, const char *language) {
  if (language) {
    add(a, "-x");
    add(a, "none");
  }
  add(a, object);
  if (language) {
    add(a, "-x");
    add(a, language);
  }
}

static void add_link_record(Cc *cc, Args *a, const char *language) {
  char *record = temporary(cc, ".o");
  Err err;
  if (link_record_write(record, &cc->args, &err))
    note("link record", err.text);
  else
    add_object(a, record, language);
}

// --- unit test frameworks ---------------------------------------------------

// Programs that use them get a door through which `culprit run` runs their
// tests one by one: runtime/unit.c.
static const struct {
  const char *options[3]; // how the library is named: -l..., a file
  const char *object, *wrap;
} frameworks[] = {
    {{"-lcmocka", "libcmocka.", NULL},
     "culprit-unit-cmocka.o",
     "-Wl,--wrap=_cmocka_run_group_tests"},
    {{"-lcheck", "libcheck", NULL},
     "culprit-unit-check.o",
     "-Wl,--wrap=_tcase_add_test"},
};

static bool names_library(const CcArgs *c, const char *const *options) {
  for (size_t i = 0; i < c->args.len; i++)
    for (size_t k = 0; options[k]; k++)
      if (text_starts(c->args.items[i].text, options[k]) ||
          text_starts(path_base(c->args.items[i].text), options[k]))
        return true;
  return false;
}

static void add_frameworks(Cc *cc, Args *a, const char *language) {
  static const char *const shared[] = {"-shared", NULL};
  if (names_library(&cc->args, shared))
    return;
  for (size_t i = 0; i < sizeof frameworks / sizeof *frameworks; i++) {
    if (!names_library(&cc->args, frameworks[i].options))
      continue;
    char *self = path_of_self();
    char *object = find_part(self, frameworks[i].object, "lib/culprit");
    if (object) {
      add_object(a, object, language);
      add(a, frameworks[i].wrap);
    }
    free(self);
  }
}

static int link_all(Cc *cc) {
  const CcArgs *c = &cc->args;
  const char *language = NULL; // of the last -x
  Args a = {0};
  int rc = 0;
  add(&a, cc->clang);
  for (size_t i = 0; i < c->args.len; i++) {
    const Arg *arg = &c->args.items[i];
    if (arg->role == ARG_SOURCE) {
      char *object = temporary(cc, ".o");
      char *target = with_suffix(path_base(arg->text), ".o");
      int one = compile(cc, arg->text, object, c->output ? c->output : target);
      rc = rc ? rc : one;
      free(target);
      add_object(&a, object, language);
    } else if (arg->role != ARG_DROP) {
      add(&a, arg->text);
    }
    if (arg->role == ARG_LANGUAGE && !text_starts(arg->text, "-x"))
      language = arg->text;
    else if (arg->role == ARG_LANGUAGE && arg->text[2])
      language = arg->text + 2;
  }
  if (rc) {
    array_release(&a);
    return rc;
  }
  if (!c->relocatable && !c->linker_script)
    add_link_record(cc, &a, language);
  if (!c->relocatable)
    add_frameworks(cc, &a, language);
  if (c->nsources)
    add(&a, "-Wno-unused-command-line-argument");
  return run_and_free(&a, NULL);
}

// --- a changed file ---------------------------------------------------------

static int show_changed_file(Cc *cc) {
  const char *text_file, *path = changed_file(&text_file);
  if (!path)
    return 0;
  char *prefix = temporary(cc, "-changed");
  Overlay o = {.prefix = prefix};
  Str text = {0};
  Err err;
  int rc = fs_read(text_file, 0, &text, &err);
  if (!rc)
    rc = overlay_add(&o, path, &text, &err);
  if (!rc)
    cc->changed = overlay_write(&o, &err);
  if (!cc->changed)
    note(path, err.text);
  str_release(&text);
  free(prefix);
  return cc->changed ? 0 : -1;
}

// --- main -------------------------------------------------------------------

static const char *reason_not_to(const Cc *cc) {
  const CcArgs *c = &cc->args;
  if (c->nsources && c->foreign_target)
    return "not instrumented: only the native x86-64 target is";
  if (c->nsources && (!cc->instrument || !cc->runtime))
    return "not instrumented: culprit-instrument or its runtime is missing; "
           "run `culprit doctor`";
  return NULL;
}

static void init(Cc *cc) {
  const char *clang = getenv("CULPRIT_CC");
  cc->clang = clang && *clang ? clang : "clang-19";
  char *self = path_of_self();
  cc->instrument = find_part(self, "culprit-instrument", "libexec/culprit");
  cc->runtime = find_part(self, "culprit-runtime.s", "lib/culprit");
  free(self);
}

int main(int argc, char **argv) {
  Cc cc = {.area = AREA_NONE};
  Err err;
  init(&cc);
  const char *noop = getenv("CULPRIT_NOOP");
  if (cc_args_parse(&cc.args, argc - 1, argv + 1, &err)) {
    escape_printf(stderr, "culprit-cc: %s\n", err.text);
    return 1;
  }
  if (getenv("CULPRIT_LENIENT") && !cc.args.probe) {
    be_lenient(argv);
    cc.args = (CcArgs){0};
    cc_args_parse(&cc.args, argc - 1, argv + 1, &err);
  }
  if (cc.args.passthrough || (noop && *noop && strcmp(noop, "0")))
    return pass_through(&cc, argv);
  const char *reason = reason_not_to(&cc);
  if (reason) {
    note("note", reason);
    return pass_through(&cc, argv);
  }
  if (cc.args.compile_only &&
      (!cc.args.nsources || (cc.args.output && cc.args.ninputs > 1)))
    return pass_through(&cc, argv); // other languages, or clang says why not
  if (cc.args.lto && cc.args.nsources)
    note("note", "-flto is ignored: instrumented objects are machine code");
  if (cc.args.left_out)
    note(cc.args.left_out, "ignored: clang does not know this option");
  catch_interruptions();
  int rc = show_changed_file(&cc) ? 3
           : cc.args.compile_only ? compile_all(&cc)
                                  : link_all(&cc);
  area_close(&cc.area);
  if (interrupted) {
    signal(interrupted, SIG_DFL);
    raise(interrupted);
  }
  fflush(NULL);
  _Exit(rc); // a compiler leaves its memory to the system
}
