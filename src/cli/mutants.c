// culprit mutants: the faults that can be planted in a program, and planting
// one. The program carries its own code (program/program_code.h): only the unit
// of the fault is compiled again, and the program is linked again.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/rank.h"
#include "command/cli.h"
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
  long plant;       // -1: list
  RankOptions rank; // only, exclude
  const char *scratch;
} Options;

static int take_plant(const Option *o, void *field, const char *arg) {
  (void)o;
  char *end;
  *(long *)field = strtol(arg, &end, 10);
  return end == arg || *end || *(long *)field < 0 ? -1 : 0;
}

static const OptionType option_plant = {take_plant, "a whole number from 0"};

static const Option options[] = {
    {"plant", "N", &option_plant, offsetof(Options, plant),
     "plant fault N; needs -o OUT"},
    {NULL, "OUT", &option_text, offsetof(Options, output),
     "write the program with the fault to OUT", .letter = 'o'},
    {"kind", "KIND", &option_text, offsetof(Options, kind),
     "list only this kind: operator, comparison, negate, constant, "
     "wrong-branch, delete-store, delete-call or swap-arguments"},
    {.rows = rank_files_options, .at = offsetof(Options, rank)},
    {0}};

// OPTIONS_TAKEN, or the status to end with.
static int parse_options(Options *o, int argc, char **argv) {
  int first;
  int status = options_parse(&cmd_mutants, argc, argv, o, &first);
  if (status != OPTIONS_TAKEN)
    return status;
  if (first + 1 != argc)
    return options_wrong(&cmd_mutants, "name one program, object or C file");
  o->file = argv[first];
  if ((o->plant >= 0) != (o->output != NULL))
    return options_wrong(&cmd_mutants, "--plant N needs -o OUT, and -o OUT "
                                       "needs --plant N");
  return OPTIONS_TAKEN;
}

// --- one unit --------------------------------------------------------------

static size_t count_lines(const Str *text) {
  size_t n = 0;
  for (size_t i = 0; i < text->len; i++)
    n += text->data[i] == '\n';
  return n;
}

// One unit of the program: where its bitcode was unpacked, and its mutants, one
// per line.
typedef struct {
  const UnitCode *code;
  char *bitcode;
  Str mutants;
} MutantUnit;

static void unit_close(MutantUnit *u) {
  str_release(&u->mutants);
  free(u->bitcode);
}

static int unit_open(MutantUnit *u, const Options *o, const ProgramCode *p,
                     size_t i, Err *err) {
  *u = (MutantUnit){&p->units.items[i],
                    .bitcode =
                        mem_printf("%s/%zu" BITCODE_SUFFIX, o->scratch, i)};
  return program_code_unpack(u->code, u->bitcode, err) ||
                 program_code_ask(u->code, u->bitcode, "mutants", &u->mutants,
                                  err)
             ? -1
             : 0;
}

// --- listing ---------------------------------------------------------------

// A line of an answer: number, file, line, column, kind, text.
static void print_mutant(const Options *o, char *line, size_t first) {
  char *field[6];
  for (int i = 0; i < 6; i++)
    field[i] = strsep(&line, "\t");
  if (!field[5] || (o->kind && strcmp(o->kind, field[4])))
    return;
  char *cwd = path_absolute(".", NULL);
  const char *shown = path_below(field[1], cwd);
  PathFilter filter = rank_filter(&o->rank);
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
  int rc = 0;
  for (size_t i = 0; !rc && i < p->units.len; i++) {
    MutantUnit u;
    rc = unit_open(&u, o, p, i, err);
    size_t n = count_lines(&u.mutants);
    if (!rc)
      print_mutants(o, &u.mutants, first);
    first += n;
    unit_close(&u);
  }
  return rc;
}

// --- planting --------------------------------------------------------------

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
    MutantUnit u;
    int rc = unit_open(&u, o, p, i, err);
    long n = (long)count_lines(&u.mutants);
    bool here = !rc && o->plant < first + n;
    if (here)
      rc = plant_in(o, p, i, u.bitcode, o->plant - first, err);
    unit_close(&u);
    if (rc || here)
      return rc;
    first += n;
  }
  return err_set(err, "%s has no mutant %ld: they are 0 to %ld", o->file,
                 o->plant, first - 1);
}

// --- main ------------------------------------------------------------------

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

static int run_in_area(Options *o) {
  Err err = {0};
  Area area;
  if (area_open_temporary(&area, &err))
    return cli_error(&err);
  area_watch(&area);
  o->scratch = area.dir;
  int rc = work(o, &err);
  area_close(&area);
  return rc ? cli_error(&err) : EXIT_DONE;
}

static int mutants_main(int argc, char **argv) {
  Options o = {.plant = -1};
  int status = parse_options(&o, argc, argv);
  if (status == OPTIONS_TAKEN)
    status = run_in_area(&o);
  rank_options_release(&o.rank);
  return status;
}

const Command cmd_mutants = {
    "mutants",
    "list or plant faults in a program",
    mutants_main,
    .usage = "[options] PROG|OBJECT|FILE.c",
    .about = "List the faults that can be planted in a program built by "
             "culprit-cc: number, place, kind, change. For a C file, N is what "
             "CULPRIT_MUTATE=N makes culprit-cc plant.",
    .options = options,
    .end = "Exit status: 0 success, 2 usage, 3 the program carries no code or "
           "cannot be built again."};
