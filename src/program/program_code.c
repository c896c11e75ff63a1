// The code that a program carries: see program_code.h.
#include "program/program_code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "compile/bitcode_format.h"
#include "compile/cc_args.h"
#include "compile/changed_file.h"
#include "compile/link_record.h"
#include "program/map_format.h"
#include "util/capture.h"
#include "util/fs.h"

// --- reading ----------------------------------------------------------------

// Adds the NUL-terminated strings of `data`; the last one may be cut off.
static void split_strings(ProgramCode *p, Bytes data, StringList *out) {
  const char *at = (const char *)data.data, *end = at + data.size;
  while (at < end) {
    size_t n = strnlen(at, (size_t)(end - at));
    array_push(out, arena_strndup(&p->arena, at, n));
    at += n + 1;
  }
}

// The directory, the source, options.
static void split_front(ProgramCode *p, Bytes data, UnitCode *u) {
  StringList all = {0};
  split_strings(p, data, &all);
  for (size_t i = 2; i < all.len; i++)
    array_push(&u->front, all.items[i]);
  u->dir = all.len >= 2 ? all.items[0] : NULL;
  u->source = all.len >= 2 ? all.items[1] : NULL;
  array_release(&all);
}

static int damaged(const char *path, const char *what, Err *err) {
  return err_set(err, "%s: its %s is damaged; build it again", path, what);
}

static int read_units(ProgramCode *p, Bytes section, Err *err) {
  const unsigned char *at = section.data, *end = at + section.size;
  while ((size_t)(end - at) >= sizeof(BitcodeHeader)) {
    BitcodeHeader h;
    memcpy(&h, at, sizeof h);
    if (h.magic >> 8 == BITCODE_MAGIC >> 8 && h.magic != BITCODE_MAGIC)
      return err_set(err,
                     "%s was built by another version of culprit; build it "
                     "again",
                     p->path);
    if (h.magic != BITCODE_MAGIC) {
      at++; // padding, or what others put there
      continue;
    }
    at += sizeof h;
    size_t left = (size_t)(end - at);
    if (h.args_size > left || h.front_size > left - h.args_size ||
        h.size > left - h.args_size - h.front_size)
      return damaged(p->path, "bitcode", err);
    UnitCode u = {
        .full_size = h.full_size, .returns = h.returns, .mutant = h.mutant};
    memcpy(u.id.bytes, h.id, sizeof h.id);
    split_strings(p, (Bytes){at, h.args_size}, &u.args);
    split_front(p, (Bytes){at + h.args_size, h.front_size}, &u);
    at += h.args_size + h.front_size;
    u.packed = (Bytes){at, h.size};
    array_push(&p->units, u);
    at += h.size;
  }
  return 0;
}

// The newest record: that of the last link.
static int read_link(ProgramCode *p, Bytes section, Err *err) {
  LinkHeader h;
  if (section.size < sizeof h)
    return 0;
  memcpy(&h, section.data, sizeof h);
  if (h.magic != LINK_MAGIC || h.version != LINK_VERSION ||
      h.size > section.size - sizeof h)
    return damaged(p->path, "link record", err);
  StringList all = {0};
  split_strings(p, (Bytes){section.data + sizeof h, h.size}, &all);
  for (size_t i = 0; i < all.len; i++) {
    if (i == 0)
      p->cwd = all.items[0];
    else if (!*all.items[i])
      break; // the hashes of the inputs follow
    else
      array_push(&p->link_args, all.items[i]);
  }
  array_release(&all);
  return 0;
}

// Names and kinds of counters are in the map.
static int name_units(ProgramCode *p, Err *err) {
  ProgramMap map;
  if (map_read(&map, p->path, err))
    return -1;
  for (size_t i = 0; i < p->units.len; i++) {
    UnitCode *u = &p->units.items[i];
    for (size_t k = 0; k < map.units.len; k++) {
      const UnitMap *m = &map.units.items[k];
      if (memcmp(&m->unit.id, &u->id, sizeof u->id))
        continue;
      u->name = arena_strdup(&p->arena, m->unit.name);
      u->counts = m->counter_size == COUNTERS_COUNTS;
    }
    if (!u->name)
      u->name = "";
  }
  map_release(&map);
  return 0;
}

