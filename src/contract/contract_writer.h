// A rewritten source while it is written: used by the parts of
// contract_check.h.
#ifndef CULPRIT_CONTRACT_CONTRACT_WRITER_H
#define CULPRIT_CONTRACT_CONTRACT_WRITER_H

#include "contract/contract_check.h"
#include "contract/contract_emit.h"

typedef struct {
  ContractUnit *u;
  size_t number;
  ContractSource *s; // the file being written
  Str *out;
  size_t copied; // bytes of its text
  uint32_t unique;
  ARRAY(const Head *) wrapped; // heads whose contracts are checked already
} ContractWriter;

Emitter writer_emitter(ContractWriter *w, ContractSource *from,
                       const Tokens *tokens, EmitState state);

// The text up to `at` as it is.
void writer_copy(ContractWriter *w, size_t at);
// Goes on with the text at `at`, which is to keep its place.
void writer_resume(ContractWriter *w, size_t at);

// What a program carries of a contract (contract_format.h).
void writer_strings(Str *t, const ContractSource *s, const Annotation *a,
                    const char *function, const char *body, uint32_t line);
void writer_table(ContractWriter *w, const char *name, const Str *strings);

// The definitions of logic in an annotation, as functions (contract_logic.c).
void writer_logics(ContractWriter *w, const Annotation *a);

#endif
