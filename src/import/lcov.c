// lcov .info files (geninfo(1), and what other tools write in that format).
//
//   TN:t1                test; empty: the file's own name
//   SF:/src/a.c          a source file, up to end_of_record
//   FN:12,f              or FN:12,20,f with the last line (lcov 2)
//   FNL:0,12,20          the same in lcov 2.2: number, lines ...
//   FNA:0,3,f            ... and number, count, name
//   FNDA:3,f             count of a function
//   BRDA:14,0,1,3        line, condition, branch, count or -
//   DA:13,3              line, count
//   end_of_record
//
// A branch is known by line, condition and branch. Coverage.py before 7 numbers
// the branches of a condition anew in every file and puts them at the line they
// lead to: a condition that has no branch 0 gives that away, and the branches
// of such a source file are left out.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "import/coverage_format.h"
#include "util/array.h"

typedef struct {
  const char *name;
  uint32_t line, last;
  long number; // FNL, FNA; -1: none
  bool hit;
} Function;

typedef struct {
  Branch branch;
  const char *text; // a branch that is described, not numbered
  bool exception;
  bool hit;
} BranchRecord;

// What is being read: one SF record.
typedef struct {
  const ImportFile *in;
  Coverage *out;
  Lines lines;
  uint32_t test, file;
  bool has_test, in_record;
  ARRAY(Function) functions;
  Hashmap function_of; // name -> index into functions
  ARRAY(BranchRecord) branches;
  Arena arena; // of one record
} Reader;

static int fail(Reader *r, Err *err, const char *what) {
  return import_file_fail(r->in, r->lines.number, err, "'%.60s': %s",
                          r->lines.text.data, what);
}

static bool skip_comma(const char **p) { return **p == ',' && *(*p)++; }

// A count, which some tools let run negative; *p is behind it.
static bool parse_count(const char **p, bool *positive) {
  bool negative = **p == '-';
  *p += negative;
  const char *digits = *p;
  *positive = false;
  for (; isdigit((unsigned char)**p); (*p)++)
    *positive |= **p != '0' && !negative;
  return *p > digits;
}

// --- functions -------------------------------------------------------------

static Function *function_named(Reader *r, const char *name) {
  size_t n = strlen(name);
  uint64_t i = hashmap_intern(&r->function_of, name, n, r->functions.len);
  if (i == r->functions.len)
    array_push(&r->functions,
               (Function){.name = arena_strdup(&r->arena, name), .number = -1});
  return &r->functions.items[i];
}

// "12,name" or "12,20,name"; C++ names have commas, but do not begin with a
// digit.
static int read_fn(Reader *r, const char *p, Err *err) {
  uint32_t line, last = 0;
  if (!parse_line_number(p, &p, &line) || !skip_comma(&p))
    return fail(r, err, "should be FN:LINE,NAME");
  if (isdigit((unsigned char)*p) &&
      (!parse_line_number(p, &p, &last) || !skip_comma(&p)))
    return fail(r, err, "should be FN:LINE,LAST LINE,NAME");
  if (!*p)
    return fail(r, err, "a function without a name");
  Function *f = function_named(r, p);
  f->line = line;
  f->last = last;
  return 0;
}

static int read_fnda(Reader *r, const char *p, Err *err) {
  bool hit;
  if (!parse_count(&p, &hit) || !skip_comma(&p) || !*p)
    return fail(r, err, "should be FNDA:COUNT,NAME");
  function_named(r, p)->hit |= hit;
  return 0;
}

static bool parse_index(const char **p, long *n) {
  char *end;
  *n = strtol(*p, &end, 10);
  bool good = isdigit((unsigned char)**p);
  *p = end;
  return good && *n >= 0;
}

static int read_fnl(Reader *r, const char *p, Err *err) {
  long number;
  uint32_t line, last = 0;
  if (!parse_index(&p, &number) || !skip_comma(&p) ||
      !parse_line_number(p, &p, &line) ||
      (skip_comma(&p) && !parse_line_number(p, &p, &last)) || *p)
    return fail(r, err, "should be FNL:NUMBER,LINE[,LAST LINE]");
  array_push(&r->functions,
             (Function){.line = line, .last = last, .number = number});
  return 0;
}

