// Cuts C source into tokens as far as contracts need it: what stands in
// comments `/*@ ... */` and `//@ ...` stays one token, a preprocessor directive
// is one token, other comments are gone. The inside of an annotation is cut
// again with contract_lex_annotation().
//
//   /*@ ensures \result == 1; */ int f(void);
//   gives:  ANNOTATION  int  f  (  void  )  ;
//   inside: ensures  \result  ==  1  ;
//
// Any bytes are accepted: a byte that begins no C token becomes a token itself.
#ifndef CULPRIT_CONTRACT_CONTRACT_LEX_H
#define CULPRIT_CONTRACT_CONTRACT_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/array.h"

typedef enum {
  TOK_END,
  TOK_WORD,    // identifier or keyword
  TOK_SLASHED, // \old, \result
  TOK_NUMBER,
  TOK_TEXT, // string or character constant
  TOK_MARK, // operator or punctuation
  TOK_DIRECTIVE,
  TOK_ANNOTATION,
} TokenKind;

typedef struct {
  TokenKind kind;
  uint32_t at, len;   // in the text
  uint32_t line, col; // both from 1; col counts bytes
} Token;

typedef ARRAY(Token) Tokens;

// Every list ends with a TOK_END, which stands behind the text.
void contract_lex(const char *text, size_t len, Tokens *out);

// What stands inside the annotation `whole` of `text`.
void contract_lex_annotation(const char *text, Token whole, Tokens *out);

bool token_is(const char *text, const Token *t, const char *word);
bool token_starts(const char *text, const Token *t, const char *prefix);

// Is the word a keyword of C, that cannot name a function?
bool token_is_keyword(const char *text, const Token *t);

#endif
