// Contracts in the comments of a translation unit, from the compiler's point of
// view: finds them in a source and in the headers it includes, and hands clang
// rewritten texts in their place, by a virtual file system. So nothing but the
// texts changes: names, include paths, depfiles, debug information are those of
// the files themselves.
//
//   Contracts c;
//   contracts_open(&c, "list.c", &dirs);
//   if (contracts_found(&c)) {
//     contracts_write(&c, "/tmp/x", &overlay, err);   // clang -ivfsoverlay ...
//     if (clang fails && contracts_refuse(&c, messages_of_clang))
//       ...                      // write them again, without what clang refused
//     contracts_messages(&c, how, &out);               // what is wrong in them
//     contracts_translate(&c, messages_of_clang, &out);
//   }
//   contracts_close(&c);
#ifndef CULPRIT_CONTRACT_CONTRACT_H
#define CULPRIT_CONTRACT_CONTRACT_H

#include <stdbool.h>

#include "compile/cc_args.h"
#include "contract/contract_check.h"
#include "util/err.h"
#include "util/str.h"

typedef struct {
  ContractUnit unit;
  Hashmap seen;    // files looked at
  bool old_alloca; // some may declare alloca (old_alloca.h)
} Contracts;

// Reads `source` and what it includes from beside it and from `dirs` (-I). An
// unreadable file has no contracts: clang will say what is wrong with it.
void contracts_open(Contracts *c, const char *source, const Args *dirs);
void contracts_close(Contracts *c);

// The directories that -I and -iquote name.
void contracts_dirs(const CcArgs *args, Args *dirs);

bool contracts_found(const Contracts *c);

// Writes the rewritten texts and the overlay that puts them in place; all file
// names begin with `prefix`. `overlay` is the caller's to free.
int contracts_write(Contracts *c, const char *prefix, char **overlay, Err *err);

// Leaves out the clauses that clang's errors are about, and remembers why.
// Returns how many; 0: the errors are about something else.
int contracts_refuse(Contracts *c, const char *messages);

typedef struct {
  bool strict; // what is left out is an error, not a warning
  bool list;   // name every clause that is not checked at run time
} ContractTelling;

// Appends what is wrong in the contracts, in the words and form of a compiler.
// Returns the number of errors. Call it after contracts_write.
int contracts_messages(const Contracts *c, ContractTelling how, Str *out);

// Appends what clang has said about the rewritten texts: where it speaks of a
// contract, the contract's own line is shown.
void contracts_translate(const Contracts *c, const char *messages, Str *out);

#endif
