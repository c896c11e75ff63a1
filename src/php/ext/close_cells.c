// Cells: who wrote what a reference, an element or a property holds. See
// close.h.
#include "close.h"

#include "zend_weakrefs.h"

typedef struct {
  uint64_t where, key;
  uint32_t writer;
  uint32_t next; // in its chain
} cell;

// What `where` is: an address of 47 bits or the number of an object, then 16
// bits: the tag of an array, 0 for all else. References and cells elsewhere have
// keys of their own, and are in no chain.
#define TEXT_KEY ((uint64_t)1 << 63) // the key is a hash of a text
enum { KEY_REFERENCE = 1, KEY_ALIAS = 2 };

static uint64_t where_is(const void *at, uint32_t tag) {
  return ((uint64_t)(uintptr_t)at << 16 | tag) & ~TEXT_KEY;
}

static bool is_apart(const cell *c) {
  return !(c->where & (TEXT_KEY | 0xffff));
}

static cell *cells;
static uint32_t ncells, cells_room;
static uint32_t *chains; // a power of two of them
static uint32_t nchains;
static uint32_t last_tag;
static uint64_t last_object;
static HashTable objects; // with cells: key of the object -> number
static bool has_objects;

void close_cells_begin(void) {
  ncells = 1;
  last_tag = 0;
  last_object = 0;
  if (chains)
    memset(chains, 0, nchains * sizeof *chains);
  zend_hash_init(&objects, 16, NULL, NULL, 0);
  has_objects = true;
}

void close_cells_end(void) {
  zend_ulong key;
  if (!has_objects)
    return;
  has_objects = false;
  ZEND_HASH_FOREACH_NUM_KEY(&objects, key) {
    zend_weakrefs_hash_del(&objects, zend_weakref_key_to_object(key));
  }
  ZEND_HASH_FOREACH_END();
  zend_hash_destroy(&objects);
}

void close_cells_free(void) {
  free(cells);
  free(chains);
  cells = NULL;
  chains = NULL;
  cells_room = nchains = 0;
}

// --- chains -----------------------------------------------------------------

static uint32_t chain_of(uint64_t where, uint64_t key) {
  uint64_t h = (where ^ (key * 0x9e3779b97f4a7c15ull)) * 0xff51afd7ed558ccdull;
  return (uint32_t)(h >> 32) & (nchains - 1);
}

static bool grow(void) {
  uint32_t room = cells_room ? cells_room * 2 : 4096;
  cell *grown = realloc(cells, room * sizeof *grown);
  if (!grown)
    return false;
  cells = grown;
  cells_room = room;
  uint32_t *heads = realloc(chains, room * sizeof *heads);
  if (!heads)
    return false;
  chains = heads;
  nchains = room;
  memset(chains, 0, nchains * sizeof *chains);
  for (uint32_t i = 1; i < ncells; i++) {
    if (is_apart(&cells[i]))
      continue;
    uint32_t *head = &chains[chain_of(cells[i].where, cells[i].key)];
    cells[i].next = *head;
    *head = i;
  }
  return true;
}

static uint32_t new_cell(uint64_t where, uint64_t key) {
  if (ncells >= CLOSE_CELLS) {
    culprit_note("more values than the closer look tracks: pairs are missing");
    return 0;
  }
  if (ncells >= cells_room && !grow())
    return 0;
  cells[ncells] = (cell){.where = where, .key = key};
  return ncells++;
}

static uint32_t find(uint64_t where, uint64_t key, bool make) {
  if (nchains)
    for (uint32_t i = chains[chain_of(where, key)]; i; i = cells[i].next)
      if (cells[i].where == where && cells[i].key == key)
        return i;
  uint32_t n = make ? new_cell(where, key) : 0;
  if (n) {
    uint32_t *head = &chains[chain_of(where, key)];
    cells[n].next = *head;
    *head = n;
  }
  return n;
}

// The cell elsewhere that this one stands for; NULL: none.
static uint32_t *alias_of(const cell *c) {
  return is_apart(c) && c->key == KEY_ALIAS
             ? (uint32_t *)(uintptr_t)(c->where >> 16)
             : NULL;
}

uint32_t close_writer(uint32_t n) {
  if (!n || n >= ncells)
    return 0;
  const uint32_t *elsewhere = alias_of(&cells[n]);
  return elsewhere ? *elsewhere : cells[n].writer;
}

void close_write(uint32_t n, uint32_t statement) {
  if (!n || n >= ncells)
    return;
  uint32_t *elsewhere = alias_of(&cells[n]);
  *(elsewhere ? elsewhere : &cells[n].writer) = statement;
}

uint32_t close_alias(uint32_t *at) {
  return new_cell(where_is(at, 0), KEY_ALIAS);
}

// --- references -------------------------------------------------------------

static bool is_cell_of(uint32_t n, const zend_reference *ref) {
  return n && n < ncells && cells[n].where == where_is(ref, 0) &&
         cells[n].key == KEY_REFERENCE;
}

