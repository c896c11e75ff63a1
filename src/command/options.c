// Options of commands, from their tables: see options.h.
#include "command/options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "command/cli.h"
#include "util/array.h"
#include "util/str.h"

enum {
  LONG = 256,  // getopt's value of the first row's long form
  COLUMN = 21, // of help texts
  WIDTH = 79,
};

// --- types ------------------------------------------------------------------

static int take_flag(const Option *o, void *field, const char *arg) {
  (void)arg;
  *(bool *)field = o->type == &option_flag;
  return 0;
}

static int take_text(const Option *o, void *field, const char *arg) {
  *(const char **)field = o->type == &option_name ? o->name : arg;
  return 0;
}

static int take_list(const Option *o, void *field, const char *arg) {
  (void)o;
  array_push((Texts *)field, arg);
  return 0;
}

static int take_real(const Option *o, void *field, const char *arg) {
  char *end;
  double x = strtod(arg, &end);
  if (end == arg || *end || !isfinite(x) || x <= 0 ||
      (o->max && x > (double)o->max))
    return -1;
  *(double *)field = x;
  return 0;
}

static int take_real0(const Option *o, void *field, const char *arg) {
  if (strcmp(arg, "0") != 0)
    return take_real(o, field, arg);
  *(double *)field = 0;
  return 0;
}

static int read_number(const Option *o, const char *arg, long long *out) {
  char *end;
  errno = 0;
  *out = strtoll(arg, &end, 10);
  return !isdigit((unsigned char)*arg) || *end || errno || *out < 1 ||
                 (o->max && (unsigned long long)*out > o->max)
             ? -1
             : 0;
}

static int take_int(const Option *o, void *field, const char *arg) {
  long long n;
  if (read_number(o, arg, &n) || n > INT32_MAX)
    return -1;
  *(int *)field = (int)n;
  return 0;
}

static int take_number(const Option *o, void *field, const char *arg) {
  long long n;
  if (read_number(o, arg, &n))
    return -1;
  *(int64_t *)field = n;
  return 0;
}

static int take_count(const Option *o, void *field, const char *arg) {
  long long n = 0;
  bool zero = o->type == &option_count0 && !strcmp(arg, "0");
  if (!zero && read_number(o, arg, &n))
    return -1;
  *(size_t *)field = (size_t)n;
  return 0;
}

static int take_top(const Option *o, void *field, const char *arg) {
  *(size_t *)field = SIZE_MAX;
  return strcmp(arg, "all") ? take_count(o, field, arg) : 0;
}

static int take_size(const Option *o, void *field, const char *arg) {
  static const char units[] = "KMG";
  size_t max = o->max ? o->max : SIZE_MAX;
  char *end;
  errno = 0;
  unsigned long long n = strtoull(arg, &end, 10);
  if (!isdigit((unsigned char)*arg) || errno || n < 1)
    return -1;
  const char *unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
  unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
  if (end[unit != NULL] || n > max >> shift)
    return -1;
  *(size_t *)field = (size_t)n << shift;
  return 0;
}

// The n-th word of "a|b|NOUN"; its length, or 0 behind the last.
static size_t argument_word(const Option *o, size_t n, const char **out) {
  const char *p = o->argument;
  if (o->word)
    return (*out = o->word(n)) ? strlen(*out) : 0;
  if (!p || !strchr(p, '|'))
    return 0;
  for (; n && *p; n--) {
    p += strcspn(p, "|");
    p += *p == '|';
  }
  *out = p;
  return strcspn(p, "|");
}

static int take_choice(const Option *o, void *field, const char *arg) {
  const char *word;
  size_t length;
  for (size_t n = 0; (length = argument_word(o, n, &word)); n++)
    if (strlen(arg) == length && !memcmp(arg, word, length)) {
      *(int *)field = (int)n;
      return 0;
    }
  return -1;
}

static int take_color(const Option *o, void *field, const char *arg) {
  enum { AUTO, ALWAYS, NEVER } when;
  if (take_choice(o, &when, arg))
    return -1;
  *(bool *)field = when == ALWAYS || (when == AUTO && cli_color());
  return 0;
}

const OptionType option_flag = {take_flag, NULL};
const OptionType option_no = {take_flag, NULL};
const OptionType option_text = {take_text, NULL};
const OptionType option_name = {take_text, NULL};
const OptionType option_list = {take_list, NULL};
const OptionType option_real = {take_real, "a number above 0"};
const OptionType option_real0 = {take_real0, "a number from 0"};
const OptionType option_int = {take_int, "a whole number from 1"};
const OptionType option_number = {take_number, "a whole number from 1"};
const OptionType option_count = {take_count, "a whole number from 1"};
const OptionType option_count0 = {take_count, "a whole number from 0"};
const OptionType option_top = {take_top, "a whole number from 1, or all"};
const OptionType option_size = {take_size, "a size in bytes, as 4096 or 16M"};
const OptionType option_choice = {take_choice, NULL};
const OptionType option_color = {take_color, NULL};

