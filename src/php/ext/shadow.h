// Shadows: what the values of a request are made of, as terms over its input.
// Collected only if culprit.collect names `shadows`.
//
//   $n = intval($_GET['n'] ?? '');    n = INT(VAR "GET.n")
//   if ($n * 2 > 10)                  BRANCH LT(10, MUL(n, 2)), outcome
//
// How a value carries its term, for free wherever PHP copies it (assignments,
// arguments, arrays, properties, closures):
//
//   strings   in the 22 bits of the header that only PHP's cycle collector
//             uses, and strings are never collected; interned strings, which
//             are shared, get a private copy first
//   numbers   in the upper 16 bits of the type word, which ZVAL_COPY copies and
//   and       whoever computes a new number clears; PHP's fast paths want these
//   booleans  bits to be zero and leave tagged values to the slow ones
//
// A tag counts only if the value is still the one that was tagged (a string's
// hash, a number itself): so what is changed in place loses its term.
//
// Operators on tagged values are done here, with the engine's own functions,
// instead of by the VM (shadow_ops.c): all else runs as ever. Terms are kept
// once each (hash-consed), outside the request's memory, and only what a
// decision depends on is written to the record.
#ifndef CULPRIT_EXT_SHADOW_H
#define CULPRIT_EXT_SHADOW_H

#include "php_culprit.h"

enum {
  SHADOW_TERMS = 1 << 18,       // of a request
  SHADOW_TEXT = 4 << 20,        // bytes of all names and constants
  SHADOW_STRING = 8192,         // of one constant or input
  SHADOW_BRANCHES = 20000,      // of a request
  SHADOW_LIST = 48,             // items of a list
  SHADOW_CALL_ARGS = TERM_ARGS, // that are looked at
};

typedef uint32_t shadow; // number of a term; 0: none

// Might the value have a term? Cheap; never for arrays and objects.
static zend_always_inline bool shadow_maybe(const zval *v) {
  if (Z_TYPE_P(v) == IS_STRING)
    return GC_TYPE_INFO(Z_STR_P(v)) >> GC_INFO_SHIFT;
  return Z_TYPE_INFO_P(v) > 0xffff && Z_TYPE_P(v) < IS_STRING;
}

// The value's term; 0: it has none.
shadow shadow_find(const zval *v);
// ... or a constant; 0: it is no scalar, too long, or there is no room.
shadow shadow_term(const zval *v);
// Gives the value its term (a string may be replaced by a copy). 0: leaves it.
void shadow_set(zval *v, shadow term);

// The term of an operator or function that gave `result`; 0 if any of the
// arguments that it must have is 0.
shadow shadow_make(TermOp op, const shadow *args, unsigned n,
                   const zval *result);
shadow shadow_make2(TermOp op, shadow a, shadow b, const zval *result);
// An input; NULL: it is absent.
shadow shadow_var(const char *name, size_t length, const zval *value);
shadow shadow_opaque(const char *name, size_t length, const shadow *args,
                     unsigned n, const zval *result);
shadow shadow_int(zend_long n);
// Counts something that no term stands for.
void shadow_lost(const char *what, size_t length);
#define SHADOW_LOST(what) shadow_lost(what, sizeof(what) - 1)

// A decision: the term's truth. `counter`: that of the outcome.
void shadow_branch(shadow term, bool outcome, uint32_t counter);
// What the session keeps.
void shadow_keep(const char *name, size_t length, shadow term);

// --- input (shadow_input.c) -------------------------------------------------

void shadow_input_start(void); // registers the handlers of opcodes
void shadow_input_begin(void);
void shadow_input_end(void);
void shadow_session_opened(void);
// Makes unknowns of what a database answered.
void shadow_database(zval *answer);
extern uint64_t shadow_arrays; // bits by shadow_bit: of arrays of input
static zend_always_inline uint64_t shadow_bit(const HashTable *ht) {
  return (uint64_t)1 << ((uintptr_t)ht / 56 & 63);
}
// The array is what explode() made of `text`: it and its keys depend on that.
void shadow_exploded(HashTable *ht, shadow glue, shadow text);
// `to` has as many elements as `from`, with the same keys.
void shadow_mapped(const HashTable *from, HashTable *to);
// The term of how many elements it has; 0: none.
shadow shadow_count(const HashTable *ht, const zval *count);
// Key `key` of something that is not there: of $_GET['a'] in $_GET['a']['b'].
shadow shadow_key_of_absent(const zend_execute_data *ex, const zval *key);
// The term of key `key` in `ht`, if that is an array of input: VAR, also if it
// is absent.
shadow shadow_key(const HashTable *ht, const zval *key, const zval *value);

// --- operators (shadow_ops.c) -----------------------------------------------

void shadow_ops_start(void);
// The list of the keys or of the elements; 0: too many, or none is a scalar.
shadow shadow_list(const HashTable *ht, bool keys);

// --- functions (shadow_call.c) ----------------------------------------------

typedef struct shadow_model shadow_model;

#endif