// A new one has not been written there: whatever is found counts only if the
// cell is of this reference.
uint32_t close_of_ref(const zend_reference *ref) {
  uint32_t n = ref->val.u2.extra;
  return is_cell_of(n, ref) ? n : 0;
}

void close_take_new(zend_reference *ref, uint32_t statement) {
  ref->val.u2.extra = 0;
  close_take(ref, statement);
}

void close_take(zend_reference *ref, uint32_t statement) {
  uint32_t n = close_of_ref(ref);
  if (!n)
    n = new_cell(where_is(ref, 0), KEY_REFERENCE);
  ref->val.u2.extra = n;
  close_write(n, statement);
}

// --- slots ------------------------------------------------------------------

#define SLOT_TAG 0xffffu // no array has it

uint32_t close_of_slot(const zval *slot, bool make) {
  return find(where_is(slot, SLOT_TAG), 0, make);
}

// --- arrays -----------------------------------------------------------------

// The bytes of the flags that PHP does not use.
static uint32_t tag_of(const HashTable *array) {
  uint32_t flags = HT_FLAGS(array);
  return (flags >> 8 & 0xff) | (flags >> 16 & 0xff00);
}

static void set_tag(HashTable *array, uint32_t tag) {
  HT_FLAGS(array) = (HT_FLAGS(array) & 0x00ff00ffu) | (tag & 0xff) << 8 |
                    (tag & 0xff00) << 16;
}

bool close_has_cells(const HashTable *array) { return tag_of(array) != 0; }

void close_forget(HashTable *array) {
  if (tag_of(array))
    set_tag(array, 0);
}

// Where its elements are found; 0: nowhere.
static uint64_t where_array(HashTable *array, bool make) {
  if (!tag_of(array)) {
    if (!make || GC_FLAGS(array) & GC_IMMUTABLE)
      return 0;
    if (last_tag >= CLOSE_TAGS) {
      culprit_note("more arrays than the closer look tracks: pairs are "
                   "missing");
      return 0;
    }
    set_tag(array, ++last_tag);
  }
  return where_is(array, tag_of(array));
}

// As PHP turns keys into keys of an array.
static bool read_key(const zval *key, uint64_t *where, uint64_t *out) {
  zend_ulong number;
  switch (Z_TYPE_P(key)) {
  case IS_STRING:
    if (ZEND_HANDLE_NUMERIC_STR(Z_STRVAL_P(key), Z_STRLEN_P(key), number)) {
      *out = number;
      return true;
    }
    *out = zend_string_hash_val(Z_STR_P(key));
    *where |= TEXT_KEY;
    return true;
  case IS_LONG:
    *out = (uint64_t)Z_LVAL_P(key);
    return true;
  case IS_FALSE:
  case IS_TRUE:
    *out = Z_TYPE_P(key) == IS_TRUE;
    return true;
  case IS_NULL:
    *out = zend_string_hash_val(ZSTR_EMPTY_ALLOC());
    *where |= TEXT_KEY;
    return true;
  default:
    return false;
  }
}

uint32_t close_of_element(HashTable *array, const zval *key, bool make) {
  uint64_t where = where_array(array, make), k;
  return where && read_key(key, &where, &k) ? find(where, k, make) : 0;
}

// PHP copies a reference that nobody shares as a plain value.
static uint32_t writer_of(HashTable *array, const zval *key, const zval *e) {
  return close_writer(Z_ISREF_P(e) ? close_of_ref(Z_REF_P(e))
                                   : close_of_element(array, key, false));
}

void close_copy(HashTable *from, HashTable *to) {
  zend_ulong number;
  zend_string *name;
  zval key, *e;
  if (!tag_of(from))
    return;
  ZEND_HASH_FOREACH_KEY_VAL(from, number, name, e) {
    if (name)
      ZVAL_STR(&key, name);
    else
      ZVAL_LONG(&key, (zend_long)number);
    uint32_t writer = writer_of(from, &key, e);
    if (writer)
      close_write(close_of_element(to, &key, true), writer);
  }
  ZEND_HASH_FOREACH_END();
}

// --- objects ----------------------------------------------------------------

static uint64_t where_object(zend_object *object, bool make) {
  zval *known =
      has_objects
          ? zend_hash_index_find(&objects, zend_object_to_weakref_key(object))
          : NULL;
  if (known)
    return (uint64_t)Z_LVAL_P(known) << 16;
  if (!make || !has_objects)
    return 0;
  if (zend_hash_num_elements(&objects) >= CLOSE_OBJECTS) {
    culprit_note("more objects than the closer look tracks: pairs are missing");
    return 0;
  }
  zval number;
  ZVAL_LONG(&number, (zend_long)++last_object);
  if (!zend_weakrefs_hash_add(&objects, object, &number))
    return 0;
  return last_object << 16;
}

uint32_t close_of_property(zend_object *object, zend_string *name, bool make) {
  uint64_t where = where_object(object, make);
  return where ? find(where | TEXT_KEY, zend_string_hash_val(name), make) : 0;
}
