// replace: rewrites the parts of every input line that match a pattern.
//
//   replace [-1cinp] [-k N] PATTERN [REPLACEMENT] < input
//
//   -1    only the first match of every line      -k N  only the Nth match
//   -c    print the number of replacements only   -i    ignore case
//   -n    number the lines that are printed       -p    print changed lines
//   only
//
// Without REPLACEMENT it lists the matches as LINE:COLUMN:TEXT.
// Status: 0 if anything matched, 1 if nothing did, 2 on a usage error, 3 if
// the pattern or the replacement is malformed.
//
// Patterns:
//   c  \c        that character; \t is a tab, \s \w \d a class, \S \W \D not
//   .            any character
//   [a-z] [^a-z] a character in the set, or not in it
//   ^  $  \b     line start (only first), line end (only last), word edge
//   x* x+ x?     repetition, as long as possible; also x{3} x{3,} x{3,5}
//   p|q          p, or else q
//
// Replacements: & is the matched text, \# its number in the input, \n and \t
// are control characters, \U and \L change case until \E.

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum { MATCHED, NOT_MATCHED, BAD_USAGE, MALFORMED } Status;

enum { UNLIMITED = INT_MAX, MAX_REPEAT = 255 };

static void *grow(void *block, size_t size) {
  void *bigger = realloc(block, size);
  if (!bigger) {
    fputs("replace: out of memory\n", stderr);
    exit(BAD_USAGE);
  }
  return bigger;
}

// --- Text: a string that grows ---

typedef struct {
  char *data;
  size_t length, capacity;
} Text;

static void text_add(Text *text, char c) {
  if (text->length == text->capacity) {
    text->capacity = text->capacity ? 2 * text->capacity : 16;
    text->data = grow(text->data, text->capacity);
  }
  text->data[text->length++] = c;
}

static void text_add_range(Text *text, const Text *from, size_t start,
                           size_t end) {
  for (size_t i = start; i < end; i++)
    text_add(text, from->data[i]);
}

// Reads a line without its newline; false at the end of the input. *newline
// says whether there was one: the last line may lack it.
static bool text_read_line(Text *text, bool *newline) {
  text->length = 0;
  *newline = false;
  int c;
  while ((c = getchar()) != EOF) {
    if (c == '\n') {
      *newline = true;
      return true;
    }
    text_add(text, (char)c);
  }
  return text->length > 0;
}

// --- Pattern: alternatives, each a sequence of repeated nodes ---

typedef enum {
  NODE_CHAR,
  NODE_ANY,
  NODE_SET,
  NODE_LINE_START,
  NODE_LINE_END,
  NODE_WORD_EDGE
} NodeKind;

typedef struct {
  bool has[UCHAR_MAX + 1];
} Set;

typedef struct {
  NodeKind kind;
  unsigned char ch; // NODE_CHAR
  Set *set;         // NODE_SET, owned
  int min, max;
} Node;

typedef struct {
  Node *nodes;
  int count, capacity;
} Sequence;

typedef struct {
  Sequence *choices;
  int count;
  bool fold; // ignore case
} Pattern;

static Sequence *pattern_add_choice(Pattern *pattern) {
  size_t size = (size_t)(pattern->count + 1) * sizeof *pattern->choices;
  pattern->choices = grow(pattern->choices, size);
  Sequence *choice = &pattern->choices[pattern->count++];
  *choice = (Sequence){0};
  return choice;
}

static Node *sequence_add(Sequence *seq, NodeKind kind) {
  if (seq->count == seq->capacity) {
    seq->capacity += 8;
    seq->nodes = grow(seq->nodes, (size_t)seq->capacity * sizeof *seq->nodes);
  }
  Node *node = &seq->nodes[seq->count++];
  *node = (Node){.kind = kind, .min = 1, .max = 1};
  return node;
}

static void pattern_release(Pattern *pattern) {
  for (int i = 0; i < pattern->count; i++) {
    Sequence *choice = &pattern->choices[i];
    for (int j = 0; j < choice->count; j++)
      free(choice->nodes[j].set);
    free(choice->nodes);
  }
  free(pattern->choices);
}

static Set *set_new(void) {
  Set *set = grow(NULL, sizeof *set);
  memset(set, 0, sizeof *set);
  return set;
}

// Lets both cases of every letter in, if one is.
static void set_fold(Set *set) {
  for (int c = 'a'; c <= 'z'; c++) {
    bool either = set->has[c] || set->has[toupper(c)];
    set->has[c] = either;
    set->has[toupper(c)] = either;
  }
}

static bool is_word(int c) { return isalnum(c) || c == '_'; }

