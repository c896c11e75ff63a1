// The trace build of a program: see trace_build.h.
#include "program/trace_build.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

#include "compile/bitcode_format.h"
#include "ir/ir.h"
#include "ir/ir_format.h"
#include "program/program_code.h"
#include "program/shared_code.h"
#include "runtime/trace_format.h"
#include "util/fs.h"

// Changes when a trace build of the same program becomes another.
enum { BUILD_VERSION = 12 };

typedef enum {
  KIND_TRACE = TRACE_PLAIN,
  KIND_CHECK = TRACE_CHECKED,
  KIND_STORES = TRACE_STORES,
  KIND_MARKED = TRACE_MARKS,
  KIND_LINKED,
  KIND_CLOSE,
  KIND_TRY
} Kind;

// The place in the cache: from the units, the link and the formats.
static char *cache_name(const ProgramCode *p, const char *cache, Kind kind) {
  static const char *const suffixes[] = {
      "", "-check", "-stores", "-marked", "-linked", "-close", "-try"};
  XXH3_state_t *state = XXH3_createState();
  XXH3_64bits_reset(state);
  const uint32_t versions[] = {BUILD_VERSION, IR_VERSION, TRACE_VERSION};
  XXH3_64bits_update(state, versions, sizeof versions);
  for (size_t i = 0; i < p->units.len; i++) {
    XXH3_64bits_update(state, p->units.items[i].id.bytes, sizeof(UnitId));
    XXH3_64bits_update(state, &p->units.items[i].mutant, sizeof(uint64_t));
  }
  for (size_t i = 0; i < p->link_args.len; i++)
    XXH3_64bits_update(state, p->link_args.items[i],
                       strlen(p->link_args.items[i]) + 1);
  uint64_t hash = XXH3_64bits_digest(state);
  XXH3_freeState(state);
  return mem_printf("%s/%016llx%s", cache, (unsigned long long)hash,
                    suffixes[kind]);
}

typedef struct {
  const ProgramCode *code;
  const char *cache;
  const char *dir; // being filled
  Kind kind;
  bool fixed; // the program lies at a fixed place
  Arena arena;
} Builder;

// Objects of close and try builds depend on nothing but their unit, and are
// kept.
static bool keeps_objects(Kind kind) {
  return kind == KIND_CLOSE || kind == KIND_TRY;
}

static bool has_ir(Kind kind) {
  return kind != KIND_MARKED && !keeps_objects(kind);
}

static char *object_of(Builder *b, size_t i) {
  if (!keeps_objects(b->kind))
    return arena_printf(&b->arena, "%s/%zu.o", b->dir, i);
  Str id = {0};
  const UnitCode *u = &b->code->units.items[i];
  for (size_t k = 0; k < sizeof u->id.bytes; k++)
    str_addf(&id, "%02x", u->id.bytes[k]);
  if (u->mutant)
    str_addf(&id, "-%llu", (unsigned long long)u->mutant);
  char *path =
      arena_printf(&b->arena, "%s/units/%s-%s%s%d.o", b->cache, str_text(&id),
                   b->kind == KIND_TRY ? "try" : "close",
                   b->fixed ? "-fixed" : "", BUILD_VERSION);
  str_release(&id);
  return path;
}

static bool is_kept(Builder *b, size_t i) {
  return keeps_objects(b->kind) && fs_exists(object_of(b, i));
}

static int lower_unit(Builder *b, size_t i, Err *err) {
  char *bitcode = arena_printf(&b->arena, "%s/%zu" BITCODE_SUFFIX, b->dir, i);
  char *ir = arena_printf(&b->arena, "%s/%zu.ir", b->dir, i);
  const UnitCode *u = &b->code->units.items[i];
  if (is_kept(b, i))
    return 0;
  if (program_code_unpack(u, bitcode, err))
    return -1;
  if (!has_ir(b->kind))
    return 0;
  LoweredForm form = b->kind == KIND_LINKED   ? LOWER_PLAIN
                     : b->kind == KIND_STORES ? LOWER_STORES
                                              : LOWER_PROMOTED;
  return program_code_lower(u, bitcode, form, ir, err);
}

// Others may make the same object: moved into its place when it is whole.
static int compile_kept(Builder *b, size_t i, const char *bitcode, Err *err) {
  const char *object = object_of(b, i);
  char *fresh = arena_printf(&b->arena, "%s/%zu.o", b->dir, i);
  if (is_kept(b, i))
    return 0;
  const UnitCode *u = &b->code->units.items[i];
  int rc = b->kind == KIND_TRY
               ? program_code_compile_try(u, bitcode, fresh, err)
               : program_code_compile_close(u, bitcode, b->fixed, fresh, err);
  if (!rc && rename(fresh, object))
    rc = err_set(err, "%s: %s", object, strerror(errno));
  return rc;
}