const Option option_store[] = {
    {"store", "DIR", &option_text, 0,
     "store of the sessions: a directory, or postgresql://... or "
     "service=NAME (default: CULPRIT_STORE, else .culprit)"},
    {0}};

const Option option_quiet[] = {
    {"quiet", NULL, &option_flag, 0, "print the result only", .letter = 'q'},
    {0}};

const Option option_colors[] = {
    {"color", "auto|always|never", &option_color, 0,
     "when to print colours (default: auto, on a terminal)"},
    {0}};

// --- tables -----------------------------------------------------------------

static const Option option_help[] = {
    {"help", NULL, NULL, 0, "print this help", .letter = 'h'}, {0}};

// A row with the place of its value.
typedef struct {
  const Option *row;
  size_t at;
} PlacedOption;

typedef ARRAY(PlacedOption) OptionRows;

static void add_rows(OptionRows *out, const Option *rows, size_t at) {
  for (const Option *o = rows; o && (o->help || o->title || o->rows); o++)
    if (o->rows)
      add_rows(out, o->rows, at + o->at);
    else
      array_push(out, (PlacedOption){o, at + o->at});
}

static OptionRows rows_of(const Command *c) {
  OptionRows rows = {0};
  add_rows(&rows, c->options, 0);
  add_rows(&rows, option_help, 0);
  return rows;
}

static bool repeats(const Option *o) {
  return o->repeats || o->type == &option_list;
}

// --- help -------------------------------------------------------------------

// Prints the text from `column` on, where it begins.
static void print_wrapped(const char *text, int column) {
  int at = column;
  while (*text) {
    int n = (int)strcspn(text, " \n");
    if (at > column && at + 1 + n > WIDTH)
      at = printf("\n%*s", column, "") - 1;
    else if (at > column)
      at += printf(" ");
    at += printf("%.*s", n, text);
    text += n;
    if (*text == '\n') {
      printf("\n%*s", column, "");
      at = column;
    }
    text += *text != 0;
  }
  putchar('\n');
}

static void print_option(const Option *o) {
  Str text = {0};
  if (o->letter)
    str_addf(&text, "-%c%s", o->letter, o->name ? ", " : "");
  if (o->name)
    str_addf(&text, "--%s", o->name);
  if (o->argument)
    str_addf(&text, "%s%s", *o->argument == '[' ? "" : " ", o->argument);
  int n = printf("  %s", str_text(&text));
  if (n > COLUMN - 2)
    n = printf("\n") - 1;
  printf("%*s", COLUMN - n, "");
  str_clear(&text);
  str_addf(&text, "%s%s", o->help, repeats(o) ? "; may be repeated" : "");
  print_wrapped(str_text(&text), COLUMN);
  str_release(&text);
}

static void print_title(const char *title) {
  char *text = mem_printf("\n%s:", title);
  print_wrapped(text, 0);
  free(text);
}

static void print_help(const Command *c) {
  OptionRows rows = rows_of(c);
  printf("usage: culprit %s %s\n\n", c->name, c->usage);
  print_wrapped(c->about, 0);
  if (c->print_more)
    c->print_more();
  if (!rows.items[0].row->title)
    putchar('\n');
  for (size_t i = 0; i < rows.len; i++)
    if (rows.items[i].row->title)
      print_title(rows.items[i].row->title);
    else
      print_option(rows.items[i].row);
  putchar('\n');
  print_wrapped(c->end, 0);
  array_release(&rows);
}

static void dump_words(const Option *o, FILE *out) {
  const char *word, *gap = "";
  size_t length;
  for (size_t n = 0; (length = argument_word(o, n, &word)); n++)
    if (!isupper((unsigned char)*word)) {
      fprintf(out, "%s%.*s", gap, (int)length, word);
      gap = " ";
    }
}

static void dump_command(const Command *c, FILE *out) {
  OptionRows rows = rows_of(c);
  const char *title = "";
  fprintf(out, "%s\t\t\t\t\t\t\t%s\n", c->name, c->summary);
  for (size_t i = 0; c->options && i < rows.len; i++) {
    const Option *o = rows.items[i].row;
    if (o->title) {
      title = o->title;
      continue;
    }
    fprintf(out, "%s\t%s\t%.1s\t%s\t%s\t", c->name, title,
            o->letter ? &o->letter : "", o->name ? o->name : "",
            o->argument ? o->argument : "");
    dump_words(o, out);
    fprintf(out, "\t%s\t%s\n", repeats(o) ? "repeats" : "", o->help);
  }
  array_release(&rows);
}

void options_dump(const Command *const *commands, FILE *out) {
  for (; *commands; commands++)
    if ((*commands)->summary)
      dump_command(*commands, out);
}

// --- parsing ----------------------------------------------------------------

static int hint(const Command *c) {
  fprintf(stderr, "Try `culprit %s --help`.\n", c->name);
  return EXIT_USAGE;
}

int options_wrong(const Command *c, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  cli_vfail(fmt, ap);
  va_end(ap);
  return hint(c);
}