// Adds the class \d, \w or \s (upper case: its complement) to `set`; false if
// there is no class of that letter.
static bool set_add_class(Set *set, char letter) {
  int name = tolower((unsigned char)letter);
  bool wanted = name == letter;
  if (name != 'd' && name != 'w' && name != 's')
    return false;
  for (int c = 0; c <= UCHAR_MAX; c++) {
    bool in = name == 'd' ? isdigit(c) : name == 'w' ? is_word(c) : isspace(c);
    if (in == wanted)
      set->has[c] = true;
  }
  return true;
}

// The character that `\letter` stands for, where it is no class.
static char escaped(char letter) {
  return letter == 't' ? '\t' : letter == 'n' ? '\n' : letter;
}

// --- Parser of patterns: one cursor over the source ---

typedef struct {
  const char *at;
  Pattern *pattern;
  Sequence *seq; // the alternative under construction
  const char *error;
} Parser;

static bool fail(Parser *parser, const char *message) {
  parser->error = message;
  return false;
}

// One character of a set, with escapes; the cursor moves past it.
static unsigned char parse_set_char(Parser *parser) {
  char c = *parser->at++;
  if (c == '\\' && *parser->at)
    c = escaped(*parser->at++);
  return (unsigned char)c;
}

// A set; the cursor is behind `[`. A `]` in first place is an ordinary member.
static bool parse_set(Parser *parser) {
  Node *node = sequence_add(parser->seq, NODE_SET);
  Set *set = node->set = set_new();
  bool invert = *parser->at == '^';
  if (invert)
    parser->at++;
  bool first = true;
  while (*parser->at && (*parser->at != ']' || first)) {
    first = false;
    if (*parser->at == '\\' && set_add_class(set, parser->at[1])) {
      parser->at += 2;
      continue;
    }
    unsigned char low = parse_set_char(parser), high = low;
    if (parser->at[0] == '-' && parser->at[1] && parser->at[1] != ']') {
      parser->at++;
      high = parse_set_char(parser);
    }
    if (low > high)
      return fail(parser, "the range in the set is empty");
    for (int c = low; c <= high; c++)
      set->has[c] = true;
  }
  if (*parser->at != ']')
    return fail(parser, "the set has no ]");
  parser->at++;
  if (parser->pattern->fold)
    set_fold(set);
  if (invert)
    for (int c = 0; c <= UCHAR_MAX; c++)
      set->has[c] = !set->has[c];
  return true;
}

static bool parse_escape(Parser *parser) {
  char letter = *parser->at;
  if (!letter)
    return fail(parser, "nothing follows the backslash");
  parser->at++;
  if (letter == 'b') {
    sequence_add(parser->seq, NODE_WORD_EDGE);
    return true;
  }
  Set *set = set_new();
  if (set_add_class(set, letter)) {
    sequence_add(parser->seq, NODE_SET)->set = set;
    return true;
  }
  free(set);
  sequence_add(parser->seq, NODE_CHAR)->ch = (unsigned char)escaped(letter);
  return true;
}

static bool parse_number(Parser *parser, int *number) {
  if (!isdigit((unsigned char)*parser->at))
    return fail(parser, "the count is not a number");
  *number = 0;
  while (isdigit((unsigned char)*parser->at)) {
    *number = 10 * *number + (*parser->at++ - '0');
    if (*number > MAX_REPEAT)
      return fail(parser, "the count is too large");
  }
  return true;
}

// Counts of the last node; the cursor is behind `{`.
static bool parse_counts(Parser *parser, Node *node) {
  if (!parse_number(parser, &node->min))
    return false;
  node->max = node->min;
  if (*parser->at == ',') {
    parser->at++;
    node->max = UNLIMITED;
    if (*parser->at != '}' && !parse_number(parser, &node->max))
      return false;
  }
  if (*parser->at != '}')
    return fail(parser, "the count has no }");
  parser->at++;
  if (node->max < node->min)
    return fail(parser, "the counts are in the wrong order");
  return true;
}

// The repetition behind an atom, if there is one.
static bool parse_repetition(Parser *parser) {
  if (!*parser->at || !strchr("*+?{", *parser->at))
    return true;
  Node *node = &parser->seq->nodes[parser->seq->count - 1];
  if (node->kind >= NODE_LINE_START)
    return fail(parser, "an anchor cannot be repeated");
  char how = *parser->at++;
  if (how == '{')
    return parse_counts(parser, node);
  if (how != '+')
    node->min = 0;
  if (how != '?')
    node->max = UNLIMITED;
  return true;
}

