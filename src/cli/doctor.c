// `culprit doctor`: says what is missing or wrong on this machine, in this
// environment and in this directory. One line per finding, with the remedy:
//
//   ok       compiler: /usr/bin/clang-19 (clang version 19.1.7)
//   warning  CULPRIT_NOOP is set: culprit-cc adds no counters; unset it
//   missing  runtime: no culprit-runtime.s in ...; build or install again
//
// The last check is the whole way: it compiles a small program, runs it, and
// reads back which of its lines were executed.
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/cli.h"
#include "program/map.h"
#include "program/runfile.h"
#include "store/store.h"
#include "store/store_address.h"
#include "util/area.h"
#include "util/capture.h"
#include "util/escape.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

typedef enum { OK, WARNING, MISSING, LEVELS } Level;

typedef struct {
  const char *store; // --store, or NULL
  char *self;        // directory of this program
  bool color;
  int count[LEVELS];
} Doctor;

__attribute__((format(printf, 3, 4))) static void report(Doctor *d, Level level,
                                                         const char *fmt, ...) {
  static const char *const words[] = {"ok", "warning", "missing"};
  static const char *const colors[] = {"\33[32m", "\33[33m", "\33[31m"};
  d->count[level]++;
  printf("%s%-8s%s ", d->color ? colors[level] : "", words[level],
         d->color ? "\33[0m" : "");
  va_list ap;
  va_start(ap, fmt);
  escape_vprintf(stdout, fmt, ap);
  va_end(ap);
  putchar('\n');
}

// Keeps the first line only, so that it fits into a report.
static const char *first_line(Str *s) {
  if (s->data)
    s->data[strcspn(s->data, "\n")] = '\0';
  return *str_text(s) ? s->data : "no output";
}

// --- culprit's own parts ---------------------------------------------------

static void check_compiler(Doctor *d) {
  const char *cc = getenv("CULPRIT_CC");
  bool chosen = cc && *cc;
  if (!chosen)
    cc = "clang-19";
  const char *remedy = chosen ? "set CULPRIT_CC to a clang 19, or unset it"
                              : "apt-get install clang-19, or set CULPRIT_CC";
  char *argv[] = {(char *)cc, "--version", NULL};
  Str out = {0};
  int status = command_capture(argv, NULL, &out);
  const char *line = first_line(&out);
  const char *version = strstr(line, "clang version ");
  if (status)
    report(d, MISSING, "compiler: %s does not run (%s); %s", cc, line, remedy);
  else if (!version)
    report(d, MISSING, "compiler: %s is not clang (%s); %s", cc, line, remedy);
  else if (!text_starts(version, "clang version 19."))
    report(d, WARNING,
           "compiler: %s is %s; culprit is built for LLVM 19 and may not read "
           "its bitcode",
           cc, version);
  else
    report(d, OK, "compiler: %s (%s)", cc, line);
  str_release(&out);
}

// The file `name` next to this program or under `installed`. Caller frees.
static char *find_part(const Doctor *d, const char *name,
                       const char *installed) {
  char *near = mem_printf("%s/%s", d->self, name);
  if (fs_exists(near))
    return near;
  free(near);
  char *place = mem_printf("../%s/%s", installed, name);
  char *far = path_absolute(place, d->self);
  free(place);
  if (fs_exists(far))
    return far;
  free(far);
  return NULL;
}

static void check_part(Doctor *d, const char *what, const char *name,
                       const char *installed, const char *magic) {
  char *path = find_part(d, name, installed);
  Str head = {0};
  Err err;
  if (!path)
    report(d, MISSING,
           "%s: no %s in %s or ../%s; build or install culprit again", what,
           name, d->self, installed);
  else if (!magic && !fs_executable(path))
    report(d, MISSING, "%s: %s is not executable; chmod +x it", what, path);
  else if (magic && fs_read(path, strlen(magic), &head, &err))
    report(d, MISSING, "%s: %s", what, err.text);
  else if (magic && strcmp(str_text(&head), magic) != 0)
    report(d, MISSING, "%s: %s is not culprit's; build or install again", what,
           path);
  else
    report(d, OK, "%s: %s", what, path);
  str_release(&head);
  free(path);
}

static void check_parts(Doctor *d) {
  check_part(d, "wrapper", "culprit-cc", "bin", NULL);
  check_part(d, "instrumenter", "culprit-instrument", "libexec/culprit", NULL);
  check_part(d, "runtime", "culprit-runtime.s", "lib/culprit",
             "# culprit runtime");
  check_part(d, "trace runtime", "culprit-trace.o", "lib/culprit", "\177ELF");
  check_part(d, "close runtime", "culprit-close.o", "lib/culprit", "\177ELF");
  check_part(d, "fork server", "culprit-server.so", "lib/culprit", "\177ELF");
}

