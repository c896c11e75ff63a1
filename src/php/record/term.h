// Terms: how the values of one PHP request were computed, as recorded by the
// extension's shadows (php/ext/shadow.h), and what they would be for other
// input.
//
//   GET.n = "3";  term 4: LT(MUL(INT(VAR GET.n), 2), 10); a branch, true
//
//   TermEval *ev = term_eval_new(&shadows);
//   term_eval_set(ev, var, php_string("7", 1));
//   term_eval(ev, 4)                             VALUE_FALSE
//   term_eval_free(ev);
//
// Evaluation follows PHP 8.2: loose comparison, numeric strings, conversions.
// What PHP would throw at, or what no rule is known for (an opaque call with
// other arguments than in the run), has no value: VALUE_UNKNOWN.
#ifndef CULPRIT_PHP_RECORD_TERM_H
#define CULPRIT_PHP_RECORD_TERM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "php/record/record_format.h"
#include "util/arena.h"

#define VALUE_UNKNOWN VALUE_TYPES

// Strings may hold any byte; `s` has a zero byte behind its `n`.
typedef struct {
  int type; // ValueType, or VALUE_UNKNOWN
  int64_t i;
  double d;
  const char *s;
  size_t n;
  bool sign_only; // INT, 1 or -1: some number of this sign (php_sign)
} PhpValue;

typedef struct {
  TermOp op;
  unsigned nargs;
  uint32_t args[TERM_ARGS]; // terms before this one; 0: none
  PhpValue value;   // VAR, CONST, OPAQUE; of others type, number, length
  const char *name; // VAR: "POST.user"; OPAQUE: the function; else ""
} PhpTerm;

// A decision. Of conditions of the source: index into the record's scripts and
// the outcome's among that unit's entities; else ENTITY_NONE.
typedef struct {
  uint32_t term;
  bool outcome;
  const char *file; // absolute path
  uint32_t line;
  uint32_t script, entity;
} PhpBranch;

typedef struct {
  const char *name;
  uint32_t number;
} PhpNamed;

typedef struct {
  uint64_t serial;      // no two of a process have the same
  const PhpTerm *terms; // 1..nterms-1; [0] is unused
  size_t nterms;        // 0: shadows were not collected, or nothing decided
  const PhpBranch *branches; // in order
  size_t nbranches;
  const PhpNamed *kept; // what the session keeps: "SESSION.user", term
  size_t nkept;
  const PhpNamed *opaque; // calls without a term, by function: how often
  size_t nopaque;
} PhpShadows;

// --- values (php_value.c) ---------------------------------------------------

PhpValue php_null(void);
PhpValue php_bool(bool b);
PhpValue php_int(int64_t i);
// Some number of the sign of `i`: what strcmp() returns is what the library's
// memcmp() made of two bytes or of eight, which differs between processors.
// What depends on more than its sign is unknown.
PhpValue php_sign(int64_t i);
PhpValue php_float(double d);
PhpValue php_string(const char *s, size_t n);
PhpValue php_unknown(void);

bool php_same(PhpValue a, PhpValue b); // ===
// <=>: -1, 0, 1; 2: unknown.
int php_order(PhpValue a, PhpValue b, Arena *arena);
bool php_truth(PhpValue v);
// Leading blanks, a number, and, if `whole`, nothing but blanks behind it.
// Returns VALUE_INT, VALUE_FLOAT, or VALUE_NULL: it is none.
int php_numeric(const char *s, size_t n, bool whole, int64_t *i, double *d);
PhpValue php_to_int(PhpValue v);
PhpValue php_to_float(PhpValue v);
PhpValue php_to_string(PhpValue v, Arena *arena);
// For arithmetic: INT or FLOAT, or unknown where PHP throws.
PhpValue php_to_number(PhpValue v);

// --- functions (term_call.c, term_preg.c) -----------------------------------

// TERM_STRLEN and all behind it. `arena` for strings.
PhpValue term_call(TermOp op, const PhpValue *args, unsigned n, Arena *arena);
// preg_match: VALUE_INT 0 or 1; with `group` >= 0 that group's text.
PhpValue term_preg(PhpValue pattern, PhpValue text, int group, Arena *arena);

// --- evaluation (term_eval.c) -----------------------------------------------

typedef struct TermEval TermEval;

// `shadows` must stay.
TermEval *term_eval_new(const PhpShadows *shadows);
void term_eval_free(TermEval *ev);
// Gives input `var` (a VAR term) another value; php_null: absent. Strings must
// stay until term_eval_clear, which goes back to the run.
void term_eval_set(TermEval *ev, uint32_t var, PhpValue value);
void term_eval_clear(TermEval *ev);
// Values are good until the next set or clear.
PhpValue term_eval(TermEval *ev, uint32_t term);
// Does the branch have this outcome? False also if that is unknown.
bool term_decides(TermEval *ev, uint32_t term, bool outcome);
// Inputs that the term depends on, as a set of 64 buckets: 0 means none.
uint64_t term_support(const TermEval *ev, uint32_t term);

// Equal for the same term over inputs of the same names, whatever their values.
uint64_t term_hash(const TermEval *ev, uint32_t term);

// How many branches do not evaluate to their outcome under the run's own input:
// each is a bug of ours. `first` (may be NULL): the first one's index.
size_t term_check(const PhpShadows *shadows, size_t *first);

// Appends a term as text for people: (int)GET.n * 2 < 10.
void term_show(const PhpShadows *shadows, uint32_t term, char *out,
               size_t size);

#endif