static bool parse_atom(Parser *parser) {
  char c = *parser->at++;
  if (strchr("*+?{", c))
    return fail(parser, "nothing to repeat");
  switch (c) {
  case '.':
    sequence_add(parser->seq, NODE_ANY);
    return true;
  case '[':
    return parse_set(parser);
  case '\\':
    return parse_escape(parser);
  case '^':
    if (parser->seq->count == 0) {
      sequence_add(parser->seq, NODE_LINE_START);
      return true;
    }
    break;
  case '$':
    if (*parser->at == '\0' || *parser->at == '|') {
      sequence_add(parser->seq, NODE_LINE_END);
      return true;
    }
    break;
  }
  sequence_add(parser->seq, NODE_CHAR)->ch = (unsigned char)c;
  return true;
}

static bool pattern_parse(Pattern *pattern, Parser *parser) {
  parser->pattern = pattern;
  parser->seq = pattern_add_choice(pattern);
  if (!*parser->at)
    return fail(parser, "the pattern is empty");
  while (*parser->at) {
    if (*parser->at == '|') {
      parser->at++;
      parser->seq = pattern_add_choice(pattern);
    } else if (!parse_atom(parser) || !parse_repetition(parser)) {
      return false;
    }
  }
  return true;
}

// --- Matching: backtracking, longest repetition first ---

typedef struct {
  size_t start, end;
} Match;

static bool node_accepts(const Pattern *pattern, const Node *node,
                         unsigned char c) {
  if (node->kind == NODE_ANY)
    return true;
  if (node->kind == NODE_SET)
    return node->set->has[c];
  if (pattern->fold)
    return tolower(node->ch) == tolower(c);
  return node->ch == c;
}

static bool at_word_edge(const Text *line, size_t at) {
  bool before = at > 0 && is_word((unsigned char)line->data[at - 1]);
  bool after = at < line->length && is_word((unsigned char)line->data[at]);
  return before != after;
}

static bool anchor_holds(const Node *node, const Text *line, size_t at) {
  if (node->kind == NODE_LINE_START)
    return at == 0;
  if (node->kind == NODE_LINE_END)
    return at == line->length;
  return at_word_edge(line, at);
}

// Matches the nodes of `seq` from number `index` on against `line` from `at`.
static bool match_nodes(const Pattern *pattern, const Sequence *seq, int index,
                        const Text *line, size_t at, size_t *end) {
  if (index == seq->count) {
    *end = at;
    return true;
  }
  const Node *node = &seq->nodes[index];
  if (node->kind >= NODE_LINE_START)
    return anchor_holds(node, line, at) &&
           match_nodes(pattern, seq, index + 1, line, at, end);
  int taken = 0;
  while (taken < node->max && at < line->length &&
         node_accepts(pattern, node, (unsigned char)line->data[at])) {
    taken++;
    at++;
  }
  while (taken >= node->min) {
    if (match_nodes(pattern, seq, index + 1, line, at, end))
      return true;
    if (taken == 0)
      break;
    taken--;
    at--;
  }
  return false;
}

// The first match that starts at `from` or later.
static bool find_match(const Pattern *pattern, const Text *line, size_t from,
                       Match *match) {
  for (size_t start = from; start <= line->length; start++) {
    for (int i = 0; i < pattern->count; i++) {
      const Sequence *choice = &pattern->choices[i];
      if (match_nodes(pattern, choice, 0, line, start, &match->end)) {
        match->start = start;
        return true;
      }
    }
  }
  return false;
}

// --- Replacement ---

typedef enum { CASE_KEEP, CASE_UPPER, CASE_LOWER } Case;

static void add_cased(Text *out, unsigned char c, Case letters) {
  int cased = letters == CASE_UPPER   ? toupper(c)
              : letters == CASE_LOWER ? tolower(c)
                                      : c;
  text_add(out, (char)cased);
}

static void add_number(Text *out, int number) {
  char digits[16];
  snprintf(digits, sizeof digits, "%d", number);
  for (const char *d = digits; *d; d++)
    text_add(out, *d);
}

// Appends what `template` makes of the match, which is the numberth so far.
static void add_replacement(Text *out, const char *template, const Text *line,
                            const Match *match, int number) {
  Case letters = CASE_KEEP;
  for (const char *t = template; *t; t++) {
    if (*t == '&') {
      for (size_t i = match->start; i < match->end; i++)
        add_cased(out, (unsigned char)line->data[i], letters);
      continue;
    }
    if (*t != '\\') {
      add_cased(out, (unsigned char)*t, letters);
      continue;
    }
    t++;
    if (*t == 'U')
      letters = CASE_UPPER;
    else if (*t == 'L')
      letters = CASE_LOWER;
    else if (*t == 'E')
      letters = CASE_KEEP;
    else if (*t == '#')
      add_number(out, number);
    else
      add_cased(out, (unsigned char)escaped(*t), letters);
  }
}

