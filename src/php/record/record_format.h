// The bytes that the PHP extension writes and php/record (php_map.c,
// php_record.c) reads:
// the map of a script and the record of a request. docs/internals/php-record.md
// explains them. Numbers are in the byte order of the machine: writer and
// reader share one.
//
// A record is a header and tagged items, each a multiple of 8 bytes long. It is
// mapped while the request runs: `used` moves behind an item only when the item
// is complete, counters are incremented in place. An item of an unknown tag is
// skipped.
//
// A map is a header and, as LEB128 numbers and bytes,
//
//   path          length, bytes
//   functions     how many; of each: name (length, bytes), line,
//     blocks      how many; of each: line
//     edges       how many; of each: from, to (block number + 1; 0: entry,
//                 leave)
//     conditions  how many; of each: line, ConditionKind, outcomes, block
//     calls       how many; of each: line, callee (length, bytes; empty:
//                 unknown), set of return classes (bit = ReturnClass), block
//   statements    how many; of each: line as difference to the one before,
//                 function, how many blocks it stands in, and these (as
//                 numbers of blocks in the whole map)
//
// Entities are numbered in this order: a function, its blocks, its edges, the
// outcomes of its conditions, the classes of its calls; the next function; the
// statements. Counter i of a record is how often entity i was executed. `block`
// is a number in the function, plus one; 0: none.
#ifndef CULPRIT_PHP_RECORD_RECORD_FORMAT_H
#define CULPRIT_PHP_RECORD_RECORD_FORMAT_H

#include <stdint.h>

#define PHP_MAP_MAGIC 0x50414d504850554cull    // "LUPHPMAP"
#define PHP_RECORD_MAGIC 0x434552504850554cull // "LUPHPREC"
#define PHP_FORMAT_VERSION 1u

#define PHP_MAX_ENTITIES (1u << 24) // of one script

#define PHP_RECORD_FILE "request.rec"
#define PHP_MAPS_DIR "maps"
#define PHP_CHANGE_FILE "change"

// A list of scripts to be compiled: its first line is PHP, the others are paths.
#define PHP_SURVEY_FILE "survey.php"
#define PHP_SURVEY_MAX (4 << 20)

// --- experiments (culprit.collect=try) --------------------------------------

#define PHP_CHANGE_MAGIC 0x474e43504850554cull // "LUPHPCNG"
#define PHP_CHANGE_MAX (1 << 20)               // bytes of the file
// The fatal error that ends a request after too many statements.
#define PHP_CHANGE_STEPS "culprit: the changed program made more steps than"

// The file DIR/change, read at the start of each request: what is to be changed
// in the text of one script before it is compiled. The script's path and the
// new text follow. No file: nothing.
typedef struct {
  uint64_t magic;
  uint64_t hash;  // XXH3 of the script's text; of another text nothing changes
  uint64_t steps; // statements that the request may execute; 0: any number
  uint32_t offset, length; // the bytes that the new text replaces
  uint32_t path_length, text_length;
} PhpChangeHeader;

typedef enum {
  TOKEN_OTHER,  // operators, keywords, punctuation: its text says what it is
  TOKEN_HTML,   // text outside of <?php ?>
  TOKEN_STRING, // with its quotes
  TOKEN_STRING_PART, // of a string with variables in it, or a heredoc
  TOKEN_VARIABLE,
  TOKEN_NUMBER,
  TOKEN_NAME, // of a function, class, constant, property
  TOKEN_KINDS
} PhpTokenKind;

// maps/<XXH3 of the script's text, 16 digits>.tokens: an array of these, in the
// order of the text, without white space and comments. The text itself is in
// the file that ends in .text, written before it.
typedef struct {
  uint32_t offset, length, line, kind; // PhpTokenKind
} PhpToken;

typedef struct {
  uint64_t magic;
  uint32_t version;
  uint32_t nentities;
  uint64_t size;     // of the whole file, this header included
  uint64_t checksum; // XXH3 of what follows the header, seeded with source_hash
  uint64_t source_hash; // XXH3 of the script's text
  unsigned char id[16];
} PhpMapHeader;

