// The PHP extension "culprit": records what every request of a stock PHP 8.2
// did, into the directory that the ini setting culprit.dir names.
// php/record/php_record.h says what; this header is how the parts of the
// extension hang together.
//
//   culprit.c   the module: settings, start and end of a request, compilation
//   flow.c      one compiled function: its statements, blocks and edges
//   tuples.c    ... its conditions and calls
//   plan.c      a compiled script: numbers all that, bakes the numbers of
//               counters into its opcodes
//   kept.c      what was found out about texts compiled in earlier requests
//   map.c       writes the plan as a map, once per script and text
//   record.c    the mapped record: items, counters
//   count.c     opcode handlers: statements, edges, conditions
//   returns.c   what calls returned; failed database calls
//   output.c    which line wrote which byte of the page
//   faults.c    errors, exceptions, includes
//   sent.c      what was sent: headers, cookies, mail, files
//   compare.c   what input was compared with
//   shadow*.c   what values are made of, as terms over the input
//   close*.c    the closer look: relations of values, definitions and uses
//   change.c    experiments: a script with a changed text; its tokens
//
// No execute loop of our own. The script is compiled with a ZEND_EXT_STMT in
// front of every statement; its operands are unused and hold the numbers that
// its handler needs (the same goes for the other opcodes we look at), and
// handlers of just these opcodes are registered. All else runs at the full
// speed of the VM, and PHP calls do not nest on the C stack: recursion goes as
// deep as without us. Measured on bench/php/cpu.php: see
// docs/internals/php-record.md.
//
// ZEND_COMPILE_NO_BUILTINS is left alone on purpose: it turns strlen() and the
// like into calls with a frame of their own, which shows in the stack traces
// that applications print.
#ifndef PHP_CULPRIT_H
#define PHP_CULPRIT_H

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php.h"

#include "../record/record_format.h"

extern zend_module_entry culprit_module_entry;

#define CULPRIT_NONE UINT32_MAX

// --- what is collected ------------------------------------------------------

enum {
  COLLECT_STATEMENTS = 1, // and functions
  COLLECT_CONDITIONS = 2,
  COLLECT_RETURNS = 4,
  COLLECT_EDGES = 8, // and blocks
  COLLECT_OUTPUT = 16,
  COLLECT_ALL = 31,
  COLLECT_COMPARES = 32, // not part of all: it costs, and only exploring asks
  COLLECT_SHADOWS = 64,  // likewise; brings conditions with it
  COLLECT_CLOSE = 128,   // relations and pairs; brings statements with it
  COLLECT_TRY = 256      // tokens, and changed scripts; statements too
};

// --- the record (record.c) --------------------------------------------------

// A slot is a counter: a number of 4-byte words from the start of the record.
typedef struct {
  uint32_t *base; // the mapped record; NULL: not recording
  PhpRecordHeader *header;
  uint32_t nslots; // how many there are from FIRST_SLOT on
  unsigned collect;
  int handle;     // of op_array->reserved[]
  bool recording; // a request is
  bool forked;    // a child: counts, but appends nothing
} culprit_globals;

extern culprit_globals culprit;

// What lies before is the record's header.
#define FIRST_SLOT ((uint32_t)(sizeof(PhpRecordHeader) / 4))

static zend_always_inline void culprit_count(uint32_t slot) {
  if (EXPECTED(slot - FIRST_SLOT < culprit.nslots)) {
    uint32_t *c = culprit.base + slot;
    *c += *c != UINT32_MAX;
  }
}

// Starts the record of a request in directory `dir`, over that of the last one.
int culprit_record_begin(const char *dir);
void culprit_record_end(void);
// At the end of the process: the record is complete, its memory goes.
void culprit_record_close(void);
// A zeroed item of `size` bytes; NULL if there is no room. It counts once it
// was published, which comes before the next one is made.
void *culprit_item(ItemTag tag, size_t size);
void culprit_publish(void *item);
// Where the application is a copy of one elsewhere (culprit.inside of
// culprit.outside), everything recorded has the names of the original.
void culprit_names_start(const char *inside, const char *outside);
// The message with the original's names; to be released.
zend_string *culprit_renamed(zend_string *message);
// `path`, or in `room` (MAXPATHLEN bytes) its absolute path if it is relative,
// its name in the original if there is one.
const char *culprit_absolute(const char *path, size_t length, char *room);
// The number of a file; the path is made absolute.
uint32_t culprit_file(const char *path, size_t length);
void culprit_ref(ItemTag tag, uint32_t file);
void culprit_include(uint32_t file); // each once a request
void culprit_note(const char *text); // each text once a request

