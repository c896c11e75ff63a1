// Which tests of a list one of several machines runs: `--shard K/N`.
//
//   culprit run --shard 3/8      on the third of eight machines
//
// A test's shard follows from its name and, if the store has a whole session
// of an earlier run, from the times of that: the longest test first, each to
// the shard that has least to do. So all machines agree if they see the same
// list and the same earlier session, or none; a digest in the session's key
// says whether they did (fleet/merge.h looks).
#ifndef CULPRIT_RUN_SHARD_H
#define CULPRIT_RUN_SHARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/store.h"
#include "util/arena.h"
#include "util/err.h"

enum { SHARDS_MOST = 100000 };

// Begins the line of a session's key that names shard and digest:
// "shard=3/8 00112233445566ff".
#define SHARD_KEY "shard="

typedef struct {
  unsigned k, n; // shard k of n, from 1; n = 0: all tests
} Shard;

// Reads "3/8". False: it is not that.
bool shard_parse(const char *text, Shard *out);

// How long tests took in the newest session of the store that is whole.
typedef struct {
  const char **names;
  double *seconds;
  size_t n;
  Arena arena;
} TestTimes;

// None if there is no such session.
int test_times_load(TestTimes *t, Store *store, Err *err);
void test_times_release(TestTimes *t);
// Of a test or, if it is not known, of all that are inside of it
// ("NAME/..."). Below 0: unknown.
double test_times_of(const TestTimes *t, const char *name);

// shards[i]: that of names[i], from 1 to n. Tests without a time have a shard
// by the hash of their name.
void shards_assign(const TestTimes *t, const char *const *names, size_t count,
                   unsigned n, unsigned *shards);
unsigned shard_by_name(const char *name, unsigned n);
// Of the names and their shards, in any order: what all machines must agree on.
uint64_t shards_digest(const char *const *names, const unsigned *shards,
                       size_t count);

// The shard that a command line of culprit asks for; n = 0: none. *rest, if not
// NULL: the line without that option, and with `store` for its --store. Caller
// frees.
Shard shard_of_command(const char *command, const char *store, char **rest);

#endif
