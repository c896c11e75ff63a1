/*@ requires ok: bst_ok(t);
    requires alone: node->left == NULL && node->right == NULL;
    ensures added_ok: bst_has(t, node->key);
    ensures size_ok: \result ==> t->size == \old(t->size) + 1;
    ensures parent_ok: \result ==> (node->parent == NULL
                                    ? t->root == node
                                    : node->parent->left == node ||
                                      node->parent->right == node);
    ensures order_ok: bst_ordered(t->root, -3000000000, 3000000000); */
int bst_add(Bst *t, Node *node);
