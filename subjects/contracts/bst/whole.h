/*@ requires ok: bst_ok(t);
    requires alone: node->left == NULL && node->right == NULL;
    ensures ok: bst_ok(t) && bst_has(t, node->key); */
int bst_add(Bst *t, Node *node);
