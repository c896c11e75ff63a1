// culprit mutants: the faults that can be planted in a program, and planting
// one. The program carries its own code (program/program_code.h): only the unit
// of the fault is compiled again, and the program is linked again.
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "compile/bitcode_format.h"
#include "program/program_code.h"
#include "tally/path_filter.h"
#include "util/area.h"
#include "util/array.h"
#include "util/capture.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

typedef struct {
  const char *file, *output, *kind;
  long plant; // -1: list
  ARRAY(const char *) only, exclude;
  const char *scratch;
} Options;

static int usage(FILE *out, int status) {
  fputs("usage: culprit mutants [options] PROG|OBJECT|FILE.c\n\n"
        "Lists the faults that can be planted in a program built by\n"
        "culprit-cc: number, place, kind, what is changed.\n\n"
        "  --plant N -o OUT  make OUT, the program with fault N\n"
        "  --kind KIND       only operator, comparison, negate, constant,\n"
        "                    wrong-branch, delete-store, delete-call or\n"
        "                    swap-arguments\n"
        "  --only PATH --exclude PATH   only in these files\n\n"
        "For a C file N is what CULPRIT_MUTATE=N makes culprit-cc plant.\n"
        "Exit: 0 done, 2 usage, 3 the program carries no code or cannot be\n"
        "built again.\n",
        out);
  return status;
}

static int parse_options(Options *o, int argc, char **argv) {
  static const struct option longs[] = {
      {"plant", required_argument, NULL, 'p'},
      {"kind", required_argument, NULL, 'k'},
      {"only", required_argument, NULL, 'y'},
      {"exclude", required_argument, NULL, 'x'},
      {"help", no_argument, NULL, 'h'},
      {0}};
  *o = (Options){.plant = -1};
  char *end;
  for (int c; (c = cli_getopt(argc, argv, "o:h", longs, NULL)) != -1;) {
    switch (c) {
    case 'p':
      o->plant = strtol(optarg, &end, 10);
      if (*end || o->plant < 0)
        return cli_fail(EXIT_USAGE, "--plant takes a number, not '%s'", optarg);
      break;
    case 'o':
      o->output = optarg;
      break;
    case 'k':
      o->kind = optarg;
      break;
    case 'y':
      array_push(&o->only, optarg);
      break;
    case 'x':
      array_push(&o->exclude, optarg);
      break;
    case 'h':
      exit(usage(stdout, EXIT_DONE));
    default:
      return cli_usage_hint("mutants");
    }
  }
  if (optind + 1 != argc)
    return usage(stderr, EXIT_USAGE);
  o->file = argv[optind];
  if ((o->plant >= 0) != (o->output != NULL))
    return cli_fail(EXIT_USAGE, "--plant N and -o OUT go together");
  return 0;
}

// --- one unit
// -----------------------------------------------------------------

static size_t count_lines(const Str *text) {
  size_t n = 0;
  for (size_t i = 0; i < text->len; i++)
    n += text->data[i] == '\n';
  return n;
}

static char *unpack(const Options *o, const UnitCode *u, size_t i, Err *err) {
  char *path = mem_printf("%s/%zu" BITCODE_SUFFIX, o->scratch, i);
  if (!program_code_unpack(u, path, err))
    return path;
  free(path);
  return NULL;
}

// --- listing
// ------------------------------------------------------------------

// A line of an answer: number, file, line, column, kind, text.
static void print_mutant(const Options *o, char *line, size_t first) {
  char *field[6];
  for (int i = 0; i < 6; i++)
    field[i] = strsep(&line, "\t");
  if (!field[5] || (o->kind && strcmp(o->kind, field[4])))
    return;
  char *cwd = path_absolute(".", NULL);
  const char *shown = path_below(field[1], cwd);
  PathFilter filter = {o->only.items, o->only.len, o->exclude.items,
                       o->exclude.len};
  if (filter_takes(&filter, shown))
    printf("%zu\t%s:%s:%s\t%s\t%s\n", first + strtoul(field[0], NULL, 10),
           shown, field[2], field[3], field[4], field[5]);
  free(cwd);
}