// --- memory that lives as long as the request (record.c) --------------------

void *culprit_alloc(size_t size); // zeroed
void culprit_free_all(void);

// --- plans (plan.c) ---------------------------------------------------------

enum { ACT_ENTRY = 1, ACT_LEADER = 2, ACT_TEMPLATE = 4 };

typedef struct {
  uint32_t from; // block number; CULPRIT_NONE: entry
  uint32_t slot;
} culprit_edge;

// What a statement does besides being counted.
typedef struct {
  uint32_t flags;
  uint32_t function;          // ENTRY: slot
  uint32_t block, block_slot; // LEADER: number in its function, slot
  uint32_t nedges;            // LEADER: edges into it
  const culprit_edge *edges;
  uint32_t first, nlines; // TEMPLATE: slots of its lines
} culprit_act;

// A call site.
typedef struct {
  uint32_t slot;    // of its first class; the others follow in order
  uint32_t classes; // bit = ReturnClass
  uint64_t value;   // hash of the first value
  bool seen;
  unsigned char at[CLASSES]; // where each class lies, from `slot` on
} culprit_site;

// What the closer look needs of a function, by number of the opcode.
typedef struct {
  uint32_t slot;              // of the function
  const uint32_t *statements; // slot of the statement it belongs to; 0: none
  uint16_t *seen;             // outcomes of its relation that were told
  uint32_t (*last)[2];        // writers of its last pairs, which were told
} culprit_close;

// A compiled function: op_array->reserved[culprit.handle].
typedef struct {
  uint32_t file;     // in the record
  uint32_t frame;    // where its culprit_frame lies (offset of a variable)
  uint32_t entry_op; // number of the first statement; `last` if there is none
  uint32_t line;     // where it starts
  uint32_t nblocks;
  const uint32_t *leave;      // per block: slot of the edge that leaves it
  const uint32_t *branch;     // per opcode: slot of outcome 0 where the opcode
                              // itself has no room for it; NULL: none
  const culprit_close *close; // NULL: not looked at
} culprit_function;

// In the frame of every call of a function, in place of a temporary.
typedef struct {
  uint32_t line; // of the statement being executed; FRAME_TEMPLATE
  uint32_t block;
  uint32_t loop; // a foreach over an object whose outcome is not known yet:
                 // number of its opcode + 1; FRAME_RESET: it has not fetched
  uint32_t unused;
} culprit_frame;

#define FRAME_TEMPLATE 0x80000000u // in `line`: copies text to the output
#define FRAME_RESET 0x80000000u    // in `loop`

static zend_always_inline culprit_function *
culprit_function_of(const zend_execute_data *ex) {
  return ex->func->op_array.reserved[culprit.handle];
}

static zend_always_inline culprit_frame *
culprit_frame_of(zend_execute_data *ex, const culprit_function *f) {
  return (culprit_frame *)ZEND_CALL_VAR(ex, f->frame);
}

// Has the frame come to its first statement? Before, culprit_frame is garbage.
static zend_always_inline bool culprit_has_begun(const zend_execute_data *ex,
                                                 const culprit_function *f) {
  const zend_op_array *code = &ex->func->op_array;
  const zend_op *op = ex->opline;
  if (UNEXPECTED(op->opcode == ZEND_HANDLE_EXCEPTION))
    op = EG(opline_before_exception);
  return op && op > code->opcodes + f->entry_op &&
         op < code->opcodes + code->last;
}

extern const culprit_act *const *culprit_acts; // by number
extern culprit_site *culprit_sites;            // by number
extern uint32_t culprit_nsites;

// A piece of text outside <?php ?>.
typedef struct {
  uint32_t line;
  size_t length;
  const char *text; // dead after the compilation
} culprit_inline;

typedef struct {
  const char *path;
  size_t path_length;
  const char *text;
  size_t length;
  const culprit_inline *pieces; // in order
  size_t npieces;
  const uint32_t *switches; // lines with `switch` or `match`, ascending
  size_t nswitches;
  uint64_t hash; // of the text
  bool is_kept;  // what is found out about it is; not of texts given to eval
  bool changed;  // an experiment: no map is written
} culprit_source;