// A template must not end in a lone backslash.
static bool template_ok(const char *template) {
  for (const char *t = template; *t; t++)
    if (*t == '\\' && *++t == '\0')
      return false;
  return true;
}

// --- The work on one line ---

typedef struct {
  bool count_only, number, changed_only;
  int only;             // the match of a line to replace; 0: all
  const char *template; // NULL: list the matches
} Options;

typedef struct {
  Options options;
  Pattern pattern;
  int line; // number of the line at work
  int total;
} Job;

// Handles one match: lists it, or appends its replacement to `out`.
static void take_match(Job *job, const Text *line, const Match *match,
                       Text *out) {
  job->total++;
  if (job->options.template) {
    add_replacement(out, job->options.template, line, match, job->total);
  } else if (!job->options.count_only) {
    printf("%d:%zu:", job->line, match->start + 1);
    fwrite(line->data ? line->data + match->start : "", 1,
           match->end - match->start, stdout);
    putchar('\n');
  }
}

// Rewrites `line` into `out`; returns the number of matches taken. An empty
// match directly behind another match does not count.
static int rewrite_line(Job *job, const Text *line, Text *out) {
  size_t at = 0, last_end = 0;
  int nth = 0, taken = 0;
  Match match;
  while (find_match(&job->pattern, line, at, &match)) {
    bool empty = match.start == match.end;
    text_add_range(out, line, at, match.start);
    if (!empty || nth == 0 || match.start != last_end) {
      nth++;
      if (job->options.only == 0 || job->options.only == nth) {
        take_match(job, line, &match, out);
        taken++;
      } else {
        text_add_range(out, line, match.start, match.end);
      }
    }
    last_end = at = match.end;
    if (empty) {
      if (at == line->length)
        return taken;
      text_add(out, line->data[at++]);
    }
  }
  text_add_range(out, line, at, line->length);
  return taken;
}

static void print_line(const Job *job, const Text *out, bool newline) {
  if (job->options.number)
    printf("%d\t", job->line);
  if (out->length > 0)
    fwrite(out->data, 1, out->length, stdout);
  if (newline)
    putchar('\n');
}

static void process_input(Job *job) {
  const Options *options = &job->options;
  Text line = {0}, out = {0};
  bool newline;
  while (text_read_line(&line, &newline)) {
    job->line++;
    out.length = 0;
    int taken = rewrite_line(job, &line, &out);
    if (!options->template || options->count_only)
      continue;
    if (taken > 0 || !options->changed_only)
      print_line(job, &out, newline);
  }
  if (options->count_only)
    printf("%d\n", job->total);
  free(line.data);
  free(out.data);
}

// --- Command line ---

// Sets what the option letter `o` asks for; false if there is none.
static bool set_flag(Job *job, char o) {
  Options *options = &job->options;
  if (o == '1')
    options->only = 1;
  else if (o == 'c')
    options->count_only = true;
  else if (o == 'i')
    job->pattern.fold = true;
  else if (o == 'n')
    options->number = true;
  else if (o == 'p')
    options->changed_only = true;
  else
    return false;
  return true;
}

// Reads the options; returns the index of the pattern, or -1.
static int parse_options(int argc, char **argv, Job *job) {
  int i = 1;
  for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
    if (strcmp(argv[i], "--") == 0)
      return i + 1;
    if (strcmp(argv[i], "-k") == 0) {
      if (i + 1 == argc || (job->options.only = atoi(argv[i + 1])) < 1)
        return -1;
      i++;
      continue;
    }
    for (const char *o = argv[i] + 1; *o; o++)
      if (!set_flag(job, *o))
        return -1;
  }
  return i;
}

int main(int argc, char **argv) {
  Job job = {0};
  int first = parse_options(argc, argv, &job);
  if (first < 0 || argc - first < 1 || argc - first > 2) {
    fputs("usage: replace [-1cinp] [-k N] PATTERN [REPLACEMENT]\n", stderr);
    return BAD_USAGE;
  }
  Status status = MALFORMED;
  Parser parser = {.at = argv[first]};
  job.options.template = argv[first + 1];
  if (!pattern_parse(&job.pattern, &parser)) {
    fprintf(stderr, "replace: %s: %s\n", argv[first], parser.error);
  } else if (job.options.template && !template_ok(job.options.template)) {
    fputs("replace: the replacement ends in a backslash\n", stderr);
  } else {
    process_input(&job);
    status = job.total > 0 ? MATCHED : NOT_MATCHED;
  }
  pattern_release(&job.pattern);
  return status;
}
