/*@ requires ok: tree_ok(t) && t != child;
    requires child_ok: child != NULL ==> tree_ok(child) && child->next == NULL;
    ensures ok: tree_ok(t);
    ensures count_ok: child != NULL ==>
      t->count == \old(t->count) + (child->nil ? \old(child->count) : 1); */
void tree_add_child(Tree *t, Tree *child);
