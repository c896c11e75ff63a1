// Start tags and texts: which open elements they end without an end tag, and
// whether they may be where they are.
#include "oracle/html/html_balance.h"

#include <string.h>

#include "util/array.h"

enum { END = EL_COUNT, SET_MAX = 10 };

static bool in_set(const uint16_t *set, size_t element) {
  for (; *set != END; set++)
    if (*set == element)
      return true;
  return false;
}

static OpenElement *frame_at(Balance *b, size_t frame) {
  return &b->stack.frames.items[frame];
}

// --- start tags that end other elements -------------------------------------

// The start tag of `element` ends those of `ends`, looking no further than
// `stops`.
typedef struct {
  uint16_t element;
  uint16_t ends[SET_MAX], stops[SET_MAX];
} Implied;

#define CELLS EL_TD, EL_TH, EL_CAPTION, EL_COLGROUP
#define GROUPS EL_TBODY, EL_THEAD, EL_TFOOT
static const Implied implied[] = {
    {EL_LI, {EL_LI, END}, {EL_UL, EL_OL, EL_MENU, EL_DIR, END}},
    {EL_DT, {EL_DT, EL_DD, END}, {EL_DL, END}},
    {EL_DD, {EL_DT, EL_DD, END}, {EL_DL, END}},
    {EL_OPTION, {EL_OPTION, END}, {EL_SELECT, EL_DATALIST, EL_OPTGROUP, END}},
    {EL_OPTGROUP, {EL_OPTION, EL_OPTGROUP, END}, {EL_SELECT, END}},
    {EL_TR, {CELLS, EL_TR, END}, {EL_TABLE, GROUPS, END}},
    {EL_TD, {CELLS, END}, {EL_TR, EL_TABLE, END}},
    {EL_TH, {CELLS, END}, {EL_TR, EL_TABLE, END}},
    {EL_TBODY, {CELLS, EL_TR, GROUPS, END}, {EL_TABLE, END}},
    {EL_THEAD, {CELLS, EL_TR, GROUPS, END}, {EL_TABLE, END}},
    {EL_TFOOT, {CELLS, EL_TR, GROUPS, END}, {EL_TABLE, END}},
    {EL_COLGROUP, {EL_CAPTION, EL_COLGROUP, END}, {EL_TABLE, END}},
    {EL_COL, {EL_CAPTION, END}, {EL_TABLE, EL_COLGROUP, END}},
    {EL_RT, {EL_RT, EL_RP, EL_RB, END}, {EL_RUBY, EL_RTC, END}},
    {EL_RP, {EL_RT, EL_RP, EL_RB, END}, {EL_RUBY, EL_RTC, END}},
    {EL_RB, {EL_RT, EL_RP, EL_RB, EL_RTC, END}, {EL_RUBY, END}},
    {EL_RTC, {EL_RT, EL_RP, EL_RB, EL_RTC, END}, {EL_RUBY, END}},
};
static const Implied any_block = {END, {EL_P, END}, {END}};

static const Implied *implied_by(size_t element) {
  for (size_t i = 0; i < sizeof implied / sizeof *implied; i++)
    if (implied[i].element == element)
      return &implied[i];
  return NULL;
}

// The outermost frame that the rule ends; 0: none. An element that is closed
// properly later is not ended from inside; *held is the one in the way.
static size_t implied_end(Balance *b, const Implied *rule, size_t *held) {
  size_t target = 0, top = stack_top(&b->stack);
  *held = 0;
  for (size_t i = top; i > 0 && top - i < STACK_LOOK_MAX; i--) {
    const OpenElement *f = frame_at(b, i);
    if (f->dead)
      continue;
    if (in_set(rule->ends, f->element) && !f->foreign) {
      target = i;
      continue;
    }
    if (in_set(rule->stops, f->element) || (frame_flags(f) & SCOPE))
      return target;
    if (!balance_may_stay_open(b, f) &&
        !stack_lacks_end(&b->stack, f->element)) {
      *held = i;
      return target;
    }
  }
  return target;
}

// Pops down to `frame`; what has no end tag in there should have had one.
static void end_at(Balance *b, size_t frame, int32_t token) {
  for (size_t i = stack_top(&b->stack); i > frame; i--) {
    const OpenElement *f = frame_at(b, i);
    if (!f->dead && !balance_may_stay_open(b, f))
      balance_unclosed(b, i, token);
  }
  stack_pop_to(&b->stack, frame);
}