// How many of the options begin with the n letters; one that is exactly that
// counts alone. *out: the last of them.
static size_t match_options(const struct option *longs, const char *name,
                            size_t n, const struct option **out) {
  size_t found = 0;
  *out = NULL;
  for (const struct option *o = longs; o->name; o++) {
    if (strncmp(o->name, name, n) != 0)
      continue;
    *out = o;
    if (strlen(o->name) == n)
      return 1;
    found++;
  }
  return found;
}

// `name` has n letters and is the name of no option.
static void explain_unknown(const char *name, int n,
                            const struct option *longs) {
  char *word = mem_printf("%.*s", n, name);
  while (longs->name && !text_is_slip(word, longs->name))
    longs++;
  cli_fail(EXIT_USAGE, "unrecognized option '--%s'%s%s%s", word,
           longs->name ? "; did you mean --" : "",
           longs->name ? longs->name : "", longs->name ? "?" : "");
  free(word);
}

static void explain_long(const char *word, const struct option *longs) {
  const struct option *option;
  int n = (int)strcspn(word + 2, "=");
  size_t found = match_options(longs, word + 2, (size_t)n, &option);
  if (!found)
    explain_unknown(word + 2, n, longs);
  else if (found > 1)
    cli_fail(EXIT_USAGE, "option '--%.*s' is ambiguous", n, word + 2);
  else
    cli_fail(EXIT_USAGE, "option '--%s' %s argument", option->name,
             option->has_arg ? "needs an" : "takes no");
}

// `word` is what getopt_long did not take.
static void explain(const char *word, const char *shorts,
                    const struct option *longs) {
  if (text_starts(word, "--"))
    explain_long(word, longs);
  else if (strchr(shorts, optopt))
    cli_fail(EXIT_USAGE, "option '-%c' needs an argument", optopt);
  else
    cli_fail(EXIT_USAGE, "unrecognized option '-%c'", optopt);
}

// "both, fewer or none"
static void add_expected(const Option *o, Str *out) {
  const char *word, *next;
  size_t length;
  if (o->type->expects)
    str_add(out, o->type->expects);
  else
    for (size_t n = 0; (length = argument_word(o, n, &word)); n++)
      str_addf(out, "%s%.*s",
               !n                                   ? ""
               : argument_word(o, n + 1, &next) > 0 ? ", "
                                                    : " or ",
               (int)length, word);
  if (o->max)
    str_addf(out, ", at most %zu", o->max);
}

static int take_option(const Command *c, const PlacedOption *p, bool by_letter,
                       void *options) {
  const Option *o = p->row;
  if (!o->type) {
    print_help(c);
    return EXIT_DONE;
  }
  if (!o->type->take(o, (char *)options + p->at, optarg))
    return OPTIONS_TAKEN;
  Str expected = {0};
  add_expected(o, &expected);
  if (by_letter)
    cli_fail(EXIT_USAGE, "-%c %s: expected %s", o->letter, optarg,
             str_text(&expected));
  else
    cli_fail(EXIT_USAGE, "--%s %s: expected %s", o->name, optarg,
             str_text(&expected));
  str_release(&expected);
  return hint(c);
}

typedef struct {
  OptionRows rows;
  ARRAY(struct option) longs;
  Str shorts;
} Parser;

static void parser_init(Parser *p, const Command *c) {
  *p = (Parser){.rows = rows_of(c)};
  str_add(&p->shorts, c->runs_program ? "+" : "");
  for (size_t i = 0; i < p->rows.len; i++) {
    const Option *o = p->rows.items[i].row;
    int has = !o->argument          ? no_argument
              : *o->argument == '[' ? optional_argument
                                    : required_argument;
    if (o->letter)
      str_addf(&p->shorts, "%c%s", o->letter, has == no_argument ? "" : ":");
    if (o->name)
      array_push(&p->longs, (struct option){o->name, has, NULL, LONG + (int)i});
  }
  array_push(&p->longs, (struct option){0});
}

static const PlacedOption *find_row(const Parser *p, int opt) {
  size_t i = opt >= LONG ? (size_t)(opt - LONG) : 0;
  while (opt < LONG && p->rows.items[i].row->letter != opt)
    i++;
  return &p->rows.items[i];
}

int options_parse(const Command *c, int argc, char **argv, void *options,
                  int *first) {
  Parser p;
  int opt, status = OPTIONS_TAKEN;
  parser_init(&p, c);
  const char *shorts = str_text(&p.shorts);
  optind = 0;
  opterr = 0; // getopt would print what it was given as it is
  while (status == OPTIONS_TAKEN &&
         (opt = getopt_long(argc, argv, shorts, p.longs.items, NULL)) != -1) {
    if (opt != '?') {
      status = take_option(c, find_row(&p, opt), opt < LONG, options);
      continue;
    }
    explain(argv[optind - 1], shorts, p.longs.items);
    status = hint(c);
  }
  *first = optind;
  array_release(&p.rows);
  array_release(&p.longs);
  str_release(&p.shorts);
  return status;
}
