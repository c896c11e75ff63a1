// The memory of a replayed run: for every byte the value it has, if known, and
// the expression that it came from, if any.
//
//   Shadow *m = shadow_new(pool);
//   shadow_store(m, address, 4, value, expr);     expr 0: concrete
//   Expr e = shadow_load(m, address, 4, value);   value: what the run loaded
//
// A cell is (expression, number of the byte in it): a load that reads what one
// store has written gets the very expression back. If what the run loaded is
// not what is here, code outside has written: cells are dropped, and counted.
#ifndef CULPRIT_REPLAY_SHADOW_H
#define CULPRIT_REPLAY_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "expr/expr.h"

typedef struct Shadow Shadow;

Shadow *shadow_new(ExprPool *pool);
void shadow_free(Shadow *m);

// n: 1 to 8 bytes. `e` is BV(8n) or 0.
void shadow_store(Shadow *m, uint64_t at, unsigned n, uint64_t value, Expr e);
Expr shadow_load(Shadow *m, uint64_t at, unsigned n, uint64_t value);

// One byte. False: its value is not known.
bool shadow_byte(const Shadow *m, uint64_t at, uint8_t *value);
// The expression of one byte, BV(8); 0: concrete.
Expr shadow_byte_expr(const Shadow *m, uint64_t at);
// Eight bytes as a number. False: not all are known.
bool shadow_word(const Shadow *m, uint64_t at, uint64_t *value);

// Copies n bytes. False: one is not known, or comes from an expression.
bool shadow_read(const Shadow *m, uint64_t at, uint8_t *bytes, uint64_t n);

void shadow_write(Shadow *m, uint64_t at, const void *bytes, uint64_t n);
void shadow_copy(Shadow *m, uint64_t to, uint64_t from, uint64_t n);
void shadow_fill(Shadow *m, uint64_t at, uint64_t n, uint8_t value, Expr e);
// Values are unknown from now on.
void shadow_forget(Shadow *m, uint64_t at, uint64_t n);
bool shadow_is_symbolic(const Shadow *m, uint64_t at, uint64_t n);

// Loads whose bytes were written by code outside, expressions lost.
uint64_t shadow_surprises(const Shadow *m);
size_t shadow_pages(const Shadow *m);

#endif
