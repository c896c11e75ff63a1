// The elements that are open while the tags of a page are read in order, and
// how many tags of each are still to come. The latter tells an element that is
// never closed from an end tag that comes too late:
//
//   <div><b></div>        no </b> is to come: <b> is unclosed
//   <div><b></div></b>    one is: <b> and <div> overlap
//   <b></div></b></div>   more </div> than <div>: the first is stray
#ifndef CULPRIT_ORACLE_HTML_HTML_STACK_H
#define CULPRIT_ORACLE_HTML_HTML_STACK_H

#include "oracle/html/html_token.h"

enum {
  STACK_LOOK_MAX = 512, // how far down anything is searched: keeps time linear
  NO_TOKEN = -1,
  ROOT = 0xffffffff, // the element of frame 0, which is always there
};

// An open element.
typedef struct {
  uint32_t element;
  int32_t token;       // its start tag; NO_TOKEN: implied
  uint32_t below;      // frame of the same element below it; 0: none
  bool dead;           // closed in the middle of the stack
  bool reported;       // it overlaps another one, and that was said
  bool foreign;        // inside <svg>, <math>, or one of them
  bool integration;    // foreign, but holds HTML: <foreignObject>
  int32_t block;       // the first block in a phrase or paragraph; NO_TOKEN
  int32_t crossed;     // an end tag inside it of an element around it
  int32_t crossed_tag; // and its start tag
  int32_t ended_p;     // the last child <p> that a block ended, and the block
  int32_t ended_by;
  long misplaced;          // the fault about children that do not belong here
  uint32_t misplaced_home; // and an element they belong to
  long foster;             // of a table: the fault about content in no cell
} OpenElement;

typedef struct {
  const HtmlTokens *tokens;
  ARRAY(OpenElement) frames;
  uint32_t *last;         // per element: its topmost frame, 0: none
  int64_t *open;          // per element: frames that are not dead
  int64_t *starts, *ends; // per element: tags still to come
} ElementStack;

void stack_init(ElementStack *s, const HtmlTokens *tokens);
void stack_release(ElementStack *s);

const HtmlToken *stack_token(const ElementStack *s, int32_t token);

// To be called with each tag before it is looked at: it is no longer to come.
void stack_pass(ElementStack *s, const HtmlToken *tag);

size_t stack_top(ElementStack *s); // the innermost open element; 0: none
// The innermost frame of `element`, 0: it is not open.
size_t stack_find(ElementStack *s, size_t element);
size_t stack_push(ElementStack *s, size_t element, int32_t token);
void stack_remove(ElementStack *s, size_t frame); // in the middle
void stack_pop_to(ElementStack *s, size_t frame); // this one and all above

// What HTML says about the element of the frame; nothing if it is foreign.
unsigned frame_flags(const OpenElement *f);

// An open one will not be closed: fewer end tags to come than needed.
bool stack_lacks_end(const ElementStack *s, size_t element);
// More end tags to come than elements they could close.
bool stack_has_extra_end(const ElementStack *s, size_t element);

#endif
