// culprit import: stores coverage and verdicts that other tools, or another
// culprit store, recorded.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/imported.h"
#include "cli/store_merge.h"
#include "command/cli.h"
#include "import/coverage_format.h"
#include "import/foreign.h"
#include "process/words.h"
#include "util/escape.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

enum { LISTED = 5 }; // names, then "and N more"

typedef struct {
  const ImportFormat *format;
  ARRAY(ImportArg) args;
  Texts verdicts;
  Places places;
  const char *store;
  bool add, quiet;
  Str command; // as it was typed
  Arena arena;
} Options;

static void options_release(Options *o) {
  array_release(&o->args);
  array_release(&o->verdicts);
  places_release(&o->places);
  str_release(&o->command);
  arena_release(&o->arena);
}

static void print_formats(void) {
  size_t n;
  const ImportFormat *formats = import_formats(&n);
  puts("\nFormats:");
  for (size_t i = 0; i < n; i++)
    printf("  %-12s %s\n", formats[i].name, formats[i].help);
  const VerdictFormat *verdicts = verdict_formats(&n);
  puts("\nVerdicts, recognised by their content:");
  for (size_t i = 0; i < n; i++)
    printf("  %s\n", verdicts[i].help);
}

// --- what was imported -----------------------------------------------------

static void print_names(const char *const *names, size_t n) {
  for (size_t i = 0; i < n && i < LISTED; i++)
    escape_printf(stdout, "%s%s", i ? ", " : "", names[i]);
  if (n > LISTED)
    printf(" and %zu more", n - LISTED);
  putchar('\n');
}

static void print_runs(const Foreign *f) {
  size_t counts[VERDICTS] = {0};
  for (size_t i = 0; i < f->runs.len; i++)
    counts[f->runs.items[i].verdict]++;
  printf("imported %zu test%s: ", f->runs.len, plural(f->runs.len));
  imported_print_verdicts(counts);
}

static void print_missing(const Foreign *f) {
  ARRAY(const char *) missing = {0};
  for (size_t i = 0; i < f->units.len; i++) {
    const Unit *unit = &f->units.items[i].unit;
    if (!f->units.items[i].origin && unit->nsources == 1 &&
        !unit->sources->hash)
      array_push(&missing, unit->sources->path);
  }
  if (missing.len) {
    printf("  %zu source file%s not found (--root and --map say where): ",
           missing.len, plural(missing.len));
    print_names(missing.items, missing.len);
  }
  array_release(&missing);
}

static void print_judgement(const Judgement *j) {
  if (j->unjudged.len) {
    printf("  %zu without a verdict, left out of rankings: ", j->unjudged.len);
    print_names(j->unjudged.items, j->unjudged.len);
  }
  if (j->ambiguous.len) {
    printf("  %zu with several verdicts that fit, left out of rankings: ",
           j->ambiguous.len);
    print_names(j->ambiguous.items, j->ambiguous.len);
  }
  if (j->uncovered.len) {
    printf("  %zu with a verdict but no coverage, kept without: ",
           j->uncovered.len);
    print_names(j->uncovered.items, j->uncovered.len);
  }
}

static int report(const Options *o, const Foreign *f, const Judgement *j,
                  const ForeignTarget *t, Store *store) {
  if (o->quiet)
    return EXIT_DONE;
  Suite suite;
  Err err;
  if (store_load(store, t->session, &suite, &err))
    return cli_error(&err);
  print_runs(f);
  imported_print_code(&suite);
  print_missing(f);
  print_judgement(j);
  imported_print_end(&suite, store, o->store, o->add, t->replaced);
  suite_release(&suite);
  return EXIT_DONE;
}

// --- importing -------------------------------------------------------------

static int store_foreign(const Options *o, const Foreign *f,
                         const Judgement *j) {
  Err err;
  Store *store;
  char *cwd = path_absolute(".", NULL);
  ForeignTarget t = {.command = o->command.data, .cwd = cwd, .add = o->add};
  int status =
      cli_open_store(&store, o->store, o->add ? STORE_EXISTING : STORE_CREATE);
  if (status == EXIT_DONE)
    status = foreign_store(f, store, &t, &err) ? cli_error(&err)
                                               : report(o, f, j, &t, store);
  store_close(store);
  free(cwd);
  return status;
}

