// The tree: AVL by recursion. Heights of two subtrees differ by at most one;
// every function that changes a subtree returns its new root.

#include "tree.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static int live;

static char *copy_text(const char *text) {
  size_t size = strlen(text) + 1;
  char *copy = malloc(size);
  if (!copy)
    abort();
  memcpy(copy, text, size);
  return copy;
}

static TreeNode *node_new(int key, const char *text) {
  TreeNode *n = malloc(sizeof *n);
  if (!n)
    abort();
  n->left = n->right = NULL;
  n->text = copy_text(text);
  n->key = key;
  n->height = 1;
  n->size = 1;
  live++;
  return n;
}

static void node_free(TreeNode *n) {
  free(n->text);
  free(n);
  live--;
}

int tree_live(void) { return live; }

void tree_init(Tree *t) { t->root = NULL; }

static void clear(TreeNode *n) {
  if (!n)
    return;
  clear(n->left);
  clear(n->right);
  node_free(n);
}

void tree_clear(Tree *t) {
  clear(t->root);
  t->root = NULL;
}

static int height(const TreeNode *n) { return n ? n->height : 0; }

static int size(const TreeNode *n) { return n ? n->size : 0; }

int tree_size(const Tree *t) { return size(t->root); }

int tree_height(const Tree *t) { return height(t->root); }

static void update(TreeNode *n) {
  int left = height(n->left), right = height(n->right);
  n->height = (left > right ? left : right) + 1;
  n->size = size(n->left) + size(n->right) + 1;
}

static TreeNode *rotate_right(TreeNode *n) {
  TreeNode *up = n->left;
  n->left = up->right;
  up->right = n;
  update(n);
  update(up);
  return up;
}

static TreeNode *rotate_left(TreeNode *n) {
  TreeNode *up = n->right;
  n->right = up->left;
  up->left = n;
  update(n);
  update(up);
  return up;
}

static TreeNode *balance(TreeNode *n) {
  update(n);
  int lean = height(n->left) - height(n->right);
  if (lean > 1) {
    if (height(n->left->left) < height(n->left->right))
      n->left = rotate_left(n->left);
    return rotate_right(n);
  }
  if (lean < -1) {
    if (height(n->right->right) < height(n->right->left))
      n->right = rotate_right(n->right);
    return rotate_left(n);
  }
  return n;
}

// Hangs `fresh` into the subtree. If its key is there already, that node takes
// the text and `fresh` goes; *added says which.
static TreeNode *insert(TreeNode *n, TreeNode *fresh, bool *added) {
  if (!n) {
    *added = true;
    return fresh;
  }
  if (fresh->key < n->key) {
    n->left = insert(n->left, fresh, added);
  } else if (fresh->key > n->key) {
    n->right = insert(n->right, fresh, added);
  } else {
    char *old = n->text;
    n->text = fresh->text;
    fresh->text = old;
    node_free(fresh);
    *added = false;
    return n;
  }
  return balance(n);
}

bool tree_put(Tree *t, int key, const char *text) {
  bool added;
  t->root = insert(t->root, node_new(key, text), &added);
  return added;
}

// Takes the least node out of the subtree; it is stored in *least.
static TreeNode *take_least(TreeNode *n, TreeNode **least) {
  if (!n->left) {
    *least = n;
    return n->right;
  }
  n->left = take_least(n->left, least);
  return balance(n);
}

static TreeNode *remove_key(TreeNode *n, int key, bool *found) {
  if (!n)
    return NULL;
  if (key < n->key) {
    n->left = remove_key(n->left, key, found);
    return balance(n);
  }
  if (key > n->key) {
    n->right = remove_key(n->right, key, found);
    return balance(n);
  }
  TreeNode *left = n->left, *right = n->right, *least;
  node_free(n);
  *found = true;
  if (!left)
    return right;
  if (!right)
    return left;
  right = take_least(right, &least);
  least->left = left;
  least->right = right;
  return balance(least);
}

bool tree_delete(Tree *t, int key) {
  bool found = false;
  t->root = remove_key(t->root, key, &found);
  return found;
}

const TreeNode *tree_find(const Tree *t, int key) {
  const TreeNode *n = t->root;
  while (n && n->key != key)
    n = key < n->key ? n->left : n->right;
  return n;
}

const TreeNode *tree_floor(const Tree *t, int key) {
  const TreeNode *best = NULL, *n = t->root;
  while (n) {
    if (n->key <= key) {
      best = n;
      n = n->right;
    } else {
      n = n->left;
    }
  }
  return best;
}

const TreeNode *tree_ceiling(const Tree *t, int key) {
  const TreeNode *best = NULL, *n = t->root;
  while (n) {
    if (n->key >= key) {
      best = n;
      n = n->left;
    } else {
      n = n->right;
    }
  }
  return best;
}

const TreeNode *tree_select(const Tree *t, int rank) {
  const TreeNode *n = t->root;
  while (n) {
    int before = size(n->left);
    if (rank == before)
      return n;
    if (rank < before) {
      n = n->left;
    } else {
      rank -= before + 1;
      n = n->right;
    }
  }
  return NULL;
}

int tree_rank(const Tree *t, int key) {
  int rank = 0;
  const TreeNode *n = t->root;
  while (n) {
    if (key <= n->key) {
      n = n->left;
    } else {
      rank += size(n->left) + 1;
      n = n->right;
    }
  }
  return rank;
}

void tree_start(const Tree *t, int low, TreeCursor *c) {
  c->depth = 0;
  for (const TreeNode *n = t->root; n;) {
    if (n->key >= low) {
      c->stack[c->depth++] = n;
      n = n->left;
    } else {
      n = n->right;
    }
  }
}

const TreeNode *tree_next(TreeCursor *c) {
  if (c->depth == 0)
    return NULL;
  const TreeNode *top = c->stack[--c->depth];
  for (const TreeNode *n = top->right; n; n = n->left)
    c->stack[c->depth++] = n;
  return top;
}

// Hangs every node of the subtree into `t`.
static void merge(Tree *t, TreeNode *n) {
  if (!n)
    return;
  TreeNode *left = n->left, *right = n->right;
  bool added;
  n->left = n->right = NULL;
  update(n);
  merge(t, left);
  t->root = insert(t->root, n, &added);
  merge(t, right);
}

void tree_merge(Tree *t, Tree *other) {
  merge(t, other->root);
  other->root = NULL;
}

static const char *check(const TreeNode *n, long low, long high) {
  if (!n)
    return NULL;
  if (n->key <= low || n->key >= high)
    return "keys are out of order";
  int left = height(n->left), right = height(n->right);
  if (n->height != (left > right ? left : right) + 1)
    return "height is wrong";
  if (left - right > 1 || right - left > 1)
    return "out of balance";
  if (n->size != size(n->left) + size(n->right) + 1)
    return "size is wrong";
  const char *problem = check(n->left, low, n->key);
  return problem ? problem : check(n->right, n->key, high);
}

const char *tree_check(const Tree *t) {
  return check(t->root, (long)INT_MIN - 1, (long)INT_MAX + 1);
}
