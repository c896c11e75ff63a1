// Experiments (culprit.collect=try): the text of one script is changed before
// PHP compiles it, as the file PHP_CHANGE_FILE says. The tokens of every script
// are listed, so that who makes experiments knows what there is to change, and
// so that output can be found in the literals it was made of. See PhpChangeHeader and PhpToken in ../record/record_format.h.
//
// PHP's own scanner says what a token is, and its compiler what a change means:
// nothing of either is done here. A request without a change costs what it does
// without us.
#include "php_culprit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "zend_language_parser.h"
#include "zend_stream.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

// The change of this request; its path and text stand behind the header.
static PhpChangeHeader *change;
static uint64_t steps;
static user_opcode_handler_t next_statement, next_jump;
static bool has_jump_handler;

// --- steps ------------------------------------------------------------------

// A changed program may loop for ever. A fatal error ends it: every oracle sees
// that, and no handler of the application does.
static void count_step(void) {
  if (EXPECTED(++steps <= change->steps))
    return;
  zend_error_noreturn(E_ERROR, PHP_CHANGE_STEPS " %llu",
                      (unsigned long long)change->steps);
}

static int on_statement(zend_execute_data *ex) {
  count_step();
  return next_statement ? next_statement(ex) : ZEND_USER_OPCODE_DISPATCH;
}

// Loops without a statement in them.
static int on_jump(zend_execute_data *ex) {
  count_step();
  return next_jump ? next_jump(ex) : ZEND_USER_OPCODE_DISPATCH;
}

static void watch_steps(void) {
  if (!change->steps)
    return;
  next_statement = zend_get_user_opcode_handler(ZEND_EXT_STMT);
  next_jump = zend_get_user_opcode_handler(ZEND_JMPNZ);
  zend_set_user_opcode_handler(ZEND_EXT_STMT, on_statement);
  zend_set_user_opcode_handler(ZEND_JMPNZ, on_jump);
  has_jump_handler = true;
  steps = 0;
}

static void unwatch_steps(void) {
  if (!has_jump_handler)
    return;
  zend_set_user_opcode_handler(ZEND_EXT_STMT, next_statement);
  zend_set_user_opcode_handler(ZEND_JMPNZ, next_jump);
  has_jump_handler = false;
}

// --- the change -------------------------------------------------------------

static bool is_whole(const PhpChangeHeader *h, size_t size) {
  return size >= sizeof *h && h->magic == PHP_CHANGE_MAGIC &&
         h->path_length <= size && h->text_length <= size &&
         sizeof *h + (size_t)h->path_length + h->text_length == size;
}

static PhpChangeHeader *read_change(int fd) {
  struct stat st;
  if (fstat(fd, &st) || st.st_size < (off_t)sizeof *change ||
      st.st_size > PHP_CHANGE_MAX)
    return NULL;
  PhpChangeHeader *h = malloc((size_t)st.st_size);
  if (h && read(fd, h, (size_t)st.st_size) == st.st_size &&
      is_whole(h, (size_t)st.st_size))
    return h;
  free(h);
  return NULL;
}

void culprit_change_begin(const char *dir) {
  char path[MAXPATHLEN];
  if (!(culprit.collect & COLLECT_TRY))
    return;
  snprintf(path, sizeof path, "%s/%s", dir, PHP_CHANGE_FILE);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return;
  change = read_change(fd);
  close(fd);
  if (change)
    watch_steps();
}

void culprit_change_end(void) {
  unwatch_steps();
  free(change);
  change = NULL;
}

static bool is_named(const char *path, size_t length) {
  char room[MAXPATHLEN];
  const char *full = culprit_absolute(path, length, room);
  return strlen(full) == change->path_length &&
         !memcmp(full, change + 1, change->path_length);
}

// Found without opening it: a file that is not there is PHP's to report.
static bool is_script(const zend_file_handle *file) {
  zend_string *name = file->opened_path ? file->opened_path : file->filename;
  if (!name)
    return false;
  zend_string *full = zend_resolve_path(name);
  bool found = full && is_named(ZSTR_VAL(full), ZSTR_LEN(full));
  if (full)
    zend_string_release(full);
  return found;
}

static void replace(zend_file_handle *file) {
  const PhpChangeHeader *h = change;
  const char *text = (const char *)(h + 1) + h->path_length;
  size_t end = (size_t)h->offset + h->length,
         n = file->len - h->length + h->text_length;
  char *changed = emalloc(n + ZEND_MMAP_AHEAD);
  memcpy(changed, file->buf, h->offset);
  memcpy(changed + h->offset, text, h->text_length);
  memcpy(changed + h->offset + h->text_length, file->buf + end,
         file->len - end);
  memset(changed + n, 0, ZEND_MMAP_AHEAD);
  efree(file->buf);
  file->buf = changed;
  file->len = n;
}