// Only `culprit web` needs it: a warning at most.
static void check_php(Doctor *d) {
  char *argv[] = {"php-cgi8.2", "-v", NULL};
  char *extension = find_part(d, "culprit.so", "lib/culprit");
  Str out = {0};
  int status = command_capture(argv, NULL, &out);
  if (status)
    report(d, WARNING,
           "PHP: php-cgi8.2 does not run (%s); for `culprit web`: apt-get "
           "install php8.2-cgi",
           first_line(&out));
  else if (!extension)
    report(d, WARNING, "PHP: no culprit.so; build or install culprit again");
  else
    report(d, OK, "PHP: %s, %s", first_line(&out), extension);
  str_release(&out);
  free(extension);
}

// --- the machine -----------------------------------------------------------

enum { LOW_SPACE_MB = 512 }; // as in run/scratch.c

// Can a file in `dir` be made and mapped, as the runtime does? Else -1, and
// errno says why.
static int try_mapping(const char *dir) {
  char *path = mem_printf("%s/culprit-doctor-XXXXXX", dir);
  int rc = -1, fd = mkstemp(path);
  if (fd >= 0) {
    errno = posix_fallocate(fd, 0, 4096);
    void *page =
        errno ? MAP_FAILED
              : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page != MAP_FAILED)
      rc = munmap(page, 4096);
    int saved = errno;
    close(fd);
    unlink(path);
    errno = saved;
  }
  free(path);
  return rc;
}

static void check_run_files(Doctor *d) {
  const char *dir = getenv("CULPRIT_TMPDIR");
  bool chosen = dir && *dir;
  if (!chosen)
    dir = "/dev/shm";
  struct statvfs fs;
  if (try_mapping(dir)) {
    const char *why = strerror(errno);
    if (chosen)
      report(d, MISSING,
             "run files: CULPRIT_TMPDIR is %s: %s; set it to a directory that "
             "can be written",
             dir, why);
    else
      report(d, WARNING,
             "run files: %s: %s; they go to the store's directory, which is "
             "slower, or to CULPRIT_TMPDIR",
             dir, why);
    return;
  }
  unsigned long long mb =
      statvfs(dir, &fs) ? 0 : (fs.f_bavail * 1ull * fs.f_frsize) >> 20;
  if (mb < LOW_SPACE_MB)
    report(d, WARNING,
           "run files: only %llu MB free in %s; make room or set "
           "CULPRIT_TMPDIR",
           mb, dir);
  else
    report(d, OK, "run files: %s, %llu MB free", dir, mb);
}

static void check_kernel(Doctor *d) {
  if (access("/proc/thread-self/children", R_OK))
    report(
        d, WARNING,
        "kernel: /proc lists no children: what a test leaves running may "
        "survive it; mount /proc, or use a kernel with CONFIG_PROC_CHILDREN");
  else
    report(d, OK, "kernel: what a test leaves running can be found");
}

static void check_limits(Doctor *d) {
  struct rlimit files, size;
  if (getrlimit(RLIMIT_NOFILE, &files) || getrlimit(RLIMIT_FSIZE, &size))
    return;
  if (size.rlim_cur != RLIM_INFINITY && size.rlim_cur < (rlim_t)64 << 20)
    report(d, WARNING,
           "limits: files may not grow beyond %llu kB, run files and the store "
           "may need more; ulimit -f unlimited",
           (unsigned long long)size.rlim_cur >> 10);
  else if (files.rlim_cur < 256)
    report(d, WARNING, "limits: only %llu open files; ulimit -n 1024",
           (unsigned long long)files.rlim_cur);
  else
    report(d, OK, "limits: open files %llu, file size %s",
           (unsigned long long)files.rlim_cur,
           size.rlim_cur == RLIM_INFINITY ? "unlimited" : "64 MB or more");
}

static void check_store(Doctor *d) {
  char *dir = store_find(d->store);
  Store *store = NULL;
  Err err;
  int64_t bytes;
  if (!address_is_server(dir) && !fs_exists(dir))
    report(d, OK, "store: none in %s yet; `culprit run` makes one", dir);
  else if (store_open(&store, dir, STORE_EXISTING, &err) ||
           store_size(store, &bytes, &err))
    report(d, MISSING, "store: %s", err.text);
  else
    report(d, OK, "store: %s, %lld kB", store_name(store),
           (long long)(bytes + 1023) >> 10);
  store_close(store);
  free(dir);
}

// --- the environment -------------------------------------------------------

// Is `word` one of the blank-separated words of `text`, or the start of one
// that goes on with '='?
static bool has_word(const char *text, const char *word) {
  size_t n = strlen(word);
  for (const char *p = text; (p = strstr(p, word)); p += n) {
    bool starts = p == text || p[-1] == ' ' || p[-1] == '\t';
    if (starts && (!p[n] || strchr(" \t=", p[n])))
      return true;
  }
  return false;
}