// How a condition stands in the source; names in record.c.
typedef enum {
  CONDITION_IF,
  CONDITION_LOOP,
  CONDITION_FOREACH,
  CONDITION_SWITCH, // and match
  CONDITION_TERNARY,
  CONDITION_COALESCE, // outcome 1: the left side is there
  CONDITION_NULLSAFE, // outcome 1: there is an object
  CONDITION_OPERAND,  // of && and ||
  CONDITION_KINDS
} ConditionKind;

// Bits of a call's classes: ReturnClass of model/entity.h under names that do
// not clash with PHP's.
enum {
  CLASS_NULL,
  CLASS_NON_NULL,
  CLASS_ZERO,
  CLASS_NON_ZERO,
  CLASS_NEGATIVE,
  CLASS_TRUE,
  CLASS_FALSE,
  CLASS_NAN,
  CLASS_EMPTY,
  CLASS_NON_EMPTY,
  CLASS_CONSTANT,
  CLASS_NON_CONSTANT,
  CLASSES
};

typedef struct {
  uint64_t magic;
  uint32_t version;
  uint32_t finished; // 1: the request came to its end
  uint64_t used;     // bytes of the file that belong to this request
  uint32_t last;     // the counter of the statement executed last, as number of
                     // 4-byte words from the start of the file; 0: none yet
  uint32_t reserved[9];
} PhpRecordHeader;

typedef enum {
  ITEM_FILE = 1, // a path; files are numbered in order of their items
  ITEM_ENTRY,    // the entry script
  ITEM_SCRIPT,   // a script and its counters
  ITEM_PIECE,    // of the output
  ITEM_FAULT,
  ITEM_INCLUDE,
  ITEM_NOTE,
  ITEM_COMPARE,  // of input with something; only if that is collected
  ITEM_TERM,     // shadows, only if collected; numbered from 1 in order
  ITEM_BRANCH,   // a decision that a term took
  ITEM_KEPT,     // what the session keeps at the end: a name and a term
  ITEM_OPAQUE,   // calls that no term stands for, by function
  ITEM_RELATION, // the closer look, only if collected
  ITEM_PAIR,
  ITEM_CALLERS, // of the fault before it
  ITEM_SENT,    // the same
  ITEM_QUERY    // that the database took; only with shadows
} ItemTag;

typedef struct {
  uint32_t tag;
  uint32_t size; // of the whole item, this head included; a multiple of 8
} ItemHead;

#define NO_FILE UINT32_MAX

// FILE, NOTE and QUERY. The bytes follow.
typedef struct {
  ItemHead head;
  uint32_t length;
  uint32_t reserved;
} ItemText;

// ENTRY and INCLUDE.
typedef struct {
  ItemHead head;
  uint32_t file;
  uint32_t reserved;
} ItemRef;

// The counters follow: nentities numbers of 32 bits.
typedef struct {
  ItemHead head;
  unsigned char id[16];
  uint32_t file;
  uint32_t nentities;
} ItemScript;

typedef struct {
  ItemHead head;
  uint64_t length;
  uint32_t file; // NO_FILE: nobody's
  uint32_t line;
  uint32_t kind; // OutputKind
  uint32_t reserved;
} ItemPiece;

enum {
  FAULT_SILENCED = 1,
  FAULT_CAUGHT = 2,
  FAULT_HANDLED = 4,
  FAULT_REPLACED = 8, // told again by a later item: not a fault of its own
  FAULT_HAS_SQL = 16,
  FAULT_STATUS = 32 // no fault: a call that set the status of the response
};

// The bytes of the message and of the SQL follow.
typedef struct {
  ItemHead head;
  uint32_t severity; // PhpSeverity
  uint32_t flags;
  uint32_t file;
  uint32_t line;
  uint32_t message_length;
  uint32_t sql_length;
} ItemFault;