static int read_fna(Reader *r, const char *p, Err *err) {
  long number;
  bool hit;
  if (!parse_index(&p, &number) || !skip_comma(&p) || !parse_count(&p, &hit) ||
      !skip_comma(&p) || !*p)
    return fail(r, err, "should be FNA:NUMBER,COUNT,NAME");
  for (size_t i = 0; i < r->functions.len; i++) {
    Function *f = &r->functions.items[i];
    if (f->number != number)
      continue;
    if (!f->name) // the first of several names
      f->name = arena_strdup(&r->arena, p);
    f->hit |= hit;
    return 0;
  }
  return fail(r, err, "no FNL has this number");
}

// --- lines and branches ----------------------------------------------------

static int read_da(Reader *r, const char *p, Err *err) {
  uint32_t line;
  bool hit;
  if (!parse_line_number(p, &p, &line) || !skip_comma(&p) ||
      !parse_count(&p, &hit) || (*p && *p != ','))
    return fail(r, err, "should be DA:LINE,COUNT");
  coverage_line(r->out, r->test, r->file, line, hit);
  return 0;
}

// Line 0, which no other tool writes: Coverage.py before 7, for a branch that
// leaves the function.
static bool parse_branch_line(const char **p, uint32_t *line) {
  if (**p == '0' && (*p)[1] == ',') {
    ++*p;
    *line = 0;
    return true;
  }
  return parse_line_number(*p, p, line);
}

static bool parse_branch(Reader *r, const char *p, BranchRecord *out) {
  const char *comma = strrchr(p, ',');
  const char *count = comma ? comma + 1 : p;
  long condition, outcome;
  if (!parse_branch_line(&p, &out->branch.line) || !skip_comma(&p))
    return false;
  out->exception = *p == 'e';
  p += out->exception;
  if (!parse_index(&p, &condition) || condition >= INT32_MAX ||
      !skip_comma(&p) || comma <= p)
    return false;
  if (strcmp(count, "-") && (!parse_count(&count, &out->hit) || *count))
    return false;
  out->branch.condition = (uint32_t)condition;
  const char *end = p;
  if (parse_index(&end, &outcome) && end == comma && outcome < INT32_MAX)
    out->branch.outcome = (uint32_t)outcome;
  else
    out->text = arena_strndup(&r->arena, p, (size_t)(comma - p));
  return true;
}

// BRDA:line,[e]condition,branch,count|-; the branch may be a text with commas.
static int read_brda(Reader *r, const char *p, Err *err) {
  BranchRecord b = {0};
  if (parse_branch(r, p, &b))
    array_push(&r->branches, b);
  else
    return fail(r, err, "should be BRDA:LINE,CONDITION,BRANCH,COUNT");
  return 0;
}

// --- the end of a record ---------------------------------------------------

static void add_functions(Reader *r) {
  for (size_t i = 0; i < r->functions.len; i++) {
    const Function *f = &r->functions.items[i];
    if (f->line && f->name)
      coverage_function(r->out, r->test, r->file, f->line, f->last, f->name,
                        f->hit);
  }
}

static bool same_condition(const BranchRecord *a, const BranchRecord *b) {
  return a->branch.line == b->branch.line &&
         a->branch.condition == b->branch.condition;
}

static int by_condition(const void *a, const void *b) {
  const BranchRecord *x = a, *y = b;
  if (!same_condition(x, y)) {
    bool before = x->branch.line != y->branch.line
                      ? x->branch.line < y->branch.line
                      : x->branch.condition < y->branch.condition;
    return before ? -1 : 1;
  }
  if (!x->text != !y->text)
    return x->text ? 1 : -1;
  if (x->text)
    return strcmp(x->text, y->text);
  return x->branch.outcome < y->branch.outcome
             ? -1
             : x->branch.outcome > y->branch.outcome;
}

// Are the branches of every condition numbered from 0? Sorted by condition.
static bool well_numbered(const Reader *r) {
  for (size_t i = 0; i < r->branches.len; i++) {
    const BranchRecord *b = &r->branches.items[i];
    bool first = !i || !same_condition(b - 1, b);
    if (!b->branch.line || (first && !b->text && b->branch.outcome))
      return false;
  }
  return true;
}

