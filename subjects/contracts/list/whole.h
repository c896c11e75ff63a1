/*@ requires ok: list_ok(l);
    ensures ok: list_ok(l); */
int list_delete(List *l, int key);
