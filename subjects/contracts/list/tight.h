/*@ requires ok: list_ok(l);
    ensures remove_ok: !list_has(l, key);
    ensures size_ok: \old(list_has(l, key)) ==> l->size == \old(l->size) - 1;
    ensures result_ok: \result == \old(list_has(l, key)); */
int list_delete(List *l, int key);