// Texts are numbered by their place among those of the condition: every test
// lists the same ones.
static void add_branches(Reader *r) {
  if (!r->branches.len)
    return;
  qsort(r->branches.items, r->branches.len, sizeof *r->branches.items,
        by_condition);
  if (!well_numbered(r))
    return;
  uint32_t number = 0;
  for (size_t i = 0; i < r->branches.len; i++) {
    BranchRecord *b = &r->branches.items[i];
    if (i && same_condition(b - 1, b))
      number += !b->text || !b[-1].text || strcmp(b->text, b[-1].text) != 0;
    else
      number = 0;
    if (b->text)
      b->branch.outcome = number;
    b->branch.name = b->exception ? THROW_NAME : BRANCH_NAME;
    if (b->text)
      b->branch.name = arena_printf(&r->arena, BRANCH_NAME " (%s)", b->text);
    coverage_branch(r->out, r->test, r->file, &b->branch, b->hit);
  }
}

static void forget_record(Reader *r) {
  r->functions.len = r->branches.len = 0;
  hashmap_release(&r->function_of);
  arena_release(&r->arena);
}

static int end_record(Reader *r, const char *p, Err *err) {
  if (*p)
    return fail(r, err, "something follows end_of_record");
  add_functions(r);
  add_branches(r);
  forget_record(r);
  r->in_record = false;
  return 0;
}

// --- the file --------------------------------------------------------------

static int read_tn(Reader *r, const char *p, Err *err) {
  if (r->in_record)
    return fail(r, err, "a test begins inside of a record");
  r->has_test = *p && !r->in->named;
  if (r->has_test)
    r->test = coverage_test(r->out, p);
  return 0;
}

static int read_sf(Reader *r, const char *p, Err *err) {
  if (!*p)
    return fail(r, err, "a source file without a name");
  if (r->in_record)
    return fail(r, err, "a file begins before end_of_record");
  if (!r->has_test && coverage_test_of(r->out, r->in, &r->test, err))
    return -1;
  r->file = coverage_file(r->out, p, NULL);
  r->in_record = true;
  return 0;
}

static int ignore(Reader *r, const char *p, Err *err) {
  (void)r, (void)p, (void)err;
  return 0;
}

static const struct {
  const char *tag;
  int (*read)(Reader *r, const char *p, Err *err);
  bool outside; // not only between SF and end_of_record
} tags[] = {
    {"DA:", read_da, false},
    {"BRDA:", read_brda, false},
    {"FN:", read_fn, false},
    {"FNDA:", read_fnda, false},
    {"FNL:", read_fnl, false},
    {"FNA:", read_fna, false},
    {"end_of_record", end_record, false},
    {"TN:", read_tn, true},
    {"SF:", read_sf, true},
    {"#", ignore, true},
    // Sums of what was counted; versions; conditions of modified coverage.
    {"LF:", ignore, false},
    {"LH:", ignore, false},
    {"BRF:", ignore, false},
    {"BRH:", ignore, false},
    {"FNF:", ignore, false},
    {"FNH:", ignore, false},
    {"VER:", ignore, false},
    {"MCDC:", ignore, false},
    {"MCF:", ignore, false},
    {"MCH:", ignore, false},
};

static int read_line(Reader *r, Err *err) {
  const char *line = r->lines.text.data;
  if (!*line)
    return 0;
  for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
    if (!text_starts(line, tags[i].tag))
      continue;
    if (!tags[i].outside && !r->in_record)
      return fail(r, err, "outside of a record (SF: to end_of_record)");
    return tags[i].read(r, line + strlen(tags[i].tag), err);
  }
  return fail(r, err, "not a line of an lcov file");
}

static int read_all(Reader *r, Err *err) {
  int rc;
  while ((rc = lines_next(&r->lines, err)) > 0)
    if (read_line(r, err))
      return -1;
  if (rc)
    return -1;
  if (r->in_record)
    return import_file_fail(r->in, r->lines.number, err,
                            "cut off: end_of_record is missing");
  return 0;
}

int lcov_read(const ImportFile *in, Coverage *out, Err *err) {
  Reader r = {.in = in, .out = out, .lines = {.in = in}};
  int rc = read_all(&r, err);
  forget_record(&r);
  array_release(&r.functions);
  array_release(&r.branches);
  lines_release(&r.lines);
  return rc;
}
