// The stack of open elements.
#include "oracle/html/html_stack.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

// Does this start tag open something that an end tag closes?
static bool opens(const HtmlToken *tag) {
  return !tag->self_closing && !element_is(tag->element, VOID);
}

static void count(ElementStack *s) {
  for (size_t i = 0; i < s->tokens->list.len; i++) {
    const HtmlToken *tag = &s->tokens->list.items[i];
    if (tag->kind == TOKEN_START)
      s->starts[tag->element] += opens(tag);
    else if (tag->kind == TOKEN_END)
      s->ends[tag->element]++;
  }
}

void stack_init(ElementStack *s, const HtmlTokens *tokens) {
  size_t elements = EL_COUNT + tokens->names.len;
  *s = (ElementStack){.tokens = tokens,
                      .last = mem_array(uint32_t, elements),
                      .open = mem_array(int64_t, elements),
                      .starts = mem_array(int64_t, elements),
                      .ends = mem_array(int64_t, elements)};
  count(s);
  array_push(&s->frames, (OpenElement){.element = ROOT,
                                       .token = NO_TOKEN,
                                       .ended_p = NO_TOKEN,
                                       .misplaced = NO_FAULT,
                                       .foster = NO_FAULT});
}

void stack_release(ElementStack *s) {
  array_release(&s->frames);
  free(s->last);
  free(s->open);
  free(s->starts);
  free(s->ends);
}

const HtmlToken *stack_token(const ElementStack *s, int32_t token) {
  assert(token >= 0 && (size_t)token < s->tokens->list.len);
  return &s->tokens->list.items[token];
}

void stack_pass(ElementStack *s, const HtmlToken *tag) {
  if (tag->kind == TOKEN_START)
    s->starts[tag->element] -= opens(tag);
  else if (tag->kind == TOKEN_END)
    s->ends[tag->element]--;
}

// Takes the frame off the chain of its element, if it is its head.
static void unchain(ElementStack *s, size_t frame) {
  const OpenElement *f = &s->frames.items[frame];
  if (s->last[f->element] == frame)
    s->last[f->element] = f->below;
}

static void pop(ElementStack *s) {
  size_t frame = s->frames.len - 1;
  const OpenElement *f = &s->frames.items[frame];
  assert(frame > 0);
  s->open[f->element] -= !f->dead;
  unchain(s, frame);
  s->frames.len--;
}

size_t stack_top(ElementStack *s) {
  while (array_last(&s->frames).dead)
    pop(s);
  return s->frames.len - 1;
}

size_t stack_find(ElementStack *s, size_t element) {
  size_t frame = s->last[element];
  while (frame && s->frames.items[frame].dead)
    frame = s->last[element] = s->frames.items[frame].below;
  return frame;
}

static bool holds_html(const char *name) {
  static const char *const names[] = {
      "foreignobject", "desc",          "title", "mi", "mo", "mn", "ms",
      "mtext",         "annotation-xml"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(name, names[i]) == 0)
      return true;
  return false;
}

size_t stack_push(ElementStack *s, size_t element, int32_t token) {
  const OpenElement *parent = &s->frames.items[stack_top(s)];
  bool foreign = (parent->foreign && !parent->integration) ||
                 element == EL_SVG || element == EL_MATH;
  OpenElement f = {.element = element,
                   .token = token,
                   .below = stack_find(s, element),
                   .foreign = foreign,
                   .integration =
                       foreign && holds_html(tokens_name(s->tokens, element)),
                   .block = NO_TOKEN,
                   .crossed = NO_TOKEN,
                   .ended_p = NO_TOKEN,
                   .misplaced = NO_FAULT,
                   .foster = NO_FAULT};
  size_t frame = s->frames.len; // stack_top took dead ones off
  array_push(&s->frames, f);
  s->last[element] = frame;
  s->open[element]++;
  return frame;
}

void stack_remove(ElementStack *s, size_t frame) {
  OpenElement *f = &s->frames.items[frame];
  assert(frame > 0 && !f->dead);
  f->dead = true;
  s->open[f->element]--;
}

void stack_pop_to(ElementStack *s, size_t frame) {
  assert(frame > 0);
  while (s->frames.len > frame)
    pop(s);
}

unsigned frame_flags(const OpenElement *f) {
  return f->foreign ? 0 : element_flags(f->element);
}

bool stack_lacks_end(const ElementStack *s, size_t element) {
  return s->ends[element] - s->starts[element] < s->open[element];
}

bool stack_has_extra_end(const ElementStack *s, size_t element) {
  return s->ends[element] - s->starts[element] > s->open[element];
}
