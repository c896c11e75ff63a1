// Compiling a source that has contracts: what clang refuses of them is left out
// and the rest compiled again. A contract does not break a build, unless that is
// asked for.
#ifndef CULPRIT_CC_CHECKED_H
#define CULPRIT_CC_CHECKED_H

#include "compile/cc_args.h"
#include "contract/contract.h"

// Compiles with an overlay (NULL: the files as they are); what clang says goes
// to the file `messages`. Returns clang's status.
typedef int CompileWith(void *context, const char *overlay,
                        const char *messages);

// What is asked for by -Wculprit-contract, -Wculprit-contract-error and
// CULPRIT_STRICT. A build of our own, of a changed text (CULPRIT_LENIENT), takes
// what the first one took.
ContractTelling contract_telling(const CcArgs *args);

// Returns clang's status, 1 for errors of contracts, 3 if no file could be
// written. Tells on standard error. Temporary files begin with `prefix`.
int compile_checked(Contracts *c, ContractTelling how, const char *source,
                    const char *prefix, const char *messages,
                    CompileWith *compile, void *context);

#endif
