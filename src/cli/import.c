// culprit import: takes coverage and verdicts that other tools recorded, or
// another culprit store, into the store.
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "import/foreign.h"
#include "import/coverage_format.h"
#include "process/words.h"
#include "util/escape.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

enum { LISTED = 5 }; // names, then "and N more"

typedef struct {
  const ImportFormat *format;
  ARRAY(ImportArg) args;
  ARRAY(const char *) verdicts;
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

static void print_help(void) {
  puts("usage: culprit import FORMAT [NAME=]FILE... [options]\n"
       "\n"
       "Takes what other tools recorded into the store: which test executed\n"
       "which lines, and which tests failed. Then `culprit rank` ranks it.\n"
       "\n"
       "formats");
  size_t n;
  const ImportFormat *formats = import_formats(&n);
  for (size_t i = 0; i < n; i++)
    printf("  %-12s %s\n", formats[i].name, formats[i].help);
  puts("\n"
       "A file is what one test executed; its test is called NAME, or like\n"
       "the file. The same NAME again adds to that test. A directory stands\n"
       "for the files below it.\n"
       "\n"
       "  --verdicts FILE  which tests passed and failed; the format is\n"
       "                   recognised; a directory stands for the .trs, .xml\n"
       "                   and .tap files below it; may be repeated:");
  const VerdictFormat *verdicts = verdict_formats(&n);
  for (size_t i = 0; i < n; i++)
    printf("                     %s\n", verdicts[i].help);
  puts("  --root DIR       where relative source paths begin (default: here);\n"
       "                   may be repeated: the first that has the file\n"
       "  --map FROM=TO    source paths below FROM are below TO here\n"
       "  --add            add to the newest session\n"
       "  -q, --quiet      say nothing if all is well\n"
       "  --store DIR      where runs are kept (default: .culprit)\n"
       "\n"
       "Exit: 0 imported, 2 usage, 3 unreadable or malformed: then nothing is\n"
       "stored.");
}

// --- what was imported -----------------------------------------------------

// Names come from files: no control characters to the terminal.
static void print_names(const char *const *names, size_t n) {
  for (size_t i = 0; i < n && i < LISTED; i++) {
    fputs(i ? ", " : "", stdout);
    for (const char *p = names[i]; *p; p++)
      putchar((unsigned char)*p < 32 || *p == 127 ? '?' : *p);
  }
  if (n > LISTED)
    printf(" and %zu more", n - LISTED);
  putchar('\n');
}

static void print_runs(const Foreign *f) {
  static const char *const words[VERDICTS] = {
      [VERDICT_PASS] = "passed",    [VERDICT_FAIL] = "failed",
      [VERDICT_SKIP] = "skipped",   [VERDICT_FLAKY] = "flaky",
      [VERDICT_ERROR] = "in error",
  };
  size_t counts[VERDICTS] = {0};
  for (size_t i = 0; i < f->runs.len; i++)
    counts[f->runs.items[i].verdict]++;
  printf("imported %zu test%s: ", f->runs.len, plural(f->runs.len));
  for (int v = 0; v < VERDICTS; v++)
    if (counts[v] || v == VERDICT_PASS || v == VERDICT_FAIL)
      printf("%s%zu %s", v ? ", " : "", counts[v], words[v]);
  putchar('\n');
}

// Of all units together; what several units have in common counts once.
static void print_code(const Suite *suite) {
  size_t counts[ENTITY_KINDS] = {0};
  for (size_t i = 0; i < suite->nentities; i++)
    counts[suite->entities[i].kind]++;
  printf("  %zu line%s of %zu source file%s", counts[ENTITY_STATEMENT],
         plural(counts[ENTITY_STATEMENT]), suite->nsources,
         plural(suite->nsources));
  if (counts[ENTITY_FUNCTION])
    printf(", %zu function%s", counts[ENTITY_FUNCTION],
           plural(counts[ENTITY_FUNCTION]));
  if (counts[ENTITY_CONDITION])
    printf(", %zu condition outcome%s", counts[ENTITY_CONDITION],
           plural(counts[ENTITY_CONDITION]));
  putchar('\n');
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
    printf("  %zu source file%s not found (--root and --map tell where): ",
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

// What to type next: a ranking needs both failing and passing runs.
static void print_next(const Suite *suite, const Options *o) {
  bool failing = false, passing = false;
  for (size_t i = 0; i < suite->nruns; i++) {
    const RunInfo *run = &suite->runs[i];
    failing |= run->has_spectrum && run->verdict == VERDICT_FAIL;
    passing |= run->has_spectrum && run->verdict == VERDICT_PASS;
  }
  if (failing && passing)
    escape_printf(stdout, "Next: culprit rank%s%s\n",
                  o->store ? " --store " : "", o->store ? o->store : "");
  else if (!failing && !passing)
    puts("Nothing can be ranked: no test has both coverage and a verdict.\n"
         "Give the verdicts with --verdicts FILE.");
  else if (!failing)
    puts("Nothing can be ranked: no test that failed has coverage. Add one\n"
         "that shows the fault, with --add.");
  else
    puts("Nothing can be ranked: no test that passed has coverage to compare\n"
         "with. Add some, with --add.");
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
  print_code(&suite);
  print_missing(f);
  print_judgement(j);
  if (t->replaced)
    printf("  %zu replaced %s\n", t->replaced,
           t->replaced == 1 ? "an earlier run of the same test"
                            : "earlier runs of the same tests");
  escape_printf(stdout, "store: %s, session %lld%s\n", store_dir(store),
                (long long)t->session, o->add ? " (added)" : "");
  print_next(&suite, o);
  suite_release(&suite);
  return EXIT_DONE;
}

// --- importing -------------------------------------------------------------

static int store_foreign(const Options *o, const Foreign *f,
                         const Judgement *j) {
  Err err;
  Store *store;
  char *dir = store_find(o->store), *cwd = path_absolute(".", NULL);
  ForeignTarget t = {.command = o->command.data, .cwd = cwd, .add = o->add};
  int status;
  if (store_open(&store, dir, o->add ? STORE_EXISTING : STORE_CREATE, &err) ||
      foreign_store(f, store, &t, &err))
    status = cli_error(&err);
  else
    status = report(o, f, j, &t, store);
  store_close(store);
  free(cwd);
  free(dir);
  return status;
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

enum {
  OPT_VERDICTS = 256,
  OPT_ROOT,
  OPT_MAP,
  OPT_ADD,
  OPT_STORE,
};

static const struct option long_options[] = {
    {"verdicts", required_argument, NULL, OPT_VERDICTS},
    {"root", required_argument, NULL, OPT_ROOT},
    {"map", required_argument, NULL, OPT_MAP},
    {"add", no_argument, NULL, OPT_ADD},
    {"store", required_argument, NULL, OPT_STORE},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {0},
};

static const char *absolute(Options *o, const char *path) {
  char *full = path_absolute(path, NULL);
  const char *copy = arena_strdup(&o->arena, full);
  free(full);
  return copy;
}

static int take_map(Options *o, const char *text) {
  const char *equals = strchr(text, '=');
  if (!equals || equals == text || !equals[1])
    return -1;
  const char *from = arena_strndup(&o->arena, text, (size_t)(equals - text));
  array_push(&o->places.maps,
             (PathMap){absolute(o, from), absolute(o, equals + 1)});
  return 0;
}

static int take_option(Options *o, int opt, const char *arg) {
  // clang-format off
  switch (opt) {
  case OPT_VERDICTS: array_push(&o->verdicts, arg); return 0;
  case OPT_ROOT: array_push(&o->places.roots, absolute(o, arg)); return 0;
  case OPT_MAP: return take_map(o, arg);
  case OPT_ADD: o->add = true; return 0;
  case OPT_STORE: o->store = arg; return 0;
  default: o->quiet = true; return 0;
  }
  // clang-format on
}

// Returns -1, or an exit status.
static int parse_options(Options *o, int argc, char **argv) {
  optind = 0;
  for (int c; (c = cli_getopt(argc, argv, "qh", long_options, NULL)) != -1;) {
    if (c == '?')
      return cli_usage_hint("import");
    if (c == 'h') {
      print_help();
      return EXIT_DONE;
    }
    if (take_option(o, c, optarg))
      return cli_fail(EXIT_USAGE, "--map %s: should be FROM=TO", optarg);
  }
  return -1;
}

static int parse_arguments(Options *o, int argc, char **argv) {
  if (argc - optind < 2) {
    cli_fail(EXIT_USAGE, "import: a format and files are needed");
    return cli_usage_hint("import");
  }
  o->format = import_format_find(argv[optind]);
  if (!o->format) {
    cli_fail(EXIT_USAGE, "import: no format '%s'", argv[optind]);
    return cli_usage_hint("import");
  }
  for (int i = optind + 1; i < argc; i++)
    array_push(&o->args, import_arg(argv[i], &o->arena));
  if (o->verdicts.len && o->format->read_args == stores_read)
    return cli_fail(EXIT_USAGE,
                    "--verdicts: the runs of a store have their verdicts");
  return -1;
}

int cmd_import(int argc, char **argv) {
  Options o = {0};
  str_add(&o.command, "culprit ");
  words_quote_all(&o.command, argv); // getopt_long changes the order
  int status = parse_options(&o, argc, argv);
  if (status < 0)
    status = parse_arguments(&o, argc, argv);
  if (status < 0)
    status = import(&o);
  options_release(&o);
  return status;
}
