// libtidy, with its messages classified by key.
//
// It reads a copy of the page in plain ASCII with tab size 1: every byte is one
// column then, whatever the encoding, and line and column give the byte offset.
// A message counts only if a tag starts right there.
//
// What it says about unclosed and misplaced tags is left out: it gives one of
// the two places, and its repairs are those of HTML 4 (<template>, <slot> and
// blocks in links alarm it).
//
// It is asked about pages that have an odd attribute value (html_value.h), and
// about all if the key "tidy" is on: it takes ten times as long as all else.
//
// It reads in a process of its own: some broken pages send it into endless
// recursion or make it overwrite its memory. What it said until then counts.
#include "oracle/html/html_tidy.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tidy/tidy.h>
#include <tidy/tidybuffio.h>

enum {
  TIDY_BYTES_MAX = 1 << 20, // larger pages are not shown to it
  TIDY_SECONDS_MAX = 2,
  TIDY_MEMORY_MAX = 512 << 20,
};

// One message, as it comes through the pipe.
typedef struct {
  char key[48];
  int line, column;
} PipedMessage;

typedef struct {
  const Balance *b;
  Faults *faults;
  ARRAY(uint32_t) lines; // where each starts
} Tidy;

// Messages about what html_token.c and html_balance.c decide, or about nothing
// that is wrong in the page.
static const char *const ours[] = {
    "ANCHOR_NOT_UNIQUE",
    "CANT_BE_NESTED",
    "COERCE_TO_ENDTAG",
    "CONTENT_AFTER_BODY",
    "CUSTOM_TAG_DETECTED",
    "DISCARDING_UNEXPECTED",
    "DOCTYPE_AFTER_TAGS",
    "DUPLICATE_FRAMESET",
    "ELEMENT_NOT_EMPTY",
    "FOUND_STYLE_IN_BODY",
    "ILLEGAL_NESTING",
    "INSERTING_TAG",
    "JOINING_ATTRIBUTE",
    "MALFORMED_COMMENT",
    "MALFORMED_COMMENT_DROPPING",
    "MALFORMED_COMMENT_EOS",
    "MALFORMED_COMMENT_WARN",
    "MISSING_DOCTYPE",
    "MISSING_ENDTAG_BEFORE",
    "MISSING_ENDTAG_FOR",
    "MISSING_ENDTAG_OPTIONAL",
    "MISSING_QUOTEMARK",
    "MISSING_QUOTEMARK_OPEN",
    "MISSING_STARTTAG",
    "MISSING_TITLE_ELEMENT",
    "MOVED_STYLE_TO_HEAD",
    "NESTED_EMPHASIS",
    "NOFRAMES_CONTENT",
    "NON_MATCHING_ENDTAG",
    "OBSOLETE_ELEMENT",
    "PREVIOUS_LOCATION",
    "REPEATED_ATTRIBUTE",
    "REPLACING_ELEMENT",
    "REPLACING_UNEX_ELEMENT",
    "SUSPECTED_MISSING_QUOTE",
    "TAG_NOT_ALLOWED_IN",
    "TOO_MANY_ELEMENTS",
    "TOO_MANY_ELEMENTS_IN",
    "TRIM_EMPTY_ELEMENT",
    "UNEXPECTED_ENDTAG",
    "UNEXPECTED_ENDTAG_ERR",
    "UNEXPECTED_ENDTAG_IN",
    "UNEXPECTED_END_OF_FILE",
    "UNEXPECTED_END_OF_FILE_ATTR",
    "UNEXPECTED_EQUALSIGN",
    "UNEXPECTED_GT",
    "UNEXPECTED_QUOTEMARK",
    "UNKNOWN_ELEMENT",
    "UNKNOWN_ELEMENT_LOOKS_CUSTOM",
    "UNKNOWN_ENTITY",
    "USING_BR_INPLACE_OF",
    "VENDOR_SPECIFIC_CHARS",
    "INVALID_SGML_CHARS",
};

static bool is_ours(const char *key) {
  for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
    if (strcmp(ours[i], key) == 0)
      return true;
  return strncmp(key, "STRING_", 7) == 0 || strncmp(key, "TEXT_", 5) == 0 ||
         strncmp(key, "FOOTNOTE_", 9) == 0;
}

// --- positions --------------------------------------------------------------

// A copy of the page that libtidy counts as we do: it skips control characters,
// and lone carriage returns end a line but not its columns.
static char *plain_copy(const char *page, size_t len) {
  char *copy = mem_alloc(len);
  for (size_t i = 0; i < len; i++) {
    unsigned char c = page[i];
    copy[i] = c >= 0x7f ? 'x' : c < ' ' && c != '\n' && c != '\t' ? ' ' : c;
  }
  return copy;
}

static void find_lines(Tidy *t, const char *page, size_t len) {
  array_push(&t->lines, 0);
  for (size_t i = 0; i < len; i++)
    if (page[i] == '\n')
      array_push(&t->lines, i + 1);
}

