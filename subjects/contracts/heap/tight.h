/*@ predicate is_least(Heap *h, int key) =
      \forall integer i; 0 <= i < h->size ==> key <= h->keys[i]; */

/*@ requires ok: heap_ok(h);
    requires some: h->size > 0;
    ensures least_ok: is_least(h, \result);
    ensures result_ok: \result == \old(h->keys[0]);
    ensures size_ok: h->size == \old(h->size) - 1;
    ensures last_ok: h->size > 0 ==>
      heap_count(h, \old(h->keys[h->size - 1])) > 0;
    ensures order_ok: \forall integer i; 1 <= i < h->size ==>
      h->keys[(i - 1) / 2] <= h->keys[i]; */
int heap_pop(Heap *h);