int program_code_read(ProgramCode *p, const char *path, Err *err) {
  *p = (ProgramCode){0};
  if (sections_open(path, &p->file, err))
    return -1;
  p->path = arena_strdup(&p->arena, path);
  int rc = 0;
  size_t index = 0;
  for (Bytes s;
       !rc && (s = section_find(p->file, BITCODE_SECTION, &index)).data;)
    rc = read_units(p, s, err);
  index = 0;
  Bytes link = section_find(p->file, LINK_SECTION, &index);
  if (!rc)
    rc = read_link(p, link, err);
  if (!rc)
    rc = name_units(p, err);
  if (!rc && !p->units.len) {
    char *reason = map_absence_reason(path);
    rc = err_set(err, "%s", reason);
    free(reason);
  }
  if (rc)
    program_code_release(p);
  return rc;
}

void program_code_release(ProgramCode *p) {
  sections_close(p->file);
  for (size_t i = 0; i < p->libraries.len; i++)
    program_code_release(&p->libraries.items[i]);
  array_release(&p->libraries);
  for (size_t i = 0; i < p->units.len; i++) {
    array_release(&p->units.items[i].args);
    array_release(&p->units.items[i].front);
  }
  array_release(&p->units);
  array_release(&p->link_args);
  arena_release(&p->arena);
  *p = (ProgramCode){0};
}

// --- compiling --------------------------------------------------------------

int program_code_unpack(const UnitCode *u, const char *path, Err *err) {
  enum { LARGEST = 1 << 30 };
  if (u->full_size > LARGEST)
    return err_set(err, "%s: its bitcode is damaged; build it again", u->name);
  void *bitcode = mem_alloc(u->full_size);
  size_t n =
      ZSTD_decompress(bitcode, u->full_size, u->packed.data, u->packed.size);
  int rc =
      ZSTD_isError(n) || n != u->full_size
          ? err_set(err, "%s: its bitcode is damaged; build it again", u->name)
          : fs_write(path, bitcode, n, err);
  free(bitcode);
  return rc;
}

char *program_code_compiler(void) {
  char *self = path_of_self();
  char *path = mem_printf("%s/culprit-cc", self);
  free(self);
  return path;
}

// Options such as -L and -I are relative to the directory where the compiler
// ran; it is the shell's $0.
static const char in_dir[] = "cd \"$0\" && exec \"$@\"";

static int run_compiler(StringList *args, const char *mutant, Err *err) {
  Str output = {0};
  array_push(args, NULL);
  int status = command_capture((char *const *)args->items, mutant, &output);
  if (status)
    err_set(err, "%s: exit status %d\n%s", args->items[0], status,
            str_text(&output));
  str_release(&output);
  return status ? -1 : 0;
}

static int compile_unit(const UnitCode *u, const char *bitcode,
                        const char *const *variables, const char *last_option,
                        const char *object, Err *err) {
  StringList args = {0};
  char *compiler = program_code_compiler();
  const char *end[] = {"-c", bitcode, "-o", object, NULL};
  array_push(&args, "env");
  array_push_all(&args, variables);
  array_push(&args, compiler);
  for (size_t i = 0; i < u->args.len; i++)
    array_push(&args, u->args.items[i]);
  if (last_option)
    array_push(&args, last_option);
  array_push_all(&args, end);
  int rc = run_compiler(&args, NULL, err);
  array_release(&args);
  free(compiler);
  return rc;
}

static char *counting_mode(const UnitCode *u, const char *also) {
  return mem_printf("CULPRIT_MODE=%s%s%s", u->counts ? "counts" : "hits",
                    u->returns ? "+returns" : "", also);
}

static int compile_counting(const UnitCode *u, const char *bitcode, int mutant,
                            const char *also, const char *object, Err *err) {
  char *mode = counting_mode(u, also);
  char *plant = mem_printf("CULPRIT_MUTATE=%d", mutant);
  const char *variables[] = {mode, mutant < 0 ? "CULPRIT_MUTATE=" : plant,
                             NULL};
  int rc = compile_unit(u, bitcode, variables, NULL, object, err);
  free(mode);
  free(plant);
  return rc;
}

int program_code_compile(const UnitCode *u, const char *bitcode, int mutant,
                         const char *object, Err *err) {
  return compile_counting(u, bitcode, mutant, "", object, err);
}