// A paragraph that a block cannot end, because a phrase around the block is
// closed behind it: <p><b><div></div></b></p>.
static void note_block(Balance *b, size_t held, int32_t token) {
  for (size_t i = held; i > 0 && held - i < STACK_LOOK_MAX; i--) {
    OpenElement *f = frame_at(b, i);
    if (f->element == EL_P && !f->dead) {
      if (f->block == NO_TOKEN)
        f->block = token;
      return;
    }
    if (!f->dead && !(frame_flags(f) & INLINE))
      return;
  }
}

static void end_paragraph(Balance *b, size_t element, int32_t token) {
  if (!b->stack.open[EL_P] || (element == EL_TABLE && !b->doctype))
    return;
  size_t held, p = implied_end(b, &any_block, &held);
  if (!p) {
    note_block(b, held, token);
    return;
  }
  int32_t opened = frame_at(b, p)->token;
  end_at(b, p, token);
  OpenElement *parent = frame_at(b, stack_top(&b->stack));
  if (parent->ended_p == NO_TOKEN) {
    parent->ended_p = opened;
    parent->ended_by = token;
  }
}

// Phrases and headings hold no blocks: if one is never closed, then it should
// have been before the first.
static void note_phrases(Balance *b, int32_t token) {
  for (size_t i = stack_top(&b->stack); i > 0; i--) {
    OpenElement *f = frame_at(b, i);
    if (!f->dead && !(frame_flags(f) & (INLINE | HEADING)))
      return;
    if (f->block != NO_TOKEN)
      return;
    if (!f->dead && stack_lacks_end(&b->stack, f->element))
      f->block = token;
  }
}

static void end_others(Balance *b, size_t element, int32_t token) {
  size_t held;
  const Implied *rule = implied_by(element);
  size_t target = rule ? implied_end(b, rule, &held) : 0;
  if (target)
    end_at(b, target, token);
  if (element_is(element, BLOCK)) {
    end_paragraph(b, element, token);
    note_phrases(b, token);
  }
}

// --- elements that cannot be in themselves ----------------------------------

static bool template_between(Balance *b, size_t frame) {
  for (size_t i = stack_top(&b->stack); i > frame; i--)
    if (frame_at(b, i)->element == EL_TEMPLATE)
      return true;
  return false;
}

static void report_nested(Balance *b, size_t outer, int32_t token,
                          const char *message) {
  long n = balance_add(b, NESTED_ELEMENT, token, message, "this element");
  balance_place(b, n, frame_at(b, outer)->token, "is inside this one");
}

// The element is open already. One of the two may have no end tag: then it is
// the outer one, and this is where it should have been.
static void nest(Balance *b, size_t outer, int32_t token, const char *message) {
  ElementStack *s = &b->stack;
  uint32_t element = frame_at(b, outer)->element;
  uint32_t inner = stack_token(s, token)->element;
  int64_t needed = s->open[element] + (inner == element);
  if (s->ends[element] - s->starts[element] >= needed) {
    report_nested(b, outer, token, message);
    return;
  }
  balance_unclosed(b, outer, token);
  stack_remove(s, outer);
}

static void check_nesting(Balance *b, size_t element, int32_t token) {
  static const char link[] = "a link inside a link";
  static const char form[] = "a form inside a form";
  static const char button[] = "a button inside a button";
  const char *message = element == EL_A        ? link
                        : element == EL_FORM   ? form
                        : element == EL_BUTTON ? button
                                               : NULL;
  size_t outer = message ? stack_find(&b->stack, element) : 0;
  if (outer && stack_top(&b->stack) - outer < STACK_LOOK_MAX &&
      !template_between(b, outer))
    nest(b, outer, token, message);
  size_t top = stack_top(&b->stack);
  if (element_is(element, HEADING) && (frame_flags(frame_at(b, top)) & HEADING))
    nest(b, top, token, "a heading inside a heading");
}

// <a><button>: two things that want the click.
static void check_controls(Balance *b, size_t element, const HtmlToken *tag,
                           int32_t token) {
  bool control = element == EL_A || element == EL_BUTTON ||
                 (element == EL_INPUT && !tag->hidden) ||
                 element == EL_SELECT || element == EL_TEXTAREA;
  static const uint16_t around[] = {EL_A, EL_BUTTON};
  for (size_t i = 0; control && i < 2; i++) {
    size_t outer = around[i] == element ? 0 : stack_find(&b->stack, around[i]);
    if (!outer || stack_lacks_end(&b->stack, around[i]) ||
        stack_top(&b->stack) - outer >= STACK_LOOK_MAX ||
        template_between(b, outer))
      continue;
    report_nested(b, outer, token,
                  "a link or form control inside a link or button");
  }
}

