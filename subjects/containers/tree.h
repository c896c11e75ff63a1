// A balanced (AVL) search tree from numbers to texts. Every node knows the
// size of its subtree, so ranks are found in logarithmic time.

#ifndef TREE_H
#define TREE_H

#include <stdbool.h>

enum { TREE_DEPTH = 32 };

typedef struct TreeNode TreeNode;
struct TreeNode {
  TreeNode *left, *right;
  char *text; // owned by the node
  int key;
  int height, size;
};

typedef struct {
  TreeNode *root;
} Tree;

// Walks the nodes in ascending order.
typedef struct {
  const TreeNode *stack[TREE_DEPTH];
  int depth;
} TreeCursor;

void tree_init(Tree *t);
void tree_clear(Tree *t);
int tree_size(const Tree *t);
int tree_height(const Tree *t);

// Stores a copy of the text under the key; true if the key is new.
bool tree_put(Tree *t, int key, const char *text);
bool tree_delete(Tree *t, int key);
const TreeNode *tree_find(const Tree *t, int key);

const TreeNode *tree_floor(const Tree *t, int key);   // greatest <= key
const TreeNode *tree_ceiling(const Tree *t, int key); // least >= key
const TreeNode *tree_select(const Tree *t, int rank); // rank counts from 0
int tree_rank(const Tree *t, int key);                // how many keys < key

// Starts at the first key >= low; tree_next returns NULL at the end.
void tree_start(const Tree *t, int low, TreeCursor *c);
const TreeNode *tree_next(TreeCursor *c);

// Moves every node of `other` into `t`; where both have the key the text of
// `other` wins. `other` is empty afterwards.
void tree_merge(Tree *t, Tree *other);

// NULL, or what is wrong with order, balance or sizes.
const char *tree_check(const Tree *t);

int tree_live(void); // nodes allocated and not freed

#endif
