// The HTML5 tree as a second opinion. Browsers repair a page by rules that our
// reading of its tags only approximates; an element that ends up in a proper
// parent after their repairs is no fault worth a report.
//
// Memory: the tree lives in an arena of its own and is never taken apart (Gumbo
// does that recursively, which deep pages would turn into a stack overflow).
// Limits: only the doubtful pages are parsed; none that is very large, deep or
// broken, where HTML5's repairs take quadratic time. Our own reading decides
// those.
#include "oracle/html/html_model.h"

#include <gumbo.h>
#include <stdlib.h>
#include <string.h>

#include "util/arena.h"

enum {
  MODEL_BYTES_MAX = 4 << 20,
  MODEL_DEPTH_MAX = 500,
  MODEL_FAULTS_MAX = 50,
};

static void *allocate(void *arena, size_t size) {
  return arena_alloc(arena, size);
}

static void leave(void *arena, void *p) {
  (void)arena;
  (void)p;
}

static size_t element_of(const GumboNode *node) {
  if (node->type != GUMBO_NODE_ELEMENT && node->type != GUMBO_NODE_TEMPLATE)
    return EL_COUNT;
  const char *name = gumbo_normalized_tagname(node->v.element.tag);
  return element_find(name, strlen(name));
}

static bool has_parent(const GumboNode *node, const uint16_t *parents) {
  for (node = node->parent; node; node = node->parent) {
    size_t element = element_of(node);
    for (const uint16_t *p = parents; *p != EL_COUNT; p++)
      if (*p == element)
        return true;
    if (element_is(element, SCOPE))
      return false;
  }
  return false;
}

static int by_offset(const void *a, const void *b) {
  const Doubt *x = a, *y = b;
  return (x->offset > y->offset) - (x->offset < y->offset);
}

static void look_at(Balance *b, const GumboNode *node) {
  Doubt key = {.offset = node->v.element.start_pos.offset};
  if (!node->v.element.original_tag.length)
    return;
  Doubt *doubt =
      bsearch(&key, b->doubts.items, b->doubts.len, sizeof key, by_offset);
  if (doubt && has_parent(node, doubt->parents))
    b->faults->list.items[doubt->fault].nplaces = 0;
}

static const GumboNode *next_sibling(const GumboNode *node) {
  const GumboNode *parent = node->parent;
  if (!parent || parent->type == GUMBO_NODE_DOCUMENT)
    return NULL;
  const GumboVector *all = &parent->v.element.children;
  size_t next = node->index_within_parent + 1;
  return next < all->length ? all->data[next] : NULL;
}

// The node behind this one in the order of the page; NULL: it was the last.
static const GumboNode *next_node(const GumboNode *node) {
  bool inner =
      node->type == GUMBO_NODE_ELEMENT || node->type == GUMBO_NODE_TEMPLATE;
  if (inner && node->v.element.children.length)
    return node->v.element.children.data[0];
  while (node) {
    const GumboNode *sibling = next_sibling(node);
    if (sibling)
      return sibling;
    node = node->parent;
  }
  return NULL;
}

void model_confirm(Balance *b, const char *page, size_t len) {
  if (!b->doubts.len || len > MODEL_BYTES_MAX || b->depth > MODEL_DEPTH_MAX ||
      b->faults->list.len > MODEL_FAULTS_MAX)
    return;
  Arena arena = {0};
  GumboOptions options = kGumboDefaultOptions;
  options.allocator = allocate;
  options.deallocator = leave;
  options.userdata = &arena;
  options.max_errors = 0;
  GumboOutput *tree = gumbo_parse_with_options(&options, page, len);
  for (const GumboNode *n = tree->root; n; n = next_node(n))
    if (n->type == GUMBO_NODE_ELEMENT || n->type == GUMBO_NODE_TEMPLATE)
      look_at(b, n);
  arena_release(&arena);
}
