// End tags: what each of them closes, and what is wrong if it is not the
// innermost element. Start tags are html_content.c's.
//
// An end tag </x> meets an open <x> with others above it. Those whose end may
// be left out are closed. Of the rest, those that lack an end tag
// (html_stack.h) are unclosed, at </x>; if none does and there are too many
// </x>, this one is stray; else <x> overlaps them, is closed, and they stay
// open.
#include "oracle/html/html_balance.h"

#include <string.h>

// --- reports ----------------------------------------------------------------

void balance_place(Balance *b, long fault, int32_t token, const char *what) {
  if (token == NO_TOKEN)
    return;
  const HtmlToken *t = stack_token(&b->stack, token);
  faults_place(b->faults, fault, t->offset, t->length, what);
}

long balance_add(Balance *b, HtmlRule rule, int32_t token, const char *message,
                 const char *what) {
  const HtmlToken *t = stack_token(&b->stack, token);
  const char *name = t->kind == TOKEN_START || t->kind == TOKEN_END
                         ? tokens_name(b->stack.tokens, t->element)
                         : "";
  return faults_add_at(b->faults, rule, name, message, t->offset, t->length,
                       what);
}

bool balance_may_stay_open(const Balance *b, const OpenElement *f) {
  if (f->element == EL_BODY || f->element == EL_HTML)
    return b->options->no_explicit_end;
  return f->token == NO_TOKEN || (frame_flags(f) & OPTIONAL);
}

// Several of one kind that should all be closed at the same place, as a loop
// prints them, are one fault.
static bool join_unclosed(Balance *b, const OpenElement *f, int32_t before) {
  if (b->unclosed_fault == NO_FAULT || b->unclosed_element != f->element ||
      b->unclosed_before != before)
    return false;
  const HtmlToken *tag = stack_token(&b->stack, f->token);
  faults_place_first(b->faults, b->unclosed_fault, tag->offset, tag->length,
                     "opened here");
  return true;
}

void balance_unclosed(Balance *b, size_t frame, int32_t token) {
  const OpenElement *f = &b->stack.frames.items[frame];
  int32_t before = f->block != NO_TOKEN ? f->block : token;
  if (join_unclosed(b, f, before))
    return;
  long n = balance_add(b, UNCLOSED_ELEMENT, f->token,
                       "an element is not closed", "opened here");
  if (before == NO_TOKEN)
    faults_place_end(b->faults, n);
  else
    balance_place(b, n, before, "should be closed before this");
  b->unclosed_before = before;
  b->unclosed_element = f->element;
  b->unclosed_fault = n;
}

// --- end tags that close nothing --------------------------------------------

// Could the author have taken one for the other?
static bool alike(size_t a, size_t b) {
  static const unsigned kinds[] = {HEADING, INLINE, BLOCK};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (element_is(a, kinds[i]) || element_is(b, kinds[i]))
      return element_is(a, kinds[i]) && element_is(b, kinds[i]);
  bool a_cell = a == EL_TD || a == EL_TH;
  return a_cell && (b == EL_TD || b == EL_TH);
}

// <h1></h2>: the end tag closes the innermost element, which has no other.
static bool close_mismatched(Balance *b, int32_t token) {
  size_t top = stack_top(&b->stack), wanted;
  uint32_t element = stack_token(&b->stack, token)->element;
  for (wanted = top; wanted; wanted--) {
    const OpenElement *f = &b->stack.frames.items[wanted];
    if (!f->dead && (f->element == EL_TD || f->element == EL_TH ||
                     !balance_may_stay_open(b, f)))
      break;
  }
  const OpenElement *f = &b->stack.frames.items[wanted];
  if (!wanted || f->foreign || f->token == NO_TOKEN ||
      !alike(f->element, element) || !stack_lacks_end(&b->stack, f->element))
    return false;
  long n = balance_add(b, MISMATCHED_END_TAG, f->token,
                       "an element is closed by another one's end tag",
                       "opened here");
  balance_place(b, n, token, "closed by this");
  stack_pop_to(&b->stack, wanted);
  return true;
}

// A </p> behind a block that ended its paragraph.
static bool explain_p(Balance *b, int32_t token) {
  size_t frame = b->stack.frames.len;
  for (size_t i = 0; frame-- && i < STACK_LOOK_MAX; i++) {
    OpenElement *f = &b->stack.frames.items[frame];
    if (f->ended_p != NO_TOKEN) {
      long n = balance_add(b, BLOCK_IN_P, f->ended_by,
                           "a block inside a paragraph; it ends the paragraph",
                           "this block");
      balance_place(b, n, f->ended_p, "inside this paragraph");
      balance_place(b, n, token, "which ended before this");
      f->ended_p = NO_TOKEN;
      return true;
    }
    if (frame_flags(f) & SCOPE)
      return false;
  }
  return false;
}

