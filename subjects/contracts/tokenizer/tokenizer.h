// Cuts C source into tokens.
#ifndef TOKENIZER_H
#define TOKENIZER_H

typedef enum {
  TOKEN_WORD,
  TOKEN_KEYWORD,
  TOKEN_INTEGER,
  TOKEN_FLOAT,
  TOKEN_STRING,
  TOKEN_CHARACTER,
  TOKEN_OPERATOR,
  TOKEN_DIRECTIVE,
  TOKEN_ERROR,
} TokenKind;

typedef struct {
  int kind;
  int start, length; // in the text
  int line;          // from 1
  int value;         // of a keyword or an operator: which
} Token;

int token_kind_fits(const char *text, const Token *t);
int token_line_fits(const char *text, const Token *t);
int token_reaches(const char *text, const Token *t, const Token *last);

#include "contract.h"

#endif