// Options are relative to the directory of the first compilation.
int program_code_compile_changed(const ProgramCode *p, const UnitCode *u,
                                 const char *changed, const char *text,
                                 const char *object, Err *err) {
  const char *dir = u->dir && !*u->dir ? p->cwd : u->dir;
  if (!dir)
    return err_set(err, "%s: %s does not say how it was compiled", u->name,
                   p->path);
  StringList args = {0};
  char *compiler = program_code_compiler();
  char *mode = counting_mode(u, "");
  char *path = mem_printf(CHANGED_VARIABLE "=%s", changed);
  char *with = mem_printf(CHANGED_TEXT_VARIABLE "=%s", text);
  const char *head[] = {"sh",
                        "-c",
                        in_dir,
                        dir,
                        "env",
                        mode,
                        "CULPRIT_MUTATE=",
                        "CULPRIT_STRICT=1",
                        "CULPRIT_LENIENT=1",
                        path,
                        with,
                        compiler,
                        NULL};
  const char *end[] = {"-w", "-c", u->source, "-o", object, NULL};
  array_push_all(&args, head);
  for (size_t i = 0; i < u->args.len; i++)
    array_push(&args, u->args.items[i]);
  for (size_t i = 0; i < u->front.len; i++)
    array_push(&args, u->front.items[i]);
  array_push_all(&args, end);
  int rc = run_compiler(&args, NULL, err);
  array_release(&args);
  free(compiler);
  free(mode);
  free(path);
  free(with);
  return rc;
}

int program_code_compile_linked(const UnitCode *u, const char *bitcode,
                                const char *object, Err *err) {
  return compile_counting(u, bitcode, -1, "+links", object, err);
}

int program_code_compile_traced(const UnitCode *u, const char *bitcode,
                                uint32_t number, const char *names,
                                TraceMode mode, const char *object, Err *err) {
  static const char *const modes[] = {
      [TRACE_PLAIN] = "CULPRIT_MODE=trace",
      [TRACE_CHECKED] = "CULPRIT_MODE=trace+check",
      [TRACE_STORES] = "CULPRIT_MODE=trace+stores",
      [TRACE_MARKS] = "CULPRIT_MODE=marks"};
  char *unit = mem_printf("CULPRIT_TRACE_UNIT=%u", number);
  char *list = mem_printf("CULPRIT_TRACE_NAMES=%s", names);
  const char *variables[] = {modes[mode],
                             "CULPRIT_MUTATE=",
                             "CULPRIT_STRICT=1",
                             unit,
                             mode == TRACE_MARKS ? NULL : list,
                             NULL};
  int rc = compile_unit(u, bitcode, variables,
                        mode == TRACE_MARKS ? "-O0" : "-O2", object, err);
  free(unit);
  free(list);
  return rc;
}

static int compile_other(const UnitCode *u, const char *bitcode,
                         const char *mode, const char *level,
                         const char *object, Err *err) {
  char *plant =
      mem_printf("CULPRIT_MUTATE=%llu", (unsigned long long)(u->mutant - 1));
  const char *variables[] = {
      mode, u->mutant ? plant : "CULPRIT_MUTATE=", "CULPRIT_STRICT=1", NULL};
  int rc = compile_unit(u, bitcode, variables, level, object, err);
  free(plant);
  return rc;
}

int program_code_compile_close(const UnitCode *u, const char *bitcode,
                               bool fixed, const char *object, Err *err) {
  const char *mode = fixed ? "CULPRIT_MODE=close+fixed" : "CULPRIT_MODE=close";
  return compile_other(u, bitcode, mode, "-O2", object, err);
}

int program_code_compile_try(const UnitCode *u, const char *bitcode,
                             const char *object, Err *err) {
  return compile_other(u, bitcode, "CULPRIT_MODE=try", "-O1", object, err);
}

// --- asking -----------------------------------------------------------------

static char *instrumenter(void) {
  char *self = path_of_self();
  char *path = mem_printf("%s/culprit-instrument", self);
  if (!fs_exists(path)) {
    free(path);
    path = mem_printf("%s/../libexec/culprit/culprit-instrument", self);
  }
  free(self);
  return path;
}

static int run_instrumenter(const UnitCode *u, StringList *args, Str *out,
                            Err *err) {
  char *program = instrumenter();
  Str text = {0};
  args->items[0] = program;
  array_push(args, NULL);
  int status = command_capture((char *const *)args->items, NULL, &text);
  if (status)
    err_set(err, "%s: %s", u->name, str_text(&text));
  else
    str_addn(out, str_text(&text), text.len);
  str_release(&text);
  free(program);
  return status ? -1 : 0;
}

int program_code_ask(const UnitCode *u, const char *bitcode,
                     const char *question, Str *out, Err *err) {
  StringList args = {0};
  array_push(&args, "");
  array_push(&args, question);
  array_push(&args, bitcode);
  int rc = run_instrumenter(u, &args, out, err);
  array_release(&args);
  return rc;
}