static int compile_unit(Builder *b, size_t i, Err *err) {
  char *bitcode = arena_printf(&b->arena, "%s/%zu" BITCODE_SUFFIX, b->dir, i);
  char *object = object_of(b, i);
  char *names = arena_printf(&b->arena, "%s/names", b->dir);
  const UnitCode *u = &b->code->units.items[i];
  int rc = keeps_objects(b->kind) ? compile_kept(b, i, bitcode, err)
           : b->kind == KIND_LINKED
               ? program_code_compile_linked(u, bitcode, object, err)
               : program_code_compile_traced(u, bitcode, (uint32_t)i, names,
                                             (TraceMode)b->kind, object, err);
  unlink(bitcode);
  return rc;
}

typedef int UnitWork(Builder *b, size_t i, Err *err);

// One worker does every n-th unit, and says on `out` what went wrong.
static void work(Builder *b, UnitWork *f, size_t first, size_t n, int out) {
  Err err = {0};
  for (size_t i = first; i < b->code->units.len; i += n)
    if (f(b, i, &err)) {
      ssize_t said = write(out, err.text, strlen(err.text));
      _exit(said < 0 ? 2 : 1);
    }
  _exit(0);
}

// Does all units, as many at a time as there are processors.
static int do_units(Builder *b, UnitWork *f, Err *err) {
  enum { MOST = 16 };
  pid_t pids[MOST];
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  size_t n = processors < 1 ? 1 : processors > MOST ? MOST : (size_t)processors;
  int ends[2], rc = 0;
  if (pipe2(ends, O_CLOEXEC))
    return err_set(err, "pipe: %s", strerror(errno));
  fflush(NULL);
  for (size_t i = 0; i < n; i++) {
    pids[i] = fork();
    if (pids[i] == 0 && !prctl(PR_SET_PDEATHSIG, SIGKILL))
      work(b, f, i, n, ends[1]);
  }
  close(ends[1]);
  char text[sizeof err->text] = "a helper process was killed";
  ssize_t got = read(ends[0], text, sizeof text - 1);
  if (got > 0)
    text[got] = 0;
  for (size_t i = 0; i < n; i++) {
    int status = 1;
    if (pids[i] < 0 || waitpid(pids[i], &status, 0) < 0 || status)
      rc = err_set(err, "%s", text);
  }
  close(ends[0]);
  return rc;
}

// The functions that units export, for each of them to know the others'.
static int list_names(Builder *b, Err *err) {
  Str names = {0};
  int rc = 0;
  for (size_t i = 0; i < b->code->units.len && !rc; i++) {
    char *ir = arena_printf(&b->arena, "%s/%zu.ir", b->dir, i);
    Program p = {0};
    rc = program_add(&p, ir, err);
    for (size_t k = 0; k < p.functions.len && !rc; k++)
      if (p.functions.items[k].flags & IR_EXPORTED)
        str_addf(&names, "%s\n", program_name(&p, p.functions.items[k].name));
    program_release(&p);
  }
  char *list = arena_printf(&b->arena, "%s/names", b->dir);
  if (!rc)
    rc = fs_write(list, str_text(&names), names.len, err);
  str_release(&names);
  return rc;
}

static int fill(Builder *b, Err *err) {
  char *program = arena_printf(&b->arena, "%s/program", b->dir);
  bool traces = has_ir(b->kind) && b->kind != KIND_LINKED;
  const char *part = traces                  ? "culprit-trace.o"
                     : b->kind == KIND_CLOSE ? "culprit-close.o"
                     : b->kind == KIND_TRY   ? "culprit-try.o"
                                             : NULL;
  char *recorder = part ? path_of_part(part) : NULL;
  size_t n = b->code->units.len;
  const char **objects = mem_array(const char *, n);
  for (size_t i = 0; i < n; i++)
    objects[i] = object_of(b, i);
  int rc = 0;
  if (do_units(b, lower_unit, err) || (traces && list_names(b, err)) ||
      do_units(b, compile_unit, err) ||
      program_code_link_objects(b->code, objects, recorder, b->fixed, b->dir,
                                program, err))
    rc = -1;
  for (size_t i = 0; i < n && !rc && !keeps_objects(b->kind); i++)
    unlink(objects[i]);
  free(objects);
  free(recorder);
  return rc;
}

// Sanitizers decide themselves where a program lies.
static bool may_be_fixed(const ProgramCode *code) {
  for (size_t i = 0; i < code->link_args.len; i++)
    if (text_starts(code->link_args.items[i], "-fsanitize"))
      return false;
  return true;
}

