// libtidy, with its messages classified by key.
//
// It reads the page as Latin 1 with tab size 1: every byte is one column then,
// whatever the encoding, and line and column give the byte offset. A message
// counts only if a tag starts right there, or a text lies there.
//
// What it says about unclosed and misplaced tags is left out: it gives one of
// the two places, and its repairs are those of HTML 4 (<template>, <slot> and
// blocks in links alarm it).
//
// It is asked about pages that have an odd attribute value (html_value.h), and
// about all if the key "tidy" is on: it takes ten times as long as all else.
//
// Limits: libtidy recurses into the page, so deep pages are not shown to it,
// nor very large or broken ones.
#include "oracle/html_tidy.h"

#include <string.h>
#include <tidy.h>
#include <tidybuffio.h>

enum {
  TIDY_BYTES_MAX = 1 << 20,
  TIDY_DEPTH_MAX = 200,
  TIDY_FAULTS_MAX = 50,
};

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

// --- positions
// ----------------------------------------------------------------

// Lines end with \n, \r\n or \r.
static void find_lines(Tidy *t, const char *page, size_t start, size_t len) {
  array_push(&t->lines, start);
  for (size_t i = start; i < len; i++) {
    bool lone = page[i] == '\r' && (i + 1 == len || page[i + 1] != '\n');
    if (page[i] == '\n' || lone)
      array_push(&t->lines, i + 1);
  }
}

// The tag that starts at line and column, both counted from 1; NO_TOKEN: none.
static int32_t token_at(const Tidy *t, int line, int column) {
  const Tokens *tokens = t->b->stack.tokens;
  if (line < 1 || column < 1 || (size_t)line > t->lines.len)
    return NO_TOKEN;
  size_t offset = (size_t)t->lines.items[line - 1] + column - 1;
  size_t low = 0, high = tokens->list.len;
  while (low < high) {
    size_t middle = (low + high) / 2;
    const Token *token = &tokens->list.items[middle];
    if (token->offset == offset)
      return middle;
    if (token->offset < offset)
      low = middle + 1;
    else
      high = middle;
  }
  return NO_TOKEN;
}

// --- messages
// -----------------------------------------------------------------

static bool is_bad_value(const char *key) {
  return strcmp(key, "BAD_ATTRIBUTE_VALUE") == 0 ||
         strcmp(key, "BAD_ATTRIBUTE_VALUE_REPLACED") == 0;
}

static void take(Tidy *t, const char *key, int line, int column) {
  bool value = is_bad_value(key);
  int32_t token = token_at(t, line, column);
  if (token == NO_TOKEN || is_ours(key))
    return;
  const Token *tag = stack_token(&t->b->stack, token);
  if (tag->kind != TOKEN_START || tag->broken || (value && !tag->odd))
    return;
  const char *message =
      value ? "libtidy: an attribute has a value it cannot have"
            : arena_printf(t->faults->arena, "libtidy: %s", key);
  faults_add_at(t->faults, value ? BAD_VALUE : TIDY_OTHER,
                tokens_name(t->b->stack.tokens, tag->element), message,
                tag->offset, tag->length, "this tag");
}

static Bool TIDY_CALL on_message(TidyMessage m) {
  Tidy *t = tidyGetAppData(tidyGetMessageDoc(m));
  TidyReportLevel level = tidyGetMessageLevel(m);
  if (level == TidyWarning || level == TidyError)
    take(t, tidyGetMessageKey(m), tidyGetMessageLine(m),
         tidyGetMessageColumn(m));
  return no;
}

static void parse(Tidy *t, const char *page, size_t len) {
  TidyDoc doc = tidyCreate();
  TidyBuffer said, in;
  tidyBufInit(&said);
  tidyBufInit(&in);
  tidyBufAttach(&in, (byte *)page, len);
  tidySetErrorBuffer(doc, &said);
  tidySetAppData(doc, t);
  tidySetMessageCallback(doc, on_message);
  tidyOptSetInt(doc, TidyTabSize, 1);
  tidyOptSetValue(doc, TidyInCharEncoding, "latin1");
  tidyOptSetInt(doc, TidyShowErrors, 10000);
  tidyParseBuffer(doc, &in);
  tidyBufDetach(&in);
  tidyBufFree(&said);
  tidyRelease(doc);
}

void tidy_check(const Balance *b, const char *page, size_t len) {
  Faults *faults = b->faults;
  bool odd = faults->on[BAD_VALUE] && b->stack.tokens->odd;
  if ((!odd && !faults->on[TIDY_OTHER]) || len > TIDY_BYTES_MAX ||
      b->depth > TIDY_DEPTH_MAX || faults->list.len > TIDY_FAULTS_MAX)
    return;
  Tidy t = {.b = b, .faults = faults};
  size_t mark = len >= 3 && !memcmp(page, "\xef\xbb\xbf", 3) ? 3 : 0;
  find_lines(&t, page, mark, len);
  parse(&t, page + mark, len - mark);
  array_release(&t.lines);
}