// Entities and sources must be those of the unit's map: planned alike.
int program_code_lower(const UnitCode *u, const char *bitcode, LoweredForm form,
                       const char *output, Err *err) {
  static const char *const maps[] = {"-ffile-prefix-map=",
                                     "-fdebug-prefix-map="};
  StringList args = {0};
  Str said = {0};
  array_push(&args, "");
  array_push(&args, "lower");
  if (form != LOWER_PROMOTED)
    array_push(&args, form == LOWER_PLAIN ? "--plain" : "--stores");
  if (u->returns)
    array_push(&args, "--returns");
  for (size_t i = 0; i < u->args.len; i++)
    for (size_t k = 0; k < sizeof maps / sizeof *maps; k++)
      if (text_starts(u->args.items[i], maps[k])) {
        array_push(&args, "--prefix-map");
        array_push(&args, u->args.items[i] + strlen(maps[k]));
      }
  const char *end[] = {bitcode, "-o", output, NULL};
  array_push_all(&args, end);
  int rc = run_instrumenter(u, &args, &said, err);
  str_release(&said);
  array_release(&args);
  return rc;
}

int program_code_pdg(const ProgramCode *p, const char *scratch, Str *out,
                     Err *err) {
  int rc = 0;
  for (size_t i = 0; !rc && i < p->units.len; i++) {
    char *bitcode = mem_printf("%s/%zu" BITCODE_SUFFIX, scratch, i);
    rc = program_code_unpack(&p->units.items[i], bitcode, err);
    if (!rc)
      rc = program_code_ask(&p->units.items[i], bitcode, "pdg", out, err);
    free(bitcode);
  }
  return rc;
}

// --- linking ----------------------------------------------------------------

typedef ARRAY(UnitId) UnitIds;

// The units whose maps this object file or archive holds.
static void list_units(const char *path, UnitIds *out) {
  Bytes file;
  Err ignored;
  if (sections_open(path, &file, &ignored))
    return;
  const uint64_t magic = MAP_MAGIC;
  const unsigned char *at = file.data, *end = at + file.size;
  while (at && (size_t)(end - at) >= sizeof(MapHeader) &&
         (at = memmem(at, (size_t)(end - at), &magic, sizeof magic))) {
    MapHeader h;
    if ((size_t)(end - at) < sizeof h)
      break;
    memcpy(&h, at, sizeof h);
    UnitId id;
    memcpy(id.bytes, h.id, sizeof id.bytes);
    array_push(out, id);
    at++;
  }
  sections_close(file);
}

typedef struct {
  const ProgramCode *program;
  const char *const *objects; // of each unit; NULL: as it was
  bool *placed;               // of each unit
  const char *scratch, *output;
  Arena arena;
  StringList args;
} Linker;

static void place(Linker *l, size_t unit) {
  array_push(&l->args, l->objects[unit]);
  l->placed[unit] = true;
}

// A source named in the link command: its object was temporary.
static int add_source(Linker *l, const char *source, Err *err) {
  const ProgramCode *p = l->program;
  for (size_t i = 0; i < p->units.len; i++) {
    if (l->placed[i] || strcmp(p->units.items[i].name, source))
      continue;
    if (l->objects[i]) {
      place(l, i);
      return 0;
    }
    char *bitcode =
        arena_printf(&l->arena, "%s/%zu" BITCODE_SUFFIX, l->scratch, i);
    char *object = arena_printf(&l->arena, "%s/%zu.o", l->scratch, i);
    array_push(&l->args, object);
    if (fs_exists(object))
      return 0; // from the mutant before
    if (program_code_unpack(&p->units.items[i], bitcode, err) ||
        program_code_compile(&p->units.items[i], bitcode, -1, object, err))
      return -1;
    return 0;
  }
  return err_set(err, "%s was linked from %s, but does not carry its code",
                 p->path, source);
}

// Puts our objects of the units that the file holds into its place.
static bool replace_units(Linker *l, const char *path) {
  UnitIds ids = {0};
  bool any = false;
  list_units(path, &ids);
  for (size_t i = 0; i < l->program->units.len; i++) {
    const UnitId *id = &l->program->units.items[i].id;
    for (size_t k = 0; k < ids.len && l->objects[i] && !l->placed[i]; k++)
      if (!memcmp(id, &ids.items[k], sizeof *id)) {
        place(l, i);
        any = true;
      }
  }
  array_release(&ids);
  return any;
}

// An object file that is gone can be done without if every unit is made anew:
// those that no other input holds come first in the link.
static bool is_replaced(const Linker *l, const char *path) {
  for (size_t i = 0; i < l->program->units.len; i++)
    if (!l->objects[i])
      return false;
  return text_ends(path, ".o");
}