// The tag that starts at line and column, both counted from 1; NO_TOKEN: none.
static int32_t token_at(const Tidy *t, int line, int column) {
  const HtmlTokens *tokens = t->b->stack.tokens;
  if (line < 1 || column < 1 || (size_t)line > t->lines.len)
    return NO_TOKEN;
  size_t offset = (size_t)t->lines.items[line - 1] + column - 1;
  size_t low = 0, high = tokens->list.len;
  while (low < high) {
    size_t middle = (low + high) / 2;
    const HtmlToken *token = &tokens->list.items[middle];
    if (token->offset == offset)
      return middle;
    if (token->offset < offset)
      low = middle + 1;
    else
      high = middle;
  }
  return NO_TOKEN;
}

// --- messages ---------------------------------------------------------------

static bool is_bad_value(const char *key) {
  return strcmp(key, "BAD_ATTRIBUTE_VALUE") == 0 ||
         strcmp(key, "BAD_ATTRIBUTE_VALUE_REPLACED") == 0;
}

static void take(Tidy *t, const char *key, int line, int column) {
  bool value = is_bad_value(key);
  int32_t token = token_at(t, line, column);
  if (token == NO_TOKEN || is_ours(key))
    return;
  const HtmlToken *tag = stack_token(&t->b->stack, token);
  if (tag->kind != TOKEN_START || tag->broken || (value && !tag->odd))
    return;
  const char *message =
      value ? "libtidy: an attribute has a value it cannot have"
            : arena_printf(t->faults->arena, "libtidy: %s", key);
  faults_add_at(t->faults, value ? BAD_VALUE : TIDY_OTHER,
                tokens_name(t->b->stack.tokens, tag->element), message,
                tag->offset, tag->length, "this tag");
}

// --- the other process ------------------------------------------------------

static Bool TIDY_CALL on_message(TidyMessage m) {
  const int *out = tidyGetAppData(tidyGetMessageDoc(m));
  TidyReportLevel level = tidyGetMessageLevel(m);
  if (level != TidyWarning && level != TidyError)
    return no;
  PipedMessage message = {.line = tidyGetMessageLine(m),
                          .column = tidyGetMessageColumn(m)};
  snprintf(message.key, sizeof message.key, "%s", tidyGetMessageKey(m));
  if (write(*out, &message, sizeof message) != sizeof message)
    _exit(1);
  return no;
}

// Nothing it does may be seen or last.
static void confine(void) {
  struct rlimit seconds = {TIDY_SECONDS_MAX, TIDY_SECONDS_MAX}, none = {0, 0};
  int null = open("/dev/null", O_RDWR);
  dup2(null, STDOUT_FILENO);
  dup2(null, STDERR_FILENO);
  setrlimit(RLIMIT_CPU, &seconds);
  setrlimit(RLIMIT_CORE, &none);
  signal(SIGSEGV, SIG_DFL);
  signal(SIGABRT, SIG_DFL);
#ifndef __SANITIZE_ADDRESS__ // which maps more than that for itself
  struct rlimit memory = {TIDY_MEMORY_MAX, TIDY_MEMORY_MAX};
  setrlimit(RLIMIT_DATA, &memory);
#endif
}

static void parse(char *page, size_t len, int out) {
  TidyDoc doc = tidyCreate();
  TidyBuffer said, in;
  tidyBufInit(&said);
  tidyBufInit(&in);
  tidyBufAttach(&in, (byte *)page, len);
  tidySetErrorBuffer(doc, &said);
  tidySetAppData(doc, &out);
  tidySetMessageCallback(doc, on_message);
  tidyOptSetInt(doc, TidyTabSize, 1);
  tidyOptSetValue(doc, TidyInCharEncoding, "ascii");
  tidyOptSetInt(doc, TidyShowErrors, 10000);
  tidyParseBuffer(doc, &in);
}

// --- this one ---------------------------------------------------------------

static bool read_message(int in, PipedMessage *m) {
  size_t got = 0;
  while (got < sizeof *m) {
    ssize_t n = read(in, (char *)m + got, sizeof *m - got);
    if (n == 0 || (n < 0 && errno != EINTR))
      return false;
    got += n > 0 ? (size_t)n : 0;
  }
  m->key[sizeof m->key - 1] = '\0';
  return true;
}

static void listen_to(Tidy *t, char *page, size_t len) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return;
  pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    confine();
    parse(page, len, ends[1]);
    _exit(0);
  }
  close(ends[1]);
  PipedMessage m;
  while (pid > 0 && read_message(ends[0], &m))
    take(t, m.key, m.line, m.column);
  close(ends[0]);
  while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
    ;
}

void tidy_check(const Balance *b, const char *page, size_t len) {
  Faults *faults = b->faults;
  bool odd = faults->on[BAD_VALUE] && b->stack.tokens->odd;
  if ((!odd && !faults->on[TIDY_OTHER]) || len > TIDY_BYTES_MAX)
    return;
  Tidy t = {.b = b, .faults = faults};
  char *copy = plain_copy(page, len);
  find_lines(&t, copy, len);
  listen_to(&t, copy, len);
  array_release(&t.lines);
  free(copy);
}