// A </td> behind text that is in no cell: its <td> is missing.
static bool explain_cell(Balance *b, int32_t token) {
  size_t table = stack_find(&b->stack, EL_TABLE);
  long fault = table ? b->stack.frames.items[table].foster : NO_FAULT;
  if (fault == NO_FAULT)
    return false;
  balance_place(b, fault, token, "its end tag");
  return true;
}

static bool is_table_part(size_t element) {
  return element_is(element, TABULAR) || element == EL_TD || element == EL_TH;
}

// </td></tr></table> without their <table>: that is what is missing.
static bool join_stray(Balance *b, int32_t token) {
  const HtmlToken *tag = stack_token(&b->stack, token);
  if (b->stray_fault == NO_FAULT || b->stray + 1 != token ||
      !is_table_part(tag->element) ||
      !is_table_part(stack_token(&b->stack, b->stray)->element))
    return false;
  b->stray = token;
  b->faults->list.items[b->stray_fault].element =
      element_info[tag->element].name;
  balance_place(b, b->stray_fault, token, "and this");
  return true;
}

static void report_stray(Balance *b, int32_t token) {
  uint32_t element = stack_token(&b->stack, token)->element;
  bool cell = element == EL_TD || element == EL_TH;
  if ((element == EL_P && explain_p(b, token)) ||
      (cell && explain_cell(b, token)) || close_mismatched(b, token) ||
      join_stray(b, token))
    return;
  const char *message = element_is(element, VOID)
                            ? "an end tag of an element that has none"
                            : "an end tag without its start tag";
  b->stray = token;
  b->stray_fault =
      balance_add(b, STRAY_END_TAG, token, message, "this end tag");
}

// --- end tags that close something ------------------------------------------

// What lies above the frame an end tag closes.
typedef struct {
  size_t unclosed; // elements that lack an end tag
  size_t others;   // those that have one to come
  size_t other;    // the outermost of them
  bool walls;      // cells, tables: what HTML5 does not look beyond
} Above;

static bool look_above(Balance *b, size_t frame, Above *above) {
  *above = (Above){0};
  size_t top = stack_top(&b->stack);
  uint32_t element = b->stack.frames.items[frame].element;
  bool page = element == EL_BODY || element == EL_HTML;
  if (top - frame > STACK_LOOK_MAX && !page)
    return false;
  for (size_t i = top; i > frame; i--) {
    const OpenElement *f = &b->stack.frames.items[i];
    if (f->dead)
      continue;
    above->walls |= (frame_flags(f) & (SCOPE | TABULAR)) != 0;
    if (balance_may_stay_open(b, f))
      continue;
    if (stack_lacks_end(&b->stack, f->element)) {
      above->unclosed++;
      continue;
    }
    above->others++;
    above->other = i;
  }
  return true;
}

// Closes what lacks an end tag above the frame.
static void close_unclosed(Balance *b, size_t frame, int32_t token) {
  for (size_t i = stack_top(&b->stack); i > frame; i--) {
    OpenElement *f = &b->stack.frames.items[i];
    if (f->dead || balance_may_stay_open(b, f) ||
        !stack_lacks_end(&b->stack, f->element))
      continue;
    balance_unclosed(b, i, token);
    stack_remove(&b->stack, i);
  }
}

// A phrase ends inside a paragraph or item that it is around: those go on. If
// they are closed by an end tag later, they overlap.
static void cross(Balance *b, size_t frame, int32_t token) {
  const OpenElement *x = &b->stack.frames.items[frame];
  bool said = x->reported;
  for (size_t i = stack_top(&b->stack); i > frame; i--) {
    OpenElement *f = &b->stack.frames.items[i];
    if (!f->dead && f->crossed == NO_TOKEN && !said) {
      f->crossed = token;
      f->crossed_tag = x->token;
    }
  }
  stack_remove(&b->stack, frame);
}

static void report_overlap(Balance *b, int32_t end, int32_t start,
                           int32_t other) {
  long n = balance_add(b, MISNESTED_TAGS, end,
                       "two elements overlap instead of one being inside the "
                       "other",
                       "closed here");
  balance_place(b, n, other, "while this is still open");
  balance_place(b, n, start, "opened here");
}