// Plans all functions of a script just compiled and makes them count.
void culprit_plan(const culprit_source *source, zend_op_array **functions,
                  size_t n);
void culprit_plan_reset(void); // at the end of a request

// --- earlier requests (kept.c) ----------------------------------------------

// What the scanner told of a text.
typedef struct {
  const culprit_inline *pieces;
  size_t npieces;
  const uint32_t *switches;
  size_t nswitches;
} culprit_text;

// Reads the file that is to be compiled. False: that is left to PHP.
bool culprit_text_hash(zend_file_handle *file, uint64_t *hash);
const culprit_text *culprit_text_find(uint64_t hash); // NULL: not known
void culprit_text_keep(uint64_t hash, const culprit_text *text);
void culprit_kept_close(void); // at the end of the process
uint64_t culprit_hash(const char *text, size_t length);

// --- maps (map.c) -----------------------------------------------------------

typedef struct {
  uint32_t from, to; // CULPRIT_NONE: entry, leave
} map_edge;

typedef struct {
  uint32_t line, kind, outcomes, block;
} map_condition;

typedef struct {
  uint32_t line, classes, block;
  const char *callee; // NULL: unknown
  size_t callee_length;
} map_call;

typedef struct {
  const char *name;
  uint32_t line;
  uint32_t nblocks;
  const uint32_t *block_lines;
  const map_edge *edges;
  uint32_t nedges;
  const map_condition *conditions;
  uint32_t nconditions;
  const map_call *calls;
  uint32_t ncalls;
} map_function;

typedef struct {
  uint32_t line, function;
  const uint32_t *blocks; // in the whole map, ascending
  uint32_t nblocks;
} map_statement;

typedef struct {
  unsigned char id[16];
  uint64_t source_hash;
  const char *path;
  size_t path_length;
  const map_function *functions;
  uint32_t nfunctions;
  const map_statement *statements;
  uint32_t nstatements, nentities;
} culprit_map;

// Did we write it already, or find it?
bool culprit_map_is_known(const culprit_map *m);
void culprit_map_close(void); // at the end of the process
// Writes the map unless it is there.
void culprit_map_write(const char *dir, const culprit_map *m);

// --- handlers (count.c, returns.c) ------------------------------------------

void culprit_count_start(void); // registers the handlers of opcodes
// Lets the VM run this opcode without us.
void culprit_make_native(zend_op *op);
void culprit_leave_all(void); // a fatal error: every frame is left here

void culprit_returns_start(void);
// The function in `ex` returns `value`; NULL: a new object.
void culprit_returned(zend_execute_data *ex, zval *value);
void culprit_site_value(uint32_t site, zval *value);
void culprit_returns_begin(void);
void culprit_returns_reset(void);
void culprit_returns_close(void); // at the end of the process

// --- output (output.c) ------------------------------------------------------

void culprit_output_start(void); // hooks, once a process
void culprit_output_begin(void);
void culprit_output_end(void);
// Around a call of an internal function.
void culprit_output_before(zend_execute_data *ex);
void culprit_output_after(zend_execute_data *ex, zval *value);
// PHP is about to print an error that has its cause here.
void culprit_output_error(const char *file, size_t length, uint32_t line);
// A function called by an output buffer begins; arguments in `ex`.
void culprit_output_callback(zend_execute_data *ex);

// --- operands ---------------------------------------------------------------

// The value an opcode works on: constant, temporary or variable, behind
// references; IS_UNDEF where it has none.
static inline zval *culprit_operand(zend_execute_data *ex, const zend_op *op,
                                    zend_uchar type, znode_op node) {
  static zval nothing; // IS_UNDEF
  if (type == IS_UNUSED)
    return &nothing;
  zval *value =
      type == IS_CONST ? RT_CONSTANT(op, node) : ZEND_CALL_VAR(ex, node.var);
  if (Z_TYPE_P(value) == IS_INDIRECT)
    value = Z_INDIRECT_P(value);
  ZVAL_DEREF(value);
  return value;
}

#define OPERAND(ex, op, n) culprit_operand(ex, op, op->op##n##_type, op->op##n)

