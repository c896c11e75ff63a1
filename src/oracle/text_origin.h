// Where the bytes of a text stand in the source: of a page that a request
// printed, or of a query that it sent. A page has its output map, which names
// the statement that printed a byte; this finds the line inside the statement.
// Of a text that was put together elsewhere it finds the literals it was made
// of, among those of the statements that the request executed.
//
//   4  $sql = 'SELECT name FROM item';      SELECT name FROM item ORDERBY price
//   6  $sql .= ' ORDERBY price';            4.................... 6............
//   9  $db->query($sql);
//
// Limits: values that are no literals (input, data) have no origin. A text that
// a function made (strtoupper) is not found again. Of two equal literals both
// may be the origin.
#ifndef CULPRIT_ORACLE_TEXT_ORIGIN_H
#define CULPRIT_ORACLE_TEXT_ORIGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "php/source/literals.h"
#include "php/record/php_record.h"
#include "util/arena.h"
#include "util/array.h"

typedef struct {
  const char *file;         // absolute path
  uint32_t line, statement; // of the byte, and of its statement
  size_t from, to;          // the bytes of the text that the literal holds
} TextOrigin;
typedef ARRAY(TextOrigin) TextOrigins;

// What one request executed.
typedef struct ExecutedText ExecutedText;

// `literals` may be NULL: then nothing is found. All of it lies in `arena`.
ExecutedText *executed_text(LiteralCache *literals, const PhpRecord *record,
                            Arena *arena);

// The template's file and line where this line of a script was compiled from
// one (php/source/template_map.h); else they stay as they are.
void origin_template(ExecutedText *x, const char **file, uint32_t *line);

// The line that holds byte `at` of the text, which the statement in this line
// of the file printed. If no literal of the statement holds it, bytes
// [from, to) of the text were put in there as a value.
typedef struct {
  uint32_t line; // 0: it cannot be told
  bool is_literal;
  size_t from, to;
} WrittenByte;

WrittenByte origin_in_statement(ExecutedText *x, const char *file,
                                uint32_t line, const char *text, size_t n,
                                size_t at);

// The longest executed literals that hold byte `at` of the text, each place
// once; none if they are too short to tell. `printed`: the text was printed by
// another statement; those that print have printed their literals themselves
// and are no candidates.
void origin_of_byte(ExecutedText *x, const char *text, size_t n, size_t at,
                    bool printed, TextOrigins *out);
// The literals of all of the text, in its order.
void origin_of_text(ExecutedText *x, const char *text, size_t n,
                    TextOrigins *out);

// The function that this line of the file belongs to, a number within the file;
// ENTITY_NONE: the request did not execute the file.
uint32_t executed_function(ExecutedText *x, const char *file, uint32_t line);

// Does the statement executed last end the script by exit or die? EXIT_SAYS: one
// that prints something.
typedef enum { EXIT_NONE, EXIT_SILENT, EXIT_SAYS } ExecutedExit;
ExecutedExit executed_exit(ExecutedText *x);

#endif