static void overlap(Balance *b, size_t frame, size_t other, int32_t token) {
  const OpenElement *f = &b->stack.frames.items[frame];
  OpenElement *o = &b->stack.frames.items[other];
  if (!f->reported)
    report_overlap(b, token, f->token, o->token);
  o->reported = true;
  stack_remove(&b->stack, frame);
}

// What a paragraph knows against itself when its end tag comes.
static void check_closed(Balance *b, const OpenElement *f, int32_t token) {
  if (f->crossed != NO_TOKEN)
    report_overlap(b, f->crossed, f->crossed_tag, f->token);
  if (f->element != EL_P || f->block == NO_TOKEN)
    return;
  long n = balance_add(b, BLOCK_IN_P, f->block,
                       "a block inside a paragraph; it ends the paragraph",
                       "this block");
  balance_place(b, n, f->token, "inside this paragraph");
  balance_place(b, n, token, "which ended before this");
}

static bool anything_above(Balance *b, size_t frame) {
  return stack_top(&b->stack) > frame;
}

// Closes an element that is open in `frame`.
static void close_frame(Balance *b, size_t frame, int32_t token) {
  OpenElement *f = &b->stack.frames.items[frame];
  uint32_t element = f->element;
  Above above;
  bool near = look_above(b, frame, &above);
  // This end tag has passed and its element is still open: one more than open
  // is one too many.
  bool extra = b->stack.ends[element] + 1 - b->stack.starts[element] >
               b->stack.open[element];
  bool wall = (frame_flags(f) & OPTIONAL) && above.walls;
  if (!near || (above.others && !above.unclosed && (extra || wall))) {
    report_stray(b, token);
    return;
  }
  close_unclosed(b, frame, token);
  if (above.others)
    overlap(b, frame, above.other, token);
  else if ((frame_flags(f) & INLINE) && anything_above(b, frame))
    cross(b, frame, token);
  else {
    check_closed(b, f, token);
    stack_pop_to(&b->stack, frame);
  }
}

// --- end tags with rules of their own ---------------------------------------

// </body> and </html> close all there is, also if their start tags were left
// out.
static void close_page(Balance *b, uint32_t element, int32_t token) {
  bool *ended = element == EL_HTML ? &b->html_ended : &b->body_ended;
  if (*ended || (element == EL_BODY && b->html_ended && b->body_ended)) {
    if (!b->page_end_reported && !b->twice_reported)
      report_stray(b, token);
    b->page_end_reported = true;
    return;
  }
  *ended = true;
  if (b->page_end == NO_TOKEN)
    b->page_end = token;
  size_t frame = stack_find(&b->stack, element);
  if (frame)
    close_frame(b, frame, token);
  else
    close_unclosed(b, stack_find(&b->stack, EL_HTML), token);
}

// End tags whose start tag may have been left out: </head>, </tbody>.
static bool start_implied(Balance *b, uint32_t element) {
  if (element == EL_HEAD)
    return b->twice_reported ||
           (b->content == NO_TOKEN && b->first[1] == NO_TOKEN);
  size_t table = stack_find(&b->stack, EL_TABLE);
  if (!table || (element != EL_TBODY && element != EL_COLGROUP))
    return false;
  Above above;
  if (!look_above(b, table, &above) || above.others || above.unclosed)
    return false;
  if (stack_top(&b->stack) > table)
    stack_pop_to(&b->stack, table + 1);
  return true;
}

static bool close_table_form(Balance *b, uint32_t element) {
  if (element != EL_FORM || b->table_form == NO_TOKEN)
    return false;
  b->table_form = NO_TOKEN;
  b->stack.open[EL_FORM]--;
  return true;
}

static void end_tag(Balance *b, int32_t token) {
  uint32_t element = stack_token(&b->stack, token)->element;
  if (element == EL_HTML || element == EL_BODY) {
    close_page(b, element, token);
    return;
  }
  if (close_table_form(b, element))
    return;
  size_t frame = stack_find(&b->stack, element);
  if (frame)
    close_frame(b, frame, token);
  else if (!start_implied(b, element))
    report_stray(b, token);
}

// --- the end of the page ----------------------------------------------------

