/*@ requires ok: heap_ok(h);
    requires some: h->size > 0;
    ensures ok: heap_ok(h) && h->size == \old(h->size) - 1; */
int heap_pop(Heap *h);