// --- comparisons (compare.c) ------------------------------------------------

void culprit_compare_start(void); // registers the handlers of opcodes
void culprit_compare_begin(void);
// An internal function has returned; its arguments are still there.
void culprit_compare_call(zend_execute_data *ex);
// An opcode that may be a comparison is about to run.
void culprit_compare_op(zend_execute_data *ex);

// --- shadows (shadow.h) -----------------------------------------------------

void culprit_shadow_start(void); // registers the handlers of opcodes
void culprit_shadow_begin(void);
void culprit_shadow_end(void);
// BOOL, STRLEN and COUNT, before the VM.
int culprit_shadow_bool(zend_execute_data *ex);
int culprit_shadow_strlen(zend_execute_data *ex);
int culprit_shadow_count(zend_execute_data *ex);
// A condition of the source was decided by this value.
void culprit_shadow_decided(const zval *value, bool outcome, uint32_t counter);
// Around a call of an internal function: the terms of its arguments, and what
// they make of the result. `model`: what culprit_shadow_models found.
typedef struct {
  uint32_t terms[4];
  unsigned n; // how many of the arguments were looked at
  bool any;   // has one of them a term?
} culprit_shadow_args;
void culprit_shadow_before(zend_execute_data *ex, culprit_shadow_args *args);
void culprit_shadow_after(zend_execute_data *ex, zval *value,
                          const culprit_shadow_args *args, const void *model);

// What is known of an internal function: its reserved[culprit.handle].
typedef struct culprit_internal {
  const void *database; // returns.c
  const void *sent;     // sent.c
  const void *model;    // shadow_call.c
  struct culprit_internal *next;
} culprit_internal;
culprit_internal *culprit_internal_of(zend_function *fn); // makes it
void culprit_shadow_models(void); // marks the functions it knows

// --- the closer look (close.h) -----------------------------------------------

void culprit_close_start(void); // registers the handlers of opcodes
void culprit_close_begin(void);
void culprit_close_end(void);
void culprit_close_free(void); // at the end of the process
// The frame is left by an exception.
void culprit_close_leave(zend_execute_data *ex);
// An internal function has written variables of its caller.
void culprit_close_called(zend_execute_data *ex);

// --- experiments (change.c) --------------------------------------------------

typedef struct {
  PhpToken *items;
  size_t n, room;
} culprit_tokens;

void culprit_change_begin(const char *dir); // reads what is to be changed
void culprit_change_end(void);
// Gives the script its changed text, if it is the one. False: it is as it was.
bool culprit_change_apply(zend_file_handle *file);
// Called by the scanner's listener.
void culprit_token_add(culprit_tokens *l, int token, uint32_t line,
                       const char *text, size_t length);
// Writes the text and the tokens of a script unless they are there.
void culprit_tokens_write(const char *dir, const char *text, size_t length,
                          const culprit_tokens *l);
void culprit_tokens_close(void); // at the end of the process

// --- all scripts (survey.c) -------------------------------------------------

// Compiles the scripts that the request lists, if it is for PHP_SURVEY_FILE.
void culprit_survey(const char *dir);

// --- faults (faults.c) ------------------------------------------------------

// As PhpSeverity of php/record/php_record.h.
enum {
  SEVERITY_FATAL,
  SEVERITY_WARNING,
  SEVERITY_NOTICE,
  SEVERITY_DEPRECATED,
  SEVERITY_QUERY
};

void culprit_faults_start(void);
void culprit_faults_begin(void);
ItemFault *culprit_fault(uint32_t severity, uint32_t flags, uint32_t file,
                         uint32_t line, zend_string *message, zend_string *sql);
// An exception leaves the outermost frame.
void culprit_uncaught(zend_object *exception);

// The file and line of the statement being executed; file NO_FILE: none.
void culprit_place(uint32_t *file, uint32_t *line);
// Adds the calls that led there to the fault told last.
void culprit_callers(void);

// --- what is sent (sent.c) --------------------------------------------------

void culprit_sent_start(void); // marks the functions it knows
// Adds to the fault told last what the call under way sends. False: nothing.
bool culprit_sent(void);
// Around a call of such a function: tells who sets the status of the response.
int culprit_sent_before(const void *call);
void culprit_sent_after(zend_execute_data *ex, const void *call, int before);

#endif