// --- elements that need a certain parent ------------------------------------

typedef struct {
  uint16_t element;
  uint16_t parents[SET_MAX];
} Home;

static const Home homes[] = {
    {EL_LI, {EL_UL, EL_OL, EL_MENU, EL_DIR, END}},
    {EL_DT, {EL_DL, END}},
    {EL_DD, {EL_DL, END}},
    {EL_OPTION, {EL_SELECT, EL_DATALIST, EL_OPTGROUP, END}},
    {EL_OPTGROUP, {EL_SELECT, END}},
    {EL_TD, {EL_TR, END}},
    {EL_TH, {EL_TR, END}},
    {EL_TR, {EL_TABLE, GROUPS, END}},
    {EL_TBODY, {EL_TABLE, END}},
    {EL_THEAD, {EL_TABLE, END}},
    {EL_TFOOT, {EL_TABLE, END}},
    {EL_CAPTION, {EL_TABLE, END}},
    {EL_COLGROUP, {EL_TABLE, END}},
    {EL_COL, {EL_TABLE, EL_COLGROUP, END}},
};

static const Home *home_of(size_t element) {
  for (size_t i = 0; i < sizeof homes / sizeof *homes; i++)
    if (homes[i].element == element)
      return &homes[i];
  return NULL;
}

// Is it around here, or can nobody tell (fragments, templates)?
static bool at_home(Balance *b, const Home *home) {
  size_t top = stack_top(&b->stack);
  for (size_t i = top; i > 0; i--) {
    const OpenElement *f = frame_at(b, i);
    if (f->dead)
      continue;
    if (in_set(home->parents, f->element) || f->element == EL_TEMPLATE ||
        top - i > STACK_LOOK_MAX)
      return true;
    if (frame_flags(f) & SCOPE)
      return false;
  }
  return b->fragment;
}

// More end tags of a parent to come than there are open ones: it was closed too
// early, and that stray end tag will be the fault.
static bool home_closed_early(Balance *b, const Home *home) {
  for (const uint16_t *p = home->parents; *p != END; p++)
    if (stack_has_extra_end(&b->stack, *p))
      return true;
  return false;
}

// Children of one parent that all do not belong there are one fault.
static long report_misplaced(Balance *b, const Home *home, int32_t token) {
  OpenElement *parent = frame_at(b, stack_top(&b->stack));
  if (parent->misplaced != NO_FAULT &&
      parent->misplaced_home == home->parents[0]) {
    balance_place(b, parent->misplaced, token, "as well as this");
    return NO_FAULT;
  }
  parent->misplaced =
      balance_add(b, MISPLACED_ELEMENT, token,
                  "an element outside the one it belongs to", "this element");
  parent->misplaced_home = home->parents[0];
  return parent->misplaced;
}

static void check_home(Balance *b, size_t element, int32_t token) {
  const Home *home = home_of(element);
  if (!home || at_home(b, home))
    return;
  const OpenElement *top = frame_at(b, stack_top(&b->stack));
  bool cell = element == EL_TD || element == EL_TH;
  if (cell && (frame_flags(top) & TABULAR)) { // <table><td>
    report_misplaced(b, home, token);
    stack_push(&b->stack, EL_TR, NO_TOKEN);
    return;
  }
  long n =
      home_closed_early(b, home) ? NO_FAULT : report_misplaced(b, home, token);
  size_t offset = stack_token(&b->stack, token)->offset;
  if (n != NO_FAULT)
    array_push(&b->doubts, (Doubt){n, offset, home->parents});
}

static void check_list(Balance *b, size_t element, int32_t token) {
  static const uint16_t fine[] = {EL_LI, EL_SCRIPT, EL_TEMPLATE, END};
  const OpenElement *top = frame_at(b, stack_top(&b->stack));
  bool list = top->element == EL_UL || top->element == EL_OL;
  if (!list || in_set(fine, element))
    return;
  long n = balance_add(b, BAD_LIST_CHILD, token,
                       "something else than an item directly in a list",
                       "this element");
  balance_place(b, n, top->token, "in this list");
}

// --- tables -----------------------------------------------------------------

static void report_foster(Balance *b, int32_t token) {
  size_t table = stack_find(&b->stack, EL_TABLE);
  if (!table)
    return;
  OpenElement *f = frame_at(b, table);
  if (f->foster == NO_FAULT)
    f->foster = balance_add(b, CONTENT_IN_TABLE, token,
                            "something in a table that is in none of its "
                            "cells; browsers show it before the table",
                            "this");
  else
    balance_place(b, f->foster, token, "and this");
}