static void check_flags(Doctor *d, const char *variable) {
  const char *flags = getenv(variable);
  if (!flags)
    return;
  if (has_word(flags, "-flto") && !has_word(flags, "-fno-lto"))
    report(d, WARNING,
           "%s has -flto: culprit-cc ignores it, with a note for every file; "
           "take it out",
           variable);
}

static void check_environment(Doctor *d) {
  static const char *const flags[] = {"CFLAGS", "CPPFLAGS", "LDFLAGS"};
  const char *noop = getenv("CULPRIT_NOOP");
  const char *cc = getenv("CC");
  int before = d->count[WARNING];
  if (noop && *noop && strcmp(noop, "0") != 0)
    report(d, WARNING,
           "CULPRIT_NOOP is set: culprit-cc adds no counters; unset it");
  if (cc && *cc && !strstr(cc, "culprit"))
    report(d, WARNING,
           "CC is '%s': builds in this shell do not use culprit-cc; set "
           "CC=culprit-cc%s",
           cc, strstr(cc, "ccache") ? " (or CC='ccache culprit-cc')" : "");
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
    check_flags(d, flags[i]);
  if (d->count[WARNING] == before)
    report(d, OK, "environment: nothing in the way");
}

// --- build files in the current directory ----------------------------------

// Finds the line `NAME = value` of a Makefile or `NAME:TYPE=value` of a CMake
// cache that sets `name` for good (not with ?=). Returns its number, 0 if there
// is none; *value is the rest of the line (caller frees).
static int find_setting(const char *text, const char *name, char **value) {
  size_t n = strlen(name);
  int number = 1;
  for (const char *line = text; *line; number++) {
    size_t len = strcspn(line, "\n");
    const char *p = line + n, *end = line + len;
    if (len > n && !strncmp(line, name, n) && strchr(" \t:=", *p)) {
      const char *eq = memchr(p, '=', (size_t)(end - p));
      if (eq && eq[-1] != '?') {
        for (eq++; eq < end && (*eq == ' ' || *eq == '\t'); eq++)
          ;
        *value = mem_printf("%.*s", (int)(end - eq), eq);
        return number;
      }
    }
    line = end + (*end == '\n');
  }
  return 0;
}

typedef struct {
  const char *file, *name;
} BuildFile;

static const char *setting_remedy(const char *file) {
  if (text_ends(file, "CMakeCache.txt"))
    return "an existing CMake tree ignores CC: remove it and run "
           "`CC=culprit-cc cmake ...` again";
  if (fs_exists("config.status"))
    return "run `./configure CC=culprit-cc` and `make clean` again";
  return "run `make CC=culprit-cc`";
}

static void check_build_file(Doctor *d, const char *file, const char *name) {
  Str text = {0};
  Err err;
  char *value = NULL;
  int line = 0;
  if (fs_exists(file) && !fs_read(file, 16 << 20, &text, &err))
    line = find_setting(str_text(&text), name, &value);
  if (line && strstr(value, "culprit"))
    report(d, OK, "build: %s:%d uses %s", file, line, value);
  else if (line)
    report(d, WARNING, "build: %s:%d sets %s to '%s'; %s", file, line, name,
           value, setting_remedy(file));
  free(value);
  str_release(&text);
}

static void check_build_files(Doctor *d) {
  static const BuildFile build_files[] = {
      {"GNUmakefile", "CC"},
      {"makefile", "CC"},
      {"Makefile", "CC"},
      {"CMakeCache.txt", "CMAKE_C_COMPILER"},
      {"build/CMakeCache.txt", "CMAKE_C_COMPILER"},
  };
  for (size_t i = 0; i < sizeof build_files / sizeof *build_files; i++)
    check_build_file(d, build_files[i].file, build_files[i].name);
}

// --- the whole way ---------------------------------------------------------

static const char PROGRAM[] = "int main(int argc, char **argv) {\n"
                              "  (void)argv;\n"
                              "  if (argc > 1)\n"
                              "    return 1;\n"
                              "  return 0;\n"
                              "}\n";
enum { NOT_EXECUTED = 4, EXECUTED = 5 }; // lines of PROGRAM

typedef struct {
  Bitset lines[2]; // of entity ids: the statements on line 4, on line 5
} Expected;

static int assign_ids(void *ctx, const Unit *unit, uint32_t *ids, Err *err) {
  (void)err;
  Expected *want = ctx;
  for (uint32_t i = 0; i < unit->nentities; i++) {
    const Entity *e = &unit->entities[i];
    ids[i] = i;
    if (e->kind == ENTITY_STATEMENT &&
        (e->line == NOT_EXECUTED || e->line == EXECUTED))
      bitset_add(&want->lines[e->line == EXECUTED], i);
  }
  return 0;
}

