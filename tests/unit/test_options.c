// Unit tests of the option tables of commands (command/options.h).
#include "test.h"

#include <fcntl.h>
#include <unistd.h>

#include "command/cli.h"

typedef struct {
  bool quiet, color, rerun;
  const char *name, *format;
  Texts paths;
  double seconds;
  int jobs;
  size_t count, top, size;
  enum { NONE, SOME, ALL } mode;
} Options;

static const Option shared[] = {
    {"seconds", "SECONDS", &option_real, offsetof(Options, seconds), "time",
     .max = 100},
    {"count", "N", &option_count0, offsetof(Options, count), "number"},
    {0}};

static const Option table[] = {
    {.title = "First"},
    {.rows = option_quiet, .at = offsetof(Options, quiet)},
    {"no-rerun", NULL, &option_no, offsetof(Options, rerun), "once"},
    {"name", "NAME", &option_text, offsetof(Options, name), "name"},
    {"json", NULL, &option_name, offsetof(Options, format), "JSON"},
    {"path", "PATH", &option_list, offsetof(Options, paths), "path"},
    {.title = "Second"},
    {.rows = shared},
    {"jobs", "N", &option_int, offsetof(Options, jobs), "at once",
     .letter = 'j', .max = 8},
    {"top", "N|all", &option_top, offsetof(Options, top), "number"},
    {"size", "SIZE", &option_size, offsetof(Options, size), "bytes"},
    {"mode", "none|some|all", &option_choice, offsetof(Options, mode), "mode"},
    {0}};

static int nothing(int argc, char **argv) { return argc + !argv; }

static const Command command = {"try",
                                "try",
                                nothing,
                                .usage = "[options]",
                                .about = "Try.",
                                .options = table,
                                .end = "Exit status: 0 success."};

enum { WORDS = 8 };

// Parses the words up to NULL; standard output and error go to `said`.
static int parse(Options *o, int *first, char *said, size_t n, char **words) {
  char *argv[WORDS + 2] = {"try"};
  int argc = 1, ends[2], kept[] = {dup(1), dup(2)};
  for (; words[argc - 1]; argc++)
    argv[argc] = words[argc - 1];
  *o = (Options){.rerun = true};
  assert_int_equal(pipe(ends), 0);
  fflush(stdout);
  dup2(ends[1], 1);
  dup2(ends[1], 2);
  int status = options_parse(&command, argc, argv, o, first);
  fflush(stdout);
  dup2(kept[0], 1);
  dup2(kept[1], 2);
  close(kept[0]);
  close(kept[1]);
  close(ends[1]);
  ssize_t got = read(ends[0], said, n - 1);
  said[got < 0 ? 0 : got] = 0;
  close(ends[0]);
  return status;
}

#define PARSE(o, ...)                                                          \
  parse(o, &first, said, sizeof said, (char *[]){__VA_ARGS__, NULL})

static int first;
static char said[4096];

TEST(every_type_stores_its_value) {
  Options o;
  assert_int_equal(PARSE(&o, "-q", "--no-rerun", "--name=x", "--json", "rest"),
                   OPTIONS_TAKEN);
  assert_true(o.quiet && !o.rerun);
  assert_string_equal(o.name, "x");
  assert_string_equal(o.format, "json");
  assert_int_equal(first, 5);
  assert_int_equal(PARSE(&o, "-j3", "--size=2K", "--top", "all", "--mode=all"),
                   OPTIONS_TAKEN);
  assert_int_equal(o.jobs, 3);
  assert_int_equal(o.size, 2048);
  assert_true(o.top == SIZE_MAX);
  assert_int_equal(o.mode, ALL);
}

TEST(a_list_keeps_every_value) {
  Options o;
  assert_int_equal(PARSE(&o, "--path", "a", "--path=b"), OPTIONS_TAKEN);
  assert_int_equal(o.paths.len, 2);
  assert_string_equal(o.paths.items[1], "b");
  array_release(&o.paths);
}

TEST(rows_of_another_table_belong_to_the_command) {
  Options o;
  assert_int_equal(PARSE(&o, "--seconds", "2.5", "--count=0"), OPTIONS_TAKEN);
  assert_true(o.seconds > 2.4 && o.seconds < 2.6);
}

static void refuses(char *option, const char *message) {
  Options o;
  assert_int_equal(PARSE(&o, option), EXIT_USAGE);
  if (!strstr(said, message))
    fail_msg("%s is answered with %s", option, said);
  assert_non_null(strstr(said, "Try `culprit try --help`."));
}

TEST(a_wrong_value_is_answered_with_what_is_expected) {
  refuses("--seconds=0", "--seconds 0: expected a number above 0, at most 100");
  refuses("--seconds=101", "at most 100");
  refuses("--seconds=nan", "a number above 0");
  refuses("-j9", "-j 9: expected a whole number from 1, at most 8");
  refuses("--jobs=-1", "--jobs -1: expected a whole number from 1");
  refuses("--top=0", "expected a whole number from 1, or all");
  refuses("--size=1T", "expected a size in bytes");
  refuses("--mode=any", "--mode any: expected none, some or all");
}

TEST(a_wrong_option_is_named) {
  refuses("--mdoe=all", "unrecognized option '--mdoe'; did you mean --mode?");
  refuses("--xyzzy", "unrecognized option '--xyzzy'\n");
  refuses("--s", "option '--s' is ambiguous");
  refuses("--name", "option '--name' needs an argument");
  refuses("--json=1", "option '--json' takes no argument");
  refuses("-j", "option '-j' needs an argument");
  refuses("-x", "unrecognized option '-x'");
}

TEST(help_lists_every_option_under_its_title) {
  Options o;
  assert_int_equal(PARSE(&o, "--help"), EXIT_DONE);
  assert_non_null(strstr(said,
                         "usage: culprit try [options]\n\nTry.\n\nFirst:\n"
                         "  -q, --quiet        print the result only\n"));
  assert_non_null(strstr(said, "  --path PATH        path; may be repeated\n\n"
                               "Second:\n  --seconds SECONDS  time\n"));
  assert_non_null(strstr(said, "\n\nExit status: 0 success.\n"));
}

TEST(the_dump_has_the_words_of_an_argument) {
  const Command *list[] = {&command, NULL};
  char *text = NULL;
  size_t n;
  FILE *out = open_memstream(&text, &n);
  options_dump(list, out);
  fclose(out);
  assert_non_null(strstr(text, "try\t\t\t\t\t\t\ttry\n"));
  assert_non_null(strstr(text, "try\tSecond\tj\tjobs\tN\t\t\tat once\n"
                               "try\tSecond\t\ttop\tN|all\tall\t\tnumber\n"));
  assert_non_null(
      strstr(text, "\tmode\tnone|some|all\tnone some all\t\tmode\n"));
  assert_non_null(strstr(text, "\tpath\tPATH\t\trepeats\tpath\n"));
  free(text);
}