// Is the innermost open element part of a table, but no cell?
static bool in_table(Balance *b) {
  const OpenElement *top = frame_at(b, stack_top(&b->stack));
  return (frame_flags(top) & TABULAR) || top->element == EL_COLGROUP;
}

static bool may_be_in_table(size_t element, const HtmlToken *tag) {
  static const uint16_t fine[] = {EL_SCRIPT, EL_STYLE, EL_TEMPLATE, END};
  const Home *home = home_of(element);
  bool part =
      home && (in_set(home->parents, EL_TABLE) || in_set(home->parents, EL_TR));
  return part || in_set(fine, element) || (element == EL_INPUT && tag->hidden);
}

// A table directly in a table that has no end tag: it was to end before.
static bool end_table(Balance *b, int32_t token) {
  ElementStack *s = &b->stack;
  size_t table = stack_find(s, EL_TABLE);
  if (!table || s->ends[EL_TABLE] - s->starts[EL_TABLE] > s->open[EL_TABLE])
    return false;
  balance_unclosed(b, table, token);
  stack_pop_to(s, table);
  return true;
}

// True: the tag is done with, nothing is to be opened.
static bool check_table(Balance *b, size_t element, const HtmlToken *tag,
                        int32_t token) {
  if (!in_table(b))
    return false;
  if (element == EL_FORM && b->table_form == NO_TOKEN) {
    balance_add(b, FORM_IN_TABLE, token,
                "a form directly in a table, outside its cells", "this form");
    b->table_form = token;
    b->stack.open[EL_FORM]++;
    return true;
  }
  if (!may_be_in_table(element, tag) &&
      !(element == EL_TABLE && end_table(b, token)))
    report_foster(b, token);
  return false;
}

// --- the page as a whole ----------------------------------------------------

static void report_before(Balance *b, int32_t token) {
  if (b->before_reported || b->head_reported || b->content == NO_TOKEN)
    return;
  b->before_reported = true;
  long n = balance_add(b, CONTENT_BEFORE_PAGE, token,
                       "there is something before the page starts",
                       "the page starts here");
  balance_place(b, n, b->content, "this is before it");
}

static void report_twice(Balance *b, int32_t token, int32_t first) {
  if (b->twice_reported)
    return;
  b->twice_reported = true;
  long n = balance_add(b, DUPLICATE_ELEMENT, token,
                       "an element that a page has once is there twice",
                       "again here");
  balance_place(b, n, first, "first here");
}

// <html>, <head>, <body>: true if this was one.
static bool page_tag(Balance *b, size_t element, int32_t token) {
  static const uint16_t tags[] = {EL_HTML, EL_HEAD, EL_BODY};
  size_t i = 0;
  while (i < 3 && tags[i] != element)
    i++;
  if (i == 3)
    return false;
  if (b->first[i] != NO_TOKEN) {
    report_twice(b, token, b->first[i]);
    return true;
  }
  b->first[i] = token;
  report_before(b, token);
  size_t head = stack_find(&b->stack, EL_HEAD);
  if (head && element == EL_BODY)
    end_at(b, head, token);
  stack_push(&b->stack, element, token);
  return true;
}

// Something to see. In <head>, it ends the head, unless </head> is to come.
static void see(Balance *b, int32_t token) {
  size_t top = stack_top(&b->stack);
  const OpenElement *f = frame_at(b, top);
  if (f->element == EL_HEAD && !b->stack.ends[EL_HEAD])
    stack_pop_to(&b->stack, top);
  else if (f->element == EL_HEAD && !b->head_reported) {
    long n = balance_add(b, CONTENT_IN_HEAD, token,
                         "something to see is in the head of the page", "this");
    balance_place(b, n, f->token, "in this head");
    b->head_reported = true;
  }
  if (b->content == NO_TOKEN && !stack_find(&b->stack, EL_HEAD))
    b->content = token;
}

static void check_after(Balance *b, int32_t token) {
  if (b->page_end == NO_TOKEN || b->page_end_reported || b->twice_reported ||
      stack_find(&b->stack, EL_BODY))
    return;
  b->page_end_reported = true;
  long n = balance_add(b, CONTENT_AFTER_PAGE, token,
                       "there is something after the page ended", "this");
  balance_place(b, n, b->page_end, "the page ended here");
}

static void check_title(Balance *b, size_t element, int32_t token) {
  if (element != EL_TITLE || !stack_find(&b->stack, EL_HEAD))
    return;
  if (b->title == NO_TOKEN)
    b->title = token;
  else
    report_twice(b, token, b->title);
}