// A close build lies at a fixed place, where its code is shorter. Where the link
// does not allow that (-static-pie, a place of its own), it lies anywhere.
static int fill_close(Builder *b, Err *err) {
  Err ignored = {0};
  b->fixed = may_be_fixed(b->code);
  if (b->fixed && !fill(b, &ignored))
    return 0;
  b->fixed = false;
  return fill(b, err);
}

// Filled beside its place and then moved there: others may build the same.
static int make(const ProgramCode *code, const char *cache, const char *place,
                Kind kind, Err *err) {
  char *dir = mem_printf("%s.%ld", place, (long)getpid());
  char *units = mem_printf("%s/units", cache);
  Builder b = {.code = code, .cache = cache, .dir = dir, .kind = kind};
  int rc = fs_mkdirs(dir, err) || (keeps_objects(kind) && fs_mkdirs(units, err))
               ? -1
               : 0;
  free(units);
  if (!rc)
    rc = kind == KIND_CLOSE ? fill_close(&b, err) : fill(&b, err);
  if (!rc && rename(dir, place) && errno != EEXIST && errno != ENOTEMPTY)
    rc = err_set(err, "%s: %s", place, strerror(errno));
  fs_remove_tree(dir);
  arena_release(&b.arena);
  free(dir);
  return rc;
}

static void describe(TraceBuild *b, const ProgramCode *code, const char *place,
                     Kind kind) {
  b->program = mem_printf("%s/program", place);
  b->nirs = code->units.len;
  b->irs = mem_array(char *, b->nirs);
  for (size_t i = 0; i < b->nirs; i++)
    b->irs[i] = has_ir(kind) ? mem_printf("%s/%zu.ir", place, i) : NULL;
}

static int build_code(TraceBuild *b, const ProgramCode *code, const char *cache,
                      Kind kind, Err *err) {
  char *place = cache_name(code, cache, kind);
  int rc = fs_exists(place) ? 0 : make(code, cache, place, kind, err);
  if (!rc)
    describe(b, code, place, kind);
  free(place);
  return rc;
}

// Is tried once: why it failed is kept where the build would be.
static bool build_with_libraries(TraceBuild *b, const ProgramCode *code,
                                 const char *cache, Kind kind) {
  Err err = {0};
  char *place = cache_name(code, cache, kind);
  char *failed = mem_printf("%s.failed", place);
  bool done = !fs_exists(failed) && !build_code(b, code, cache, kind, &err);
  if (!done && !fs_exists(failed)) {
    Err ignored;
    fs_write(failed, err.text, strlen(err.text), &ignored);
  }
  if (!done)
    b->note = mem_printf("what %s does is not followed: it cannot be linked "
                         "into the program (see %s)",
                         path_base(code->libraries.items[0].path), failed);
  free(failed);
  free(place);
  return done;
}

static int build(TraceBuild *b, const char *program, const char *cache,
                 Kind kind, Err *err) {
  *b = (TraceBuild){0};
  ProgramCode code;
  if (program_code_read(&code, program, err))
    return -1;
  size_t own = code.units.len;
  char *absolute = path_absolute(cache, NULL);
  int rc = shared_code_add(&code, err);
  bool whole = !rc && code.libraries.len &&
               build_with_libraries(b, &code, absolute, kind);
  ProgramCode alone = code; // without its libraries; owns nothing
  alone.units.len = own;
  alone.libraries.len = 0;
  if (!rc && !whole)
    rc = build_code(b, &alone, absolute, kind, err);
  program_code_release(&code);
  free(absolute);
  return rc;
}

int trace_build(TraceBuild *b, const char *program, const char *cache,
                bool check, Err *err) {
  return build(b, program, cache, check ? KIND_CHECK : KIND_TRACE, err);
}

int stores_build(TraceBuild *b, const char *program, const char *cache,
                 Err *err) {
  return build(b, program, cache, KIND_STORES, err);
}

int linked_build(TraceBuild *b, const char *program, const char *cache,
                 Err *err) {
  return build(b, program, cache, KIND_LINKED, err);
}

int marked_build(TraceBuild *b, const char *program, const char *cache,
                 Err *err) {
  return build(b, program, cache, KIND_MARKED, err);
}

int close_build(TraceBuild *b, const char *program, const char *cache,
                Err *err) {
  return build(b, program, cache, KIND_CLOSE, err);
}

int try_build(TraceBuild *b, const char *program, const char *cache, Err *err) {
  return build(b, program, cache, KIND_TRY, err);
}

void trace_build_release(TraceBuild *b) {
  for (size_t i = 0; i < b->nirs; i++)
    free(b->irs[i]);
  free(b->irs);
  free(b->note);
  free(b->program);
  *b = (TraceBuild){0};
}