// The calls that led to the fault, innermost first, its own place left out.
// `count` pairs of file and line follow.
typedef struct {
  ItemHead head;
  uint32_t count;
  uint32_t reserved;
} ItemCallers;

// What the call that the fault is about sent: its name and the texts it was
// given, one per line. Their bytes follow.
typedef struct {
  ItemHead head;
  uint32_t function_length;
  uint32_t text_length;
} ItemSent;

// How input was compared. ABSENT: a key was looked up that the input does not
// have; left is the array ("_GET"), right the key.
typedef enum {
  COMPARE_EQUAL,
  COMPARE_LESS, // or equal
  COMPARE_GREATER,
  COMPARE_CONTAINS,
  COMPARE_STARTS,
  COMPARE_ENDS,
  COMPARE_ABSENT,
  COMPARE_KINDS, // of items
  // Not written as such: a branch of the shadows, to readers of comparisons.
  COMPARE_BRANCH = COMPARE_KINDS
} CompareKind;

// The bytes of both operands follow, the input's first.
typedef struct {
  ItemHead head;
  uint32_t kind;    // CompareKind
  uint32_t outcome; // 1: it held; 0: it did not, or that was not looked at
  uint32_t file;
  uint32_t line;
  uint32_t left_length;
  uint32_t right_length;
} ItemCompare;

// Terms: what the values of a request are made of
// (docs/internals/php-record.md).
typedef enum {
#define TERM(name, function, least, most) TERM_##name,
#include "term_ops.def"
#undef TERM
  TERM_OPS
} TermOp;

typedef enum {
  VALUE_NULL,
  VALUE_FALSE,
  VALUE_TRUE,
  VALUE_INT,
  VALUE_FLOAT,
  VALUE_STRING,
  VALUE_TYPES
} ValueType;

enum { TERM_ARGS = 4 };

// The bytes of the name and of the string follow: VAR "POST.user" and OPAQUE
// have a name; VAR, CONST and OPAQUE their value in this request. Of all others
// the value is told for checking: a string's length only.
typedef struct {
  ItemHead head;
  uint16_t op;   // TermOp
  uint8_t type;  // ValueType
  uint8_t nargs; // arguments are terms before this one; 0: none (LIST)
  uint32_t args[TERM_ARGS];
  uint32_t name_length;
  uint64_t value; // INT; the bits of a FLOAT; length of a STRING
} ItemTerm;

// `counter`: that of the outcome, as PhpRecordHeader.last; 0 or beyond: none,
// the decision is no condition of the source (a division, a key looked up).
typedef struct {
  ItemHead head;
  uint32_t term;
  uint32_t outcome; // 1: it was true
  uint32_t counter;
  uint32_t file;
  uint32_t line;
  uint32_t reserved;
} ItemBranch;

// KEPT: `number` is the term; OPAQUE: how often. The name's bytes follow.
typedef struct {
  ItemHead head;
  uint32_t number;
  uint32_t length;
} ItemNamed;

// RELATION: an outcome that was seen, once a request. Statements and functions
// are given by their counters, as in PhpRecordHeader.last.
typedef enum {
  RELATED_COMPARE,
  RELATED_STORE,
  RELATED_RETURN,
  RELATED_KINDS
} RelatedKind;

// The bytes of the clause follow.
typedef struct {
  ItemHead head;
  uint32_t statement, function;
  uint32_t site;    // number of its opcode in the function
  uint32_t outcome; // RelationOutcome of model/entity.h
  uint32_t kind;    // RelatedKind
  uint32_t length;
} ItemRelation;

// PAIR: a value was written and used, once a request.
typedef enum {
  PAIR_VARIABLE,
  PAIR_RETURNED, // `def` returned it to `use`
  PAIR_CALL,     // no value: statement `def` called function `use`
  PAIR_KINDS
} PairKind;

// The bytes of the variable's name follow; none: it has no name.
typedef struct {
  ItemHead head;
  uint32_t def, use;
  uint32_t kind; // PairKind
  uint32_t length;
} ItemPair;

#endif