static bool takes_stores(const Options *o) {
  return !o->format->read_file && !o->format->read_args;
}

static int merge(const Options *o) {
  MergeRequest r = {.inputs = {o->args.items, o->args.len},
                    .places = &o->places,
                    .store = o->store,
                    .command = o->command.data,
                    .add = o->add,
                    .quiet = o->quiet};
  return store_merge(&r);
}

// Everything is read before the store is touched.
static int import(const Options *o) {
  Err err;
  Foreign f = {0};
  Judgement j = {0};
  ImportArgs args = {o->args.items, o->args.len};
  int rc = import_read(o->format, &args, &o->places, &f, &err);
  if (!rc && o->verdicts.len) { // they win over those of a report
    verdicts_release(&f.verdicts);
    f.verdicts = (Verdicts){0};
  }
  for (size_t i = 0; !rc && i < o->verdicts.len; i++)
    rc = verdicts_read(&f.verdicts, o->verdicts.items[i], &err);
  int status = EXIT_ENVIRONMENT;
  if (rc) {
    cli_error(&err);
  } else {
    foreign_judge(&f, &j);
    status = store_foreign(o, &f, &j);
  }
  judgement_release(&j);
  foreign_release(&f);
  return status;
}

// --- command line ----------------------------------------------------------

static int take_root(const Option *o, void *field, const char *arg) {
  (void)o;
  Options *options = field;
  array_push(&options->places.roots, cli_absolute(&options->arena, arg));
  return 0;
}

static int take_map(const Option *o, void *field, const char *arg) {
  (void)o;
  Options *options = field;
  return places_add_map(&options->places, arg, &options->arena);
}

static const OptionType option_root = {take_root, NULL};
static const OptionType option_map = {take_map, "FROM=TO"};

static const Option options[] = {
    {"verdicts", "FILE", &option_list, offsetof(Options, verdicts),
     "which tests passed and failed; a directory stands for the .trs, .xml and "
     ".tap files below it"},
    {"root", "DIR", &option_root, 0,
     "directory of relative source paths (default: the current one); the first "
     "that has the file counts",
     .repeats = true},
    {"map", "FROM=TO", &option_map, 0, "look for sources below FROM below TO",
     .repeats = true},
    {"add", NULL, &option_flag, offsetof(Options, add),
     "add to the newest session instead of starting a new one"},
    {"quiet", NULL, &option_flag, offsetof(Options, quiet),
     "print nothing on success", .letter = 'q'},
    {.rows = option_store, .at = offsetof(Options, store)},
    {0}};

// OPTIONS_TAKEN, or EXIT_USAGE after a message.
static int take_operands(Options *o, int n, char **operands) {
  if (n < 2)
    return options_wrong(&cmd_import, "name a format and files");
  o->format = import_format_find(operands[0]);
  if (!o->format)
    return options_wrong(&cmd_import, "no format '%s'", operands[0]);
  for (int i = 1; i < n; i++)
    array_push(&o->args, import_arg(operands[i], &o->arena));
  if (o->verdicts.len && takes_stores(o))
    return cli_fail(EXIT_USAGE,
                    "--verdicts: the runs of a store have their verdicts");
  return OPTIONS_TAKEN;
}

static int import_main(int argc, char **argv) {
  Options o = {0};
  int first;
  str_add(&o.command, "culprit ");
  words_quote_all(&o.command, argv); // getopt_long changes the order
  int status = options_parse(&cmd_import, argc, argv, &o, &first);
  if (status == OPTIONS_TAKEN)
    status = take_operands(&o, argc - first, argv + first);
  if (status == OPTIONS_TAKEN)
    status = takes_stores(&o) ? merge(&o) : import(&o);
  options_release(&o);
  return status;
}

const Command cmd_import = {
    "import",
    "import coverage and verdicts of other tools",
    import_main,
    .usage = "FORMAT [NAME=]FILE... [options]",
    .about = "Store what other tools recorded: which test executed which "
             "lines, and which tests failed. `culprit rank` ranks it.\n\n"
             "A file is what one test executed; the test is called NAME, or "
             "like the file. The same NAME again adds to that test. A "
             "directory stands for the files below it.",
    .print_more = print_formats,
    .options = options,
    .end = "Exit status: 0 imported, 2 usage, 3 unreadable or malformed: "
           "nothing is stored."};
