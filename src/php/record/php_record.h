// What the PHP extension leaves behind, as the rest of the program sees it: the
// map of every script it compiled, and the record of one request.
//
// The extension (php/ext) is told a directory by its ini setting culprit.dir.
// There it keeps
//
//   maps/<32 hex digits>.map   one per script and text: its statements,
//                              functions, blocks, edges, conditions, returns
//   maps/<16 hex digits>.text, .tokens   the text and its tokens
//                              (php/source/php_change.h, php/source/literals.h)
//   request.rec                the record of the request that the worker serves
//                              or served last; mapped while it runs, so that it
//                              is complete however the worker ends
//
// maps/ may be shared by several workers (a symbolic link).
// docs/internals/php-record.md describes the bytes; php/record/record_format.h
// is shared by writer and reader. Both files are untrusted: any bytes are
// either refused with a message or read within bounds.
#ifndef CULPRIT_PHP_RECORD_PHP_RECORD_H
#define CULPRIT_PHP_RECORD_PHP_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/entity.h"
#include "model/run.h"
#include "php/record/term.h"
#include "util/arena.h"
#include "util/err.h"

// --- the map of one script --------------------------------------------------

// Reads a map as a Unit. Statements are lines with an executable statement; an
// edge leads from statement to statement of one function (its blocks are the
// maximal straight lines of statements); conditions and returns as entity.h has
// them. Names and arrays lie in `arena`.
int php_map_read(const char *path, Unit *out, Arena *arena, Err *err);
// The same for the script of this id, in the directory of maps.
int php_unit_read(const char *maps, const UnitId *id, Unit *out, Arena *arena,
                  Err *err);
int php_map_parse(const void *data, size_t size, Unit *out, Arena *arena,
                  Err *err);

// --- the record of one request ----------------------------------------------

// What one script did: how often each of its entities was executed, as indexes
// into the unit's entities, ascending, executed ones only.
typedef struct {
  UnitId unit;
  const EntityCount *counts;
  size_t ncounts;
} ScriptHits;

// Which line wrote a piece of the page.
typedef enum {
  OUTPUT_PLAIN,    // printed by a statement on this line
  OUTPUT_TEMPLATE, // text outside <?php ?>, copied from the script: the piece's
                   // first byte stands on this line, and each newline in it is
                   // a newline of the script
  OUTPUT_CHANGED, // an output callback rewrote it; the line is the nearest that
                  // can be told
  OUTPUT_UNKNOWN  // nobody's line
} OutputKind;

// Bytes [offset, offset + length) of the body as it went to the client. Pieces
// are ascending, without gaps, and end where the body ends.
typedef struct {
  uint64_t offset, length;
  OutputKind kind;
  const char *file; // absolute path
  uint32_t line;
} OutputPiece;

// PHP's error levels as culprit sorts them; stable names by php_severity_name.
typedef enum {
  PHP_FATAL, // errors, uncaught exceptions, failed require
  PHP_WARNING,
  PHP_NOTICE,
  PHP_DEPRECATED,
  PHP_QUERY, // a database call failed; the message holds the SQL
  PHP_SEVERITIES
} PhpSeverity;
const char *php_severity_name(PhpSeverity s); // fatal, warning, ...

typedef struct {
  const char *file; // absolute path
  uint32_t line;
} PhpCaller;

// What a call sent to the world: a header, a cookie, a mail, a file.
typedef struct {
  const char *function; // header, setcookie, mail, fopen, fwrite, ...
  const char *text;     // its texts, one per line
} PhpSent;

typedef struct {
  PhpSeverity severity;
  const char *message; // as PHP words it, without its place
  const char *file;    // absolute path, "" if unknown
  uint32_t line;
  const char *sql; // PHP_QUERY: the statement, else NULL
  bool silenced;   // under @ or outside error_reporting
  bool caught;     // an exception that some catch took (not a failure)
  bool handled;    // the application's own error or exception handler took it
  PhpSent sent;    // by the call that the fault is about; NULLs: nothing was
  // The calls that led there, innermost first; of exceptions, queries and what
  // was sent.
  const PhpCaller *callers;
  size_t ncallers;
} PhpFault;

// A comparison that input took part in (CompareKind of record_format.h), or
// with shadows a decision that depends on input (COMPARE_BRANCH).
typedef struct {
  unsigned kind;
  bool held;
  const char *file; // absolute path
  uint32_t line;
  const char *left, *right; // the input, and what it was compared with; BRANCH:
                            // "", and the condition as text
  const PhpShadows *shadows; // BRANCH: where it comes from,
  uint32_t branch;           // and its index among the branches; else NULL, 0
} PhpCompare;

// What the closer look saw. A place is an index into the record's scripts and
// one into that unit's entities.
typedef struct {
  uint32_t script, entity;
} PhpSpot;

// One outcome of a relation.
typedef struct {
  PhpSpot statement, function;
  uint32_t site; // number in its function
  RelationOutcome outcome;
  unsigned kind;    // RelatedKind of record_format.h
  const char *text; // "`$a` equals `$b`"
} PhpRelation;

// A statement that defines and one that uses (PairKind of record_format.h);
// PAIR_CALL: a statement and the function that it called.
typedef struct {
  PhpSpot def, use;
  unsigned kind;
  const char *name; // of the variable; NULL: none, or not known
} PhpPair;

typedef struct {
  bool finished;      // the request came to its end: all of this is complete
  const char *script; // the entry script, absolute path
  const ScriptHits *scripts; // in the order they were first compiled
  size_t nscripts;
  const OutputPiece *pieces;
  size_t npieces;
  const PhpFault *faults; // in the order they happened
  size_t nfaults;
  // Who set the status of the response last, to 400 or more, as a fault with a
  // place, what was sent and callers; NULL: nobody.
  const PhpFault *status;
  const char *const *includes; // what include and require were asked for and
  size_t nincludes;            // found, absolute paths, once each
  const char *const *queries;  // with shadows: SQL that the database took, in
  size_t nqueries;             // order; long ones are cut
  const PhpCompare *compares;  // if collected; each once, in order
  size_t ncompares;
  const PhpShadows *shadows;    // empty if not collected
  const PhpRelation *relations; // if collected
  size_t nrelations;
  const PhpPair *pairs;
  size_t npairs;
  const char *note; // what is missing ("output map cut at 64 MB"), or NULL
  // The statement executed last: where the worker died if it did. An index into
  // scripts and one into that unit's entities; ENTITY_NONE: no statement yet.
  uint32_t last_script, last_entity;
} PhpRecord;

int php_record_read(const char *path, PhpRecord *out, Arena *arena, Err *err);
int php_record_parse(const void *data, size_t size, PhpRecord *out,
                     Arena *arena, Err *err);

#endif