// --- single tags ------------------------------------------------------------

// Custom elements have a - in their names, those of other languages a :.
static bool is_foreign_name(const char *tag, size_t len) {
  for (size_t i = 1; i < len && !strchr(" \t\r\n\f/>", tag[i]); i++)
    if (tag[i] == '-' || tag[i] == ':')
      return true;
  return false;
}

static void check_name(Balance *b, size_t element, const HtmlToken *tag,
                       int32_t token) {
  if (element_is(element, OBSOLETE))
    balance_add(b, OBSOLETE_TAG, token, "an element HTML no longer has",
                "this element");
  if (element < EL_COUNT ||
      is_foreign_name(b->faults->page + tag->offset, tag->length))
    return;
  long *fault = &b->unknown[element - EL_COUNT];
  if (*fault == NO_FAULT)
    *fault = balance_add(b, UNKNOWN_TAG, token, "an element HTML does not know",
                         "this element");
  else
    balance_place(b, *fault, token, "and this");
}

static bool in_template(Balance *b) { return b->stack.open[EL_TEMPLATE] > 0; }

// All uses of one id are one fault, of the second.
static void check_id(Balance *b, const HtmlToken *tag, int32_t token) {
  if (!tag->id_length || in_template(b))
    return;
  const char *id = b->faults->page + tag->id;
  size_t fresh = b->id_first.len;
  size_t number = hashmap_intern(&b->ids, id, tag->id_length, fresh);
  if (number == fresh) {
    array_push(&b->id_first, token);
    array_push(&b->id_faults, NO_FAULT);
    return;
  }
  long *fault = &b->id_faults.items[number];
  if (*fault != NO_FAULT) {
    balance_place(b, *fault, token, "and here");
    return;
  }
  *fault = balance_add(b, DUPLICATE_ID, token,
                       "an id that another element has already", "again here");
  balance_place(b, *fault, b->id_first.items[number], "first here");
}

// --- all of it --------------------------------------------------------------

// HTML inside <svg> that is never closed: the drawing should have been.
static bool leave_foreign(Balance *b, size_t element, int32_t token) {
  static const uint16_t outer[] = {EL_SVG, EL_MATH};
  if (!element_is(element, BLOCK) && element != EL_BODY)
    return false;
  for (size_t i = 0; i < 2; i++) {
    size_t frame = stack_find(&b->stack, outer[i]);
    if (frame && stack_lacks_end(&b->stack, outer[i])) {
      balance_unclosed(b, frame, token);
      stack_pop_to(&b->stack, frame);
      return true;
    }
  }
  return false;
}

static bool in_foreign(Balance *b) {
  const OpenElement *top = frame_at(b, stack_top(&b->stack));
  return top->foreign && !top->integration;
}

static void open_element(Balance *b, size_t element, const HtmlToken *tag,
                         int32_t token) {
  bool unknown = element >= EL_COUNT && !in_foreign(b);
  if (unknown && !b->stack.ends[element])
    return;
  if (element_is(element, VOID) && !in_foreign(b))
    return;
  bool closed = tag->self_closing && (b->stack.tokens->xhtml || in_foreign(b) ||
                                      element == EL_SVG || element == EL_MATH ||
                                      !stack_has_extra_end(&b->stack, element));
  if (!closed)
    stack_push(&b->stack, element, token);
}

static void html_start(Balance *b, size_t element, const HtmlToken *tag,
                       int32_t token) {
  if (page_tag(b, element, token))
    return;
  check_name(b, element, tag, token);
  check_title(b, element, token);
  if (!element_is(element, INHEAD)) {
    see(b, token);
    check_after(b, token);
  }
  end_others(b, element, token);
  check_nesting(b, element, token);
  check_controls(b, element, tag, token);
  check_home(b, element, token);
  check_list(b, element, token);
  if (!check_table(b, element, tag, token))
    open_element(b, element, tag, token);
}

void content_start(Balance *b, int32_t token) {
  const HtmlToken *tag = stack_token(&b->stack, token);
  size_t element = tag->element;
  if (in_foreign(b) && !leave_foreign(b, element, token)) {
    open_element(b, element, tag, token);
    return;
  }
  check_id(b, tag, token);
  html_start(b, element, tag, token);
}

void content_text(Balance *b, int32_t token) {
  if (in_foreign(b))
    return;
  const OpenElement *top = frame_at(b, stack_top(&b->stack));
  if (frame_flags(top) & RAW)
    return;
  see(b, token);
  check_after(b, token);
  if (in_table(b))
    report_foster(b, token);
}