static int add_input(Linker *l, const char *input, Err *err) {
  char *full = path_absolute(input, l->program->cwd);
  const char *path = arena_strdup(&l->arena, full);
  free(full);
  if (!fs_exists(path) && is_replaced(l, path))
    return 0;
  if (!fs_exists(path))
    return err_set(err,
                   "%s no longer exists, but %s was linked from it: "
                   "keep the build directory, or build again",
                   path, l->program->path);
  // From an archive the linker takes only what is not yet defined.
  if (!replace_units(l, path) || text_ends(path, ".a"))
    array_push(&l->args, path);
  return 0;
}

static int add_arg(Linker *l, const ProgramCode *of, const Arg *arg, Err *err) {
  (void)of;
  switch (arg->role) {
  case ARG_SOURCE:
    return add_source(l, arg->text, err);
  case ARG_INPUT:
    return add_input(l, arg->text, err);
  case ARG_OPTION:
  case ARG_LINK:
    array_push(&l->args, arg->text);
    return 0;
  default:
    return 0;
  }
}

// What a library whose units are linked in needs itself.
static int add_need(Linker *l, const ProgramCode *library, const Arg *arg,
                    Err *err) {
  (void)err;
  bool path = text_starts(arg->text, "-L") && arg->text[2];
  const char *file = path ? arg->text + 2 : arg->text;
  if (arg->role == ARG_LINK && text_starts(arg->text, "-l")) {
    array_push(&l->args, arg->text);
    return 0;
  }
  if (!path && !(arg->role == ARG_INPUT && strstr(file, ".so")))
    return 0;
  char *full = path_absolute(file, library->cwd);
  if (path || !replace_units(l, full))
    array_push(&l->args,
               arena_printf(&l->arena, "%s%s", path ? "-L" : "", full));
  free(full);
  return 0;
}

typedef int LinkArg(Linker *l, const ProgramCode *of, const Arg *arg, Err *err);

// All arguments that this program or library was linked with.
static int each_arg(Linker *l, const ProgramCode *of, LinkArg *add, Err *err) {
  CcArgs c;
  const StringList *given = &of->link_args;
  if (cc_args_parse(&c, (int)given->len, (char **)given->items, err))
    return -1;
  int rc = 0;
  for (size_t i = 0; i < c.args.len && !rc; i++)
    rc = add(l, of, &c.args.items[i], err);
  array_release(&c.args);
  array_release(&c.prefix_maps);
  return rc;
}

// The directory of the first link, and what does not depend on the inputs.
// Units that came from a library named by -l go first: what is defined already
// is not taken from there.
static void first_args(const Linker *l, const char *compiler, const char *extra,
                       StringList *out) {
  const char *head[] = {"sh",     "-c",
                        in_dir,   l->program->cwd,
                        compiler, "-Wno-unused-command-line-argument",
                        extra,    NULL};
  array_push_all(out, head);
  for (size_t i = 0; i < l->program->units.len; i++)
    if (l->objects[i] && !l->placed[i])
      array_push(out, l->objects[i]);
}

int program_code_link_objects(const ProgramCode *p, const char *const *objects,
                              const char *extra, bool fixed,
                              const char *scratch, const char *output,
                              Err *err) {
  if (!p->cwd)
    return err_set(err,
                   "%s was not linked by culprit-cc: link it with "
                   "CC=culprit-cc to make other builds of it",
                   p->path);
  Linker l = {.program = p,
              .objects = objects,
              .placed = mem_array(bool, p->units.len),
              .scratch = scratch,
              .output = output};
  char *compiler = program_code_compiler(), *out = path_absolute(output, NULL);
  int rc = each_arg(&l, p, add_arg, err);
  for (size_t i = 0; i < p->libraries.len && !rc; i++)
    rc = each_arg(&l, &p->libraries.items[i], add_need, err);
  StringList all = {0};
  first_args(&l, compiler, extra, &all);
  for (size_t i = 0; i < l.args.len; i++)
    array_push(&all, l.args.items[i]);
  array_push(&all, "-o");
  array_push(&all, out);
  if (fixed)
    array_push(&all, "-no-pie");
  if (!rc)
    rc = run_compiler(&all, "CULPRIT_MUTATE=", err);
  array_release(&all);
  array_release(&l.args);
  arena_release(&l.arena);
  free(l.placed);
  free(compiler);
  free(out);
  return rc;
}

int program_code_link(const ProgramCode *p, size_t unit, const char *object,
                      const char *scratch, const char *output, Err *err) {
  const char **objects = mem_array(const char *, p->units.len);
  objects[unit] = object;
  int rc =
      program_code_link_objects(p, objects, NULL, false, scratch, output, err);
  free(objects);
  return rc;
}