bool culprit_change_apply(zend_file_handle *file) {
  char *text;
  size_t length;
  if (EXPECTED(!change) || !is_script(file) ||
      zend_stream_fixup(file, &text, &length) == FAILURE)
    return false;
  if (change->hash != XXH3_64bits(file->buf, file->len) ||
      change->offset > file->len ||
      change->length > file->len - change->offset) {
    culprit_note("the script is not the one to be changed");
    return false;
  }
  replace(file);
  return true;
}

// --- tokens -----------------------------------------------------------------

static uint32_t kind_of(int token) {
  switch (token) {
  case T_INLINE_HTML:
    return TOKEN_HTML;
  case T_CONSTANT_ENCAPSED_STRING:
    return TOKEN_STRING;
  case T_ENCAPSED_AND_WHITESPACE:
    return TOKEN_STRING_PART;
  case T_VARIABLE:
    return TOKEN_VARIABLE;
  case T_LNUMBER:
  case T_DNUMBER:
    return TOKEN_NUMBER;
  case T_STRING:
  case T_NAME_QUALIFIED:
  case T_NAME_FULLY_QUALIFIED:
  case T_NAME_RELATIVE:
    return TOKEN_NAME;
  default:
    return TOKEN_OTHER;
  }
}

// Nothing that the compiler sees.
static bool is_blank(int token) {
  return token == END || token == T_WHITESPACE || token == T_COMMENT ||
         token == T_DOC_COMMENT;
}

// Experiments change them; the literals among them are what output and queries
// were made of (php/source/literals.h).
static bool are_collected(void) {
  return culprit.collect & (COLLECT_TRY | COLLECT_OUTPUT);
}

void culprit_token_add(culprit_tokens *l, int token, uint32_t line,
                       const char *text, size_t length) {
  const char *start = (const char *)LANG_SCNG(yy_start);
  if (!are_collected() || is_blank(token) || text < start ||
      text - start > UINT32_MAX || length > UINT32_MAX ||
      (l->n && text - start < l->items[l->n - 1].offset +
                                  (ptrdiff_t)l->items[l->n - 1].length))
    return; // the last: scanned a second time, as a heredoc is
  if (l->n == l->room) {
    size_t room = l->room ? l->room * 2 : 256;
    PhpToken *grown = realloc(l->items, room * sizeof *grown);
    if (!grown)
      return;
    l->items = grown;
    l->room = room;
  }
  l->items[l->n++] = (PhpToken){.offset = (uint32_t)(text - start),
                                .length = (uint32_t)length,
                                .line = line,
                                .kind = kind_of(token)};
}

static bool write_whole(const char *path, const void *bytes, size_t size) {
  char other[MAXPATHLEN + 32];
  snprintf(other, sizeof other, "%s.%ld", path, (long)getpid());
  int fd = open(other, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0)
    return false;
  bool good = write(fd, bytes, size) == (ssize_t)size;
  good = !close(fd) && good && !rename(other, path);
  if (!good)
    unlink(other);
  return good;
}

// The hashes of texts that are known to be there.
static HashTable listed;
static bool has_listed;

static bool is_listed(uint64_t hash) {
  if (!has_listed)
    zend_hash_init(&listed, 64, NULL, NULL, 1);
  has_listed = true;
  return !zend_hash_index_add_empty_element(&listed, (zend_ulong)hash);
}

void culprit_tokens_close(void) {
  if (has_listed)
    zend_hash_destroy(&listed);
  has_listed = false;
}

void culprit_tokens_write(const char *dir, const char *text, size_t length,
                          const culprit_tokens *l) {
  char path[MAXPATHLEN];
  if (!are_collected() || !l->n)
    return;
  uint64_t hash = XXH3_64bits(text, length);
  int n = snprintf(path, sizeof path, "%s/%s", dir, PHP_MAPS_DIR);
  if (n >= (int)sizeof path - 40 || is_listed(hash))
    return;
  mkdir(path, 0777);
  char *end = path + n;
  size_t room = sizeof path - (size_t)n;
  snprintf(end, room, "/%016llx.tokens", (unsigned long long)hash);
  if (!access(path, R_OK))
    return;
  snprintf(end, room, "/%016llx.text", (unsigned long long)hash);
  if (!write_whole(path, text, length))
    return;
  snprintf(end, room, "/%016llx.tokens", (unsigned long long)hash);
  write_whole(path, l->items, l->n * sizeof *l->items);
}