static bool bitset_meets(const Bitset *a, const Bitset *b) {
  for (size_t i = 0; i < a->nwords && i < b->nwords; i++)
    if (a->words[i] & b->words[i])
      return true;
  return false;
}

// Reads the run files in `dir` and sees whether they tell what happened.
static int judge_run(const char *program, const char *dir, Err *err) {
  Expected want = {0};
  Run run = {0};
  Collector *c = collector_new(assign_ids, &want);
  int rc = collector_add_module(c, program, err);
  if (!rc && !collector_units(c))
    rc = err_set(err, "culprit-cc added no counters to the program");
  if (!rc)
    rc = collector_collect(c, dir, &run, err);
  const Bitset *hits = &run.hits[ENTITY_STATEMENT];
  if (!rc && !run.processes)
    rc = err_set(err, "the program left no run file%s%s", run.note ? ": " : "",
                 run.note ? run.note : "");
  if (!rc && (!bitset_meets(hits, &want.lines[1]) ||
              bitset_meets(hits, &want.lines[0])))
    rc = err_set(err,
                 "the run file names other lines than the program executed");
  collector_free(c);
  run_release(&run);
  bitset_release(&want.lines[0]);
  bitset_release(&want.lines[1]);
  return rc;
}

static int try_whole_way(const Doctor *d, const char *dir, Err *err) {
  char *cc = mem_printf("%s/culprit-cc", d->self);
  char *source = mem_printf("%s/probe.c", dir);
  char *program = mem_printf("%s/probe", dir);
  char *runs = mem_printf("%s/runs", dir);
  char *runs_env = mem_printf("CULPRIT_RUN=%s", runs);
  char *compile[] = {cc, "-g", "-O1", "-o", program, source, NULL};
  char *execute[] = {program, NULL};
  Str out = {0};
  int rc = fs_write(source, PROGRAM, sizeof PROGRAM - 1, err);
  if (!rc)
    rc = fs_mkdirs(runs, err);
  int status = rc ? 0 : command_capture(compile, "CULPRIT_NOOP=", &out);
  if (status)
    rc = err_set(err, "culprit-cc fails with status %d (%s)", status,
                 first_line(&out));
  status = rc ? 0 : command_capture(execute, runs_env, &out);
  if (status)
    rc = err_set(err, "a program built by culprit-cc ends with status %d (%s)",
                 status, first_line(&out));
  if (!rc)
    rc = judge_run(program, runs, err);
  str_release(&out);
  free(runs_env);
  free(runs);
  free(program);
  free(source);
  free(cc);
  return rc;
}

static void check_whole_way(Doctor *d) {
  if (d->count[MISSING])
    return; // it would only repeat what is missing
  Area area;
  Err err;
  if (area_open_temporary(&area, &err)) {
    report(d, MISSING, "self-test: %s", err.text);
    return;
  }
  if (try_whole_way(d, area.dir, &err))
    report(d, MISSING, "self-test: %s; build or install culprit again",
           err.text);
  else
    report(d, OK, "self-test: compiled, ran and read back a small program");
  area_close(&area);
}

// --- the command -----------------------------------------------------------

static int examine(Doctor *d) {
  check_compiler(d);
  check_parts(d);
  check_php(d);
  check_run_files(d);
  check_kernel(d);
  check_limits(d);
  check_store(d);
  check_environment(d);
  check_build_files(d);
  check_whole_way(d);
  return d->count[MISSING] ? EXIT_ENVIRONMENT : EXIT_DONE;
}

static const Option options[] = {
    {.rows = option_store, .at = offsetof(Doctor, store)},
    {.rows = option_colors, .at = offsetof(Doctor, color)},
    {0}};

static int doctor_main(int argc, char **argv) {
  Doctor d = {.color = cli_color()};
  int first;
  int status = options_parse(&cmd_doctor, argc, argv, &d, &first);
  if (status != OPTIONS_TAKEN)
    return status;
  if (first < argc)
    return options_wrong(&cmd_doctor, "'%s': doctor takes no arguments",
                         argv[first]);
  d.self = path_of_self();
  status = examine(&d);
  free(d.self);
  return status;
}

const Command cmd_doctor = {
    "doctor",
    "report what is missing or wrong on this machine",
    doctor_main,
    .usage = "[options]",
    .about = "Check the compiler, culprit's own parts, the place for run "
             "files, the store, and what in the environment or in this "
             "directory's build files would keep culprit-cc from being used.",
    .options = options,
    .end =
        "Exit status: 0 nothing is missing, 2 usage, 3 something is missing."};