static void report_truncated(Balance *b) {
  long n = faults_add(b->faults, TRUNCATED_PAGE, "",
                      "the page ends while several elements are open");
  faults_place_end(b->faults, n);
  for (size_t i = b->stack.frames.len; --i > 0;) {
    const OpenElement *f = &b->stack.frames.items[i];
    if (!f->dead && !balance_may_stay_open(b, f))
      balance_place(b, n, f->token, "still open");
  }
}

// <html> and <body> alone: the latter, with a word on the former.
static void report_page_open(Balance *b, size_t body) {
  balance_unclosed(b, body, NO_TOKEN);
  size_t html = stack_find(&b->stack, EL_HTML);
  if (html && html != body)
    balance_place(b, b->unclosed_fault, b->stack.frames.items[html].token,
                  "still open as well");
}

static void end_page(Balance *b) {
  size_t open = 0, inner = 0, last = 0;
  for (size_t i = 1; i < b->stack.frames.len; i++) {
    const OpenElement *f = &b->stack.frames.items[i];
    if (f->dead || balance_may_stay_open(b, f))
      continue;
    open++;
    inner += f->element != EL_HTML && f->element != EL_BODY;
    last = i;
  }
  if (inner && open > 1)
    report_truncated(b);
  else if (open)
    report_page_open(b, last);
  if (b->table_form != NO_TOKEN) {
    long n = balance_add(b, UNCLOSED_ELEMENT, b->table_form,
                         "an element is not closed", "opened here");
    faults_place_end(b->faults, n);
  }
}

static void report_no_doctype(Balance *b) {
  const HtmlTokens *t = b->stack.tokens;
  if (!b->doctype && !b->fragment && t->list.len)
    balance_add(b, NO_DOCTYPE, 0, "the page has no <!DOCTYPE>",
                "should be before this");
}

// --- all of it --------------------------------------------------------------

static void doctype(Balance *b, int32_t token) {
  const char *again = "a second page starts inside the page";
  if (b->doctype || b->page_end != NO_TOKEN) {
    if (!b->twice_reported)
      balance_add(b, DUPLICATE_ELEMENT, token, again, "starts here");
    b->twice_reported = true;
  } else if (b->content != NO_TOKEN && !b->before_reported) {
    long n = balance_add(b, CONTENT_BEFORE_PAGE, token,
                         "there is something before the page starts",
                         "the page starts here");
    balance_place(b, n, b->content, "this is before it");
    b->before_reported = true;
  }
  b->doctype = true;
}

static void read_token(Balance *b, int32_t token) {
  const HtmlToken *t = stack_token(&b->stack, token);
  if (t->kind == TOKEN_TEXT) {
    content_text(b, token);
    return;
  }
  if (t->kind == TOKEN_DOCTYPE) {
    doctype(b, token);
    return;
  }
  stack_pass(&b->stack, t);
  if (t->kind == TOKEN_START)
    content_start(b, token);
  else
    end_tag(b, token);
}

static bool has_frame(const ElementStack *s, const HtmlTokens *t) {
  for (size_t i = 0; i < t->list.len && i < 64; i++)
    if (t->list.items[i].kind == TOKEN_DOCTYPE)
      return true;
  return s->starts[EL_HTML] || s->starts[EL_HEAD] || s->starts[EL_BODY];
}

void balance_check(Balance *b, const HtmlTokens *tokens, Faults *faults,
                   const HtmlOptions *o) {
  *b = (Balance){.faults = faults,
                 .options = o,
                 .content = NO_TOKEN,
                 .page_end = NO_TOKEN,
                 .first = {NO_TOKEN, NO_TOKEN, NO_TOKEN},
                 .title = NO_TOKEN,
                 .table_form = NO_TOKEN,
                 .unclosed_fault = NO_FAULT,
                 .stray_fault = NO_FAULT};
  stack_init(&b->stack, tokens);
  b->fragment = !has_frame(&b->stack, tokens);
  b->unknown = mem_array(long, tokens->names.len);
  for (size_t i = 0; i < tokens->names.len; i++)
    b->unknown[i] = NO_FAULT;
  for (size_t i = 0; i < tokens->list.len; i++) {
    read_token(b, i);
    if (b->stack.frames.len > b->depth)
      b->depth = b->stack.frames.len;
  }
  if (!tokens->swallowed)
    end_page(b);
  report_no_doctype(b);
}

void balance_release(Balance *b) {
  stack_release(&b->stack);
  hashmap_release(&b->ids);
  array_release(&b->doubts);
  array_release(&b->id_faults);
  array_release(&b->id_first);
  free(b->unknown);
}
