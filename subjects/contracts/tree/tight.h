/*@ requires ok: tree_ok(t) && t != child;
    requires child_ok: child != NULL ==> tree_ok(child) && child->next == NULL;
    ensures count_ok: child != NULL ==>
      t->count == \old(t->count) + (child->nil ? \old(child->count) : 1);
    ensures last_ok: child != NULL && !child->nil ==> t->last == child;
    ensures parents_ok: tree_links_ok(t);
    ensures indexes_ok: tree_indexes_ok(t); */
void tree_add_child(Tree *t, Tree *child);