static void print_mutants(const Options *o, Str *text, size_t first) {
  char *rest = text->data;
  for (char *line; rest && (line = strsep(&rest, "\n"));)
    if (*line)
      print_mutant(o, line, first);
}

static int list_program(const Options *o, const ProgramCode *p, Err *err) {
  size_t first = 0;
  for (size_t i = 0; i < p->units.len; i++) {
    const UnitCode *u = &p->units.items[i];
    char *bitcode = unpack(o, u, i, err);
    Str text = {0};
    int rc =
        bitcode ? program_code_ask(u, bitcode, "--mutants", &text, err) : -1;
    size_t n = count_lines(&text);
    if (!rc)
      print_mutants(o, &text, first);
    first += n;
    str_release(&text);
    free(bitcode);
    if (rc)
      return -1;
  }
  return 0;
}

// --- planting
// -----------------------------------------------------------------

static int plant_in(const Options *o, const ProgramCode *p, size_t unit,
                    const char *bitcode, long number, Err *err) {
  char *object = mem_printf("%s/mutant.o", o->scratch);
  const UnitCode *u = &p->units.items[unit];
  int rc = program_code_compile(u, bitcode, (int)number, object, err);
  if (!rc)
    rc = program_code_link(p, unit, object, o->scratch, o->output, err);
  free(object);
  return rc;
}

static int plant(const Options *o, const ProgramCode *p, Err *err) {
  long first = 0;
  for (size_t i = 0; i < p->units.len; i++) {
    const UnitCode *u = &p->units.items[i];
    char *bitcode = unpack(o, u, i, err);
    Str text = {0};
    int rc =
        bitcode ? program_code_ask(u, bitcode, "--mutants", &text, err) : -1;
    long n = (long)count_lines(&text);
    str_release(&text);
    bool here = !rc && o->plant < first + n;
    if (here)
      rc = plant_in(o, p, i, bitcode, o->plant - first, err);
    free(bitcode);
    if (rc || here)
      return rc;
    first += n;
  }
  return err_set(err, "%s has no mutant %ld: they are 0 to %ld", o->file,
                 o->plant, first - 1);
}

// --- main
// ---------------------------------------------------------------------

// A C file is compiled first, with default options.
static int compile_source(Options *o, Err *err) {
  char *compiler = program_code_compiler();
  char *object = mem_printf("%s/source.o", o->scratch);
  char *const argv[] = {compiler, "-g",   "-c", (char *)o->file,
                        "-o",     object, NULL};
  Str text = {0};
  int status = command_capture(argv, "CULPRIT_MUTATE=", &text);
  if (status)
    err_set(err,
            "%s: it does not compile without options; give its object "
            "file or program instead\n%s",
            o->file, str_text(&text));
  o->file = object; // kept to the end
  str_release(&text);
  free(compiler);
  return status ? -1 : 0;
}

static int work(Options *o, Err *err) {
  if (text_ends(o->file, ".c") && compile_source(o, err))
    return -1;
  ProgramCode p;
  if (program_code_read(&p, o->file, err))
    return -1;
  int rc = o->plant < 0 ? list_program(o, &p, err) : plant(o, &p, err);
  program_code_release(&p);
  return rc;
}

int cmd_mutants(int argc, char **argv) {
  Options o;
  Err err = {0};
  int status = parse_options(&o, argc, argv);
  if (status)
    return status;
  Area area;
  if (area_open_temporary(&area, &err))
    return cli_error(&err);
  area_watch(&area);
  o.scratch = area.dir;
  int rc = work(&o, &err);
  area_close(&area);
  array_release(&o.only);
  array_release(&o.exclude);
  return rc ? cli_error(&err) : EXIT_DONE;
}
