// The options of a command as one table. It parses the command line, and
// --help, the option lists of the manual page and the completions are made from
// it.
//
//   static const Option options[] = {
//       {.title = "Which tests"},
//       {"exe", "PROG", &option_text, offsetof(Options, exe), "program to
//       test"},
//       {"jobs", "N", &option_int, offsetof(Options, jobs),
//        "tests at once (default: 1)", .letter = 'j', .max = 64},
//       {.rows = confine_options, .at = offsetof(Options, confine)},
//       {0}};
//
// `culprit --options` prints all tables: see options_dump.
#ifndef CULPRIT_COMMAND_OPTIONS_H
#define CULPRIT_COMMAND_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct Option Option;

// How an option's argument becomes a value.
typedef struct {
  // Stores what `arg` says at `field`. -1: `arg` is not what is expected.
  int (*take)(const Option *o, void *field, const char *arg);
  const char *expects; // "a number above 0"; NULL: one of the option's words
} OptionType;

extern const OptionType option_flag;   // bool: true
extern const OptionType option_no;     // bool: false
extern const OptionType option_text;   // const char *
extern const OptionType option_name;   // const char *: the option's own name
extern const OptionType option_list;   // Texts; may be repeated
extern const OptionType option_real;   // double above 0
extern const OptionType option_real0;  // double, 0 too
extern const OptionType option_int;    // int from 1
extern const OptionType option_number; // int64_t from 1
extern const OptionType option_count;  // size_t from 1
extern const OptionType option_count0; // size_t from 0
extern const OptionType option_top;    // size_t from 1; "all": SIZE_MAX
extern const OptionType option_size;   // size_t: bytes from 1; K, M, G
extern const OptionType option_choice; // an enum: the index of the word
extern const OptionType option_color;  // bool, of standard output

// The n-th word that an argument may be; NULL behind the last.
typedef const char *OptionWord(size_t n);

struct Option {
  const char *name;       // without "--"; NULL: it has a letter only
  const char *argument;   // a noun, "FILE"; or words, "auto|never". "[=X]": may
                          // be left out. NULL: none
  const OptionType *type; // NULL: the option prints --help
  size_t at;              // of the value, in the options of the command
  const char *help;       // a phrase: lower case, without a full stop
  char letter;            // of the short form, or 0
  bool repeats;           // may be given more than once (option_list: always)
  size_t max;             // of a number; 0: none
  OptionWord *word;       // what the argument may be; NULL: see `argument`
  // Instead of all that:
  const char *title; // heads the options behind it
  const Option
      *rows; // the options of another table; its `at` is added to theirs
};

extern const Option option_store[];  // --store, of const char *
extern const Option option_quiet[];  // -q, --quiet, of bool
extern const Option option_colors[]; // --color, of bool

// argv[0] is the command's name. Returns an exit status.
typedef int CommandMain(int argc, char **argv);

typedef struct {
  const char *name;
  const char *summary; // imperative; NULL: internal, not listed
  CommandMain *main;
  const char *usage; // what follows the name: "[options] FILE"
  const char *about; // paragraphs of --help before the options
  const Option *options;
  void (*print_more)(void); // of --help, before the options; or NULL
  const char *end;          // paragraphs behind them: the exit status
  bool runs_program;        // the first operand ends the options
} Command;

enum { OPTIONS_TAKEN = -1 };

// Takes the options of argv into `options`. *first: index of the first operand.
// Returns OPTIONS_TAKEN, or the exit status to end with: EXIT_DONE after
// --help, EXIT_USAGE after a message.
int options_parse(const Command *c, int argc, char **argv, void *options,
                  int *first);

// "culprit: message" and where to find help. EXIT_USAGE.
int options_wrong(const Command *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

// One line per command and option of the list, which ends with NULL, separated
// by tabs: command, title, letter, name, argument, its words, "repeats" or "",
// help.
void options_dump(const Command *const *commands, FILE *out);

#endif
