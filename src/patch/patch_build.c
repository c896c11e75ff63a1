// The build of a changed source: see patch_build.h.
#include "patch/patch_build.h"

#include <stdlib.h>
#include <string.h>

#include "compile/bitcode_format.h"
#include "program/map.h"
#include "program/program_code.h"
#include "program/shared_code.h"
#include "util/fs.h"
#include "util/mem.h"

typedef struct {
  ProgramCode code;
  size_t own;    // units of the program itself; those of libraries follow
  bool *is_part; // of each unit: has it code of the file?
  const char *file, *text, *scratch;
  Arena arena;
} PatchBuild;

static bool names_file(const Unit *u, const char *file) {
  for (size_t i = 0; i < u->nsources; i++)
    if (!strcmp(u->sources[i].path, file))
      return true;
  return false;
}

// Marks the units whose map, which `path` carries, lists the file.
static int mark_units(PatchBuild *b, const char *path, size_t *found,
                      Err *err) {
  ProgramMap map;
  if (map_read(&map, path, err))
    return -1;
  for (size_t k = 0; k < map.units.len; k++)
    for (size_t i = 0; i < b->code.units.len; i++)
      if (!memcmp(&map.units.items[k].unit.id, &b->code.units.items[i].id,
                  sizeof(UnitId)) &&
          names_file(&map.units.items[k].unit, b->file) && !b->is_part[i]) {
        b->is_part[i] = true;
        ++*found;
      }
  map_release(&map);
  return 0;
}

// Libraries are looked at only if the program itself has no such unit.
static int find_units(PatchBuild *b, Err *err) {
  size_t found = 0;
  b->own = b->code.units.len;
  b->is_part = mem_array(bool, b->own);
  if (mark_units(b, b->code.path, &found, err))
    return -1;
  if (found)
    return 0;
  if (shared_code_add(&b->code, err))
    return -1;
  free(b->is_part);
  b->is_part = mem_array(bool, b->code.units.len);
  for (size_t i = 0; i < b->code.libraries.len; i++)
    if (mark_units(b, b->code.libraries.items[i].path, &found, err))
      return -1;
  return found ? 0
               : err_set(err, "%s: no unit of %s has code of it", b->file,
                         b->code.path);
}

// Where the file lies that the compiler read, if -ffile-prefix-map has renamed
// it: a tree that was built as a copy.
static const char *compiled_file(PatchBuild *b, const UnitCode *u) {
  static const char *const maps[] = {"-ffile-prefix-map=",
                                     "-fdebug-prefix-map="};
  for (size_t i = u->args.len; i-- > 0;)
    for (size_t k = 0; k < sizeof maps / sizeof *maps; k++) {
      if (!text_starts(u->args.items[i], maps[k]))
        continue;
      const char *old = u->args.items[i] + strlen(maps[k]);
      const char *new = strrchr(old, '=');
      if (!new || !text_starts(b->file, new + 1))
        continue;
      char *path = arena_printf(&b->arena, "%.*s%s", (int)(new - old), old,
                                b->file + strlen(new + 1));
      if (fs_exists(path))
        return path;
    }
  return b->file;
}

static int compile_changed(PatchBuild *b, size_t i, const char *object,
                           Err *err) {
  const UnitCode *u = &b->code.units.items[i];
  if (!u->source)
    return err_set(err,
                   "%s: %s does not say how it was compiled; build the program "
                   "again with culprit-cc",
                   u->name, b->code.path);
  if (program_code_compile_changed(&b->code, u, compiled_file(b, u), b->text,
                                   object, err))
    return err_prefix(err, "does not compile");
  return 0;
}

// A unit of a library that is linked into the program beside the changed one.
static int compile_beside(PatchBuild *b, size_t i, const char *object,
                          Err *err) {
  const UnitCode *u = &b->code.units.items[i];
  char *bitcode =
      arena_printf(&b->arena, "%s/beside-%zu" BITCODE_SUFFIX, b->scratch, i);
  if (program_code_unpack(u, bitcode, err))
    return -1;
  return program_code_compile(u, bitcode, -1, object, err);
}

static int compile_units(PatchBuild *b, const char **objects, Err *err) {
  int rc = 0;
  for (size_t i = 0; i < b->code.units.len && !rc; i++) {
    if (!b->is_part[i] && i < b->own)
      continue;
    char *object = arena_printf(&b->arena, "%s/changed-%zu.o", b->scratch, i);
    rc = b->is_part[i] ? compile_changed(b, i, object, err)
                       : compile_beside(b, i, object, err);
    objects[i] = object;
  }
  return rc;
}

static int make(PatchBuild *b, const Str *text, const char *output, Err *err) {
  if (fs_write(b->text, str_text(text), text->len, err) || find_units(b, err))
    return -1;
  const char **objects = mem_array(const char *, b->code.units.len);
  int rc = compile_units(b, objects, err);
  if (!rc)
    rc = program_code_link_objects(&b->code, objects, NULL, false, b->scratch,
                                   output, err);
  free(objects);
  return rc;
}

int patch_build(const char *program, const char *file, const Str *text,
                const char *scratch, char **out_program, Err *err) {
  PatchBuild b = {.file = file};
  *out_program = NULL;
  if (program_code_read(&b.code, program, err))
    return -1;
  char *dir = path_absolute(scratch, NULL);
  char *output = mem_printf("%s/%s", dir, path_base(program));
  b.scratch = dir;
  b.text = arena_printf(&b.arena, "%s/changed-text", dir);
  int rc = make(&b, text, output, err);
  if (!rc)
    *out_program = output;
  else
    free(output);
  free(b.is_part);
  free(dir);
  arena_release(&b.arena);
  program_code_release(&b.code);
  return rc;
}
