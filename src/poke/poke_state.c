// The variables of a stopped process: see poke_state.h.
#include "poke/poke_state.h"

#include <dwarf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

enum {
  CELLS_MAX = 20000,
  ELEMENTS_MAX = 256, // of one array
  ALL_MAX = 8 << 20,  // bytes of all cells
  TEXT_MAX = 256,
  LIST_MAX = 64, // pointers up to NULL
  HOPS_MAX = 6,
  FRAMES_MAX = 64,
  DEEPEST = 16, // types in types
  SHOWN_TEXT = 40,
  SHOWN_FIELDS = 3,
};

// --- memory -----------------------------------------------------------------

bool poke_read(pid_t pid, uint64_t at, void *out, size_t n) {
  struct iovec here = {out, n}, there = {(void *)(uintptr_t)at, n};
  return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)n;
}

// Through /proc: what is mapped without permission to write is written, too,
// into a copy of its own.
bool poke_write(pid_t pid, uint64_t at, const void *from, size_t n) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  bool good = fd >= 0 && pwrite(fd, from, n, (off_t)at) == (ssize_t)n;
  if (fd >= 0)
    close(fd);
  return good;
}

static void find_heap(PokeState *s) {
  char path[64], *line = NULL;
  size_t room = 0;
  snprintf(path, sizeof path, "/proc/%d/maps", (int)s->pid);
  FILE *f = fopen(path, "re");
  while (f && getline(&line, &room, f) > 0) {
    unsigned long long lo, hi;
    if (strstr(line, "[heap]") && sscanf(line, "%llx-%llx", &lo, &hi) == 2) {
      s->heap = lo;
      s->heap_end = hi;
    }
  }
  free(line);
  if (f)
    fclose(f);
}

// The size of the heap's block that begins there; 0: none does, as far as can
// be told.
static uint64_t block_size(const PokeState *s, uint64_t at) {
  enum { HEAD = 8, FLAGS = 7, SMALLEST = 32, LARGEST = 1 << 24 };
  uint64_t head;
  if (at % 16 || at < s->heap + 16 || at >= s->heap_end ||
      !poke_read(s->pid, at - HEAD, &head, sizeof head))
    return 0;
  head &= ~(uint64_t)FLAGS;
  bool good = head >= SMALLEST && head < LARGEST && head % 16 == 0 &&
              head <= s->heap_end - at + HEAD;
  return good ? head - HEAD : 0;
}

// --- types ------------------------------------------------------------------

// Behind names and qualifiers. False: void, or a type without an end.
static bool plain_type(Dwarf_Die *die, Dwarf_Die *out) {
  Dwarf_Attribute attr;
  Dwarf_Die next;
  *out = *die;
  for (int i = 0; i < DEEPEST; i++) {
    switch (dwarf_tag(out)) {
    case DW_TAG_typedef:
    case DW_TAG_const_type:
    case DW_TAG_volatile_type:
    case DW_TAG_restrict_type:
    case DW_TAG_atomic_type:
      if (!dwarf_attr(out, DW_AT_type, &attr) ||
          !dwarf_formref_die(&attr, &next))
        return false;
      *out = next;
      continue;
    default:
      return true;
    }
  }
  return false;
}

static bool type_of(Dwarf_Die *die, Dwarf_Die *out) {
  Dwarf_Attribute attr;
  Dwarf_Die type;
  return dwarf_attr_integrate(die, DW_AT_type, &attr) &&
         dwarf_formref_die(&attr, &type) && plain_type(&type, out);
}

static bool has_number(Dwarf_Die *die, unsigned name, uint64_t *out) {
  Dwarf_Attribute attr;
  Dwarf_Word v;
  if (!dwarf_attr(die, name, &attr) || dwarf_formudata(&attr, &v))
    return false;
  *out = v;
  return true;
}

static uint64_t size_of(Dwarf_Die *type) {
  Dwarf_Word size;
  return dwarf_aggregate_size(type, &size) ? 0 : size;
}

// What is nobody's business but the library's.
static bool is_foreign(Dwarf_Die *type) {
  static const char *const names[] = {"_IO_FILE", "__va_list_tag",
                                      "__jmp_buf_tag", NULL};
  const char *name = dwarf_diename(type);
  return name && text_is_one_of(name, names);
}

static bool is_byte(Dwarf_Die *type) {
  uint64_t size;
  return dwarf_tag(type) == DW_TAG_base_type &&
         has_number(type, DW_AT_byte_size, &size) && size == 1;
}

static CellKind kind_of(Dwarf_Die *type) {
  uint64_t encoding = 0;
  if (dwarf_tag(type) == DW_TAG_pointer_type)
    return CELL_POINTER;
  has_number(type, DW_AT_encoding, &encoding);
  switch (encoding) {
  case DW_ATE_float:
    return CELL_FLOAT;
  case DW_ATE_unsigned:
  case DW_ATE_unsigned_char:
  case DW_ATE_boolean:
    return CELL_UNSIGNED;
  default:
    return CELL_SIGNED;
  }
}

// --- cells ------------------------------------------------------------------

// Where a walk stands.
typedef struct {
  int frame;
  const char *function, *name;
  unsigned hops;
} WalkPlace;

static WalkPlace at_name(const WalkPlace *w, const char *name) {
  return (WalkPlace){w->frame, w->function, name, w->hops};
}

static void add_cell(PokeState *s, const WalkPlace *w, uint64_t at,
                     uint64_t size, CellKind kind) {
  uint64_t fresh = s->cells.len + 1;
  if (!size || size > POKE_BYTES || s->cells.len >= CELLS_MAX ||
      s->bytes + size > ALL_MAX ||
      hashmap_intern(&s->seen, &at, sizeof at, fresh) != fresh)
    return;
  s->bytes += size;
  uint8_t *bytes = arena_array(&s->arena, uint8_t, size);
  if (poke_read(s->pid, at, bytes, size))
    array_push(&s->cells, (PokeCell){w->frame, w->function, w->name, at,
                                     (uint32_t)size, kind, bytes, NULL});
}

static bool is_taken(const PokeState *s, uint64_t at) {
  uint64_t ignored;
  return hashmap_get(&s->seen, &at, sizeof at, &ignored);
}

// A table of bytes; others may lead into its middle.
static void add_table(PokeState *s, const WalkPlace *w, uint64_t at,
                      uint64_t size, CellKind kind) {
  size_t before = s->cells.len;
  add_cell(s, w, at, size, kind);
  for (uint64_t i = at + 1; s->cells.len > before && i < at + size; i++)
    hashmap_intern(&s->seen, &i, sizeof i, 1);
}

// Up to its end, or where another one begins that has been told.
static void add_text(PokeState *s, const WalkPlace *w, uint64_t at) {
  uint64_t most = block_size(s, at), n = 0;
  uint8_t byte = 1;
  most = most && most < TEXT_MAX ? most : TEXT_MAX;
  while (n < most && byte && !is_taken(s, at + n) &&
         poke_read(s->pid, at + n, &byte, 1))
    n++;
  add_table(s, w, at, n, CELL_TEXT);
}

// --- what pointers are shown as ---------------------------------------------

// As in a C string, cut at SHOWN_TEXT.
static void show_text(const PokeState *s, uint64_t at, Str *out) {
  unsigned char c = 0;
  size_t n = 0;
  if (!poke_read(s->pid, at, &c, 1)) {
    str_add(out, "an address without memory");
    return;
  }
  str_addc(out, '"');
  for (; c && n < SHOWN_TEXT; n++) {
    if (c < 0x20 || c >= 0x7f)
      str_addf(out, "\\x%02x", c);
    else
      str_addf(out, c == '"' || c == '\\' ? "\\%c" : "%c", c);
    if (!poke_read(s->pid, at + n + 1, &c, 1))
      c = 0;
  }
  str_add(out, c ? "\"..." : "\"");
}

static bool find_unit(const PokeState *s, uint64_t pc, Dwarf_Die *out);

// The function whose code begins there.
static void show_function(const PokeState *s, uint64_t at, Str *out) {
  uint64_t pc = at - s->bias;
  Dwarf_Die unit, *scopes = NULL;
  int n = find_unit(s, pc, &unit) ? dwarf_getscopes(&unit, pc, &scopes) : 0;
  const char *name = NULL;
  for (int i = 0; i < n && !name; i++)
    if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram)
      name = dwarf_diename(&scopes[i]);
  str_addf(out, name ? "%s()" : "a function of another library", name);
  free(scopes);
}

static void show_number(CellKind kind, const uint8_t *bytes, uint64_t size,
                        Str *out) {
  unsigned shift = size < 8 ? 64 - 8 * (unsigned)size : 0;
  uint64_t v = 0;
  double d = 0;
  float f = 0;
  memcpy(&v, bytes, size);
  memcpy(&d, &v, sizeof d);
  memcpy(&f, &v, sizeof f);
  if (kind == CELL_FLOAT)
    str_addf(out, "%g", size == sizeof f ? (double)f : d);
  else if (kind == CELL_UNSIGNED)
    str_addf(out, "%llu", (unsigned long long)v);
  else
    str_addf(out, "%lld", (long long)((int64_t)(v << shift) >> shift));
}

static void show_pointee(const PokeState *s, uint64_t at, Dwarf_Die *type,
                         int depth, Str *out);

// One object that is neither a structure nor an array.
static bool show_scalar(const PokeState *s, uint64_t at, Dwarf_Die *type,
                        int depth, Str *out) {
  uint64_t size = size_of(type);
  uint8_t bytes[8] = {0};
  uint64_t value;
  Dwarf_Die to;
  int tag = dwarf_tag(type);
  if (!size || size > sizeof bytes || !poke_read(s->pid, at, bytes, size))
    return false;
  memcpy(&value, bytes, sizeof value);
  if (tag == DW_TAG_base_type || tag == DW_TAG_enumeration_type)
    show_number(kind_of(type), bytes, size, out);
  else if (tag != DW_TAG_pointer_type)
    return false;
  else if (!value)
    str_add(out, "NULL");
  else if (depth && type_of(type, &to))
    show_pointee(s, value, &to, depth - 1, out);
  if (!out->len)
    str_add(out, "a pointer");
  return true;
}

// "{len = 3, next = NULL}": the first that are scalar.
static void show_fields(const PokeState *s, uint64_t at, Dwarf_Die *type,
                        Str *out) {
  Dwarf_Die member, of;
  size_t shown = 0;
  bool more = false;
  str_addc(out, '{');
  for (int rc = dwarf_child(type, &member); !rc;
       rc = dwarf_siblingof(&member, &member)) {
    uint64_t offset = 0, ignored;
    Str value = {0};
    const char *name = dwarf_diename(&member);
    if (dwarf_tag(&member) != DW_TAG_member)
      continue;
    has_number(&member, DW_AT_data_member_location, &offset);
    bool good = name && shown < SHOWN_FIELDS &&
                !has_number(&member, DW_AT_bit_size, &ignored) &&
                type_of(&member, &of);
    bool text = good && dwarf_tag(&of) == DW_TAG_pointer_type;
    good = good && show_scalar(s, at + offset, &of, text ? 1 : 0, &value);
    if (good)
      str_addf(out, "%s%s = %s", shown++ ? ", " : "", name, str_text(&value));
    else
      more = true;
    str_release(&value);
  }
  str_addf(out, "%s}", !more ? "" : shown ? ", ..." : "...");
}

// `depth`: how many pointers in what is shown are followed.
static void show_pointee(const PokeState *s, uint64_t at, Dwarf_Die *type,
                         int depth, Str *out) {
  uint8_t byte;
  Str value = {0};
  int tag = dwarf_tag(type);
  if (tag == DW_TAG_subroutine_type)
    show_function(s, at, out);
  else if (is_byte(type))
    show_text(s, at, out);
  else if (!poke_read(s->pid, at, &byte, 1))
    str_add(out, "an address without memory");
  else if (tag == DW_TAG_structure_type && depth && !is_foreign(type))
    show_fields(s, at, type, out);
  else if (tag == DW_TAG_structure_type)
    str_add(out, "{...}");
  else if (show_scalar(s, at, type, depth ? depth - 1 : 0, &value))
    str_addf(out, "pointer to %s", str_text(&value));
  str_release(&value);
}

static void note_pointee(PokeState *s, uint64_t value, Dwarf_Die *type) {
  Dwarf_Die to;
  Str text = {0};
  if (type_of(type, &to))
    show_pointee(s, value, &to, 2, &text);
  array_last(&s->cells).leads = arena_strdup(&s->arena, str_text(&text));
  str_release(&text);
}

// The cell that begins there; NULL: none does.
static const PokeCell *cell_at(const PokeState *s, uint64_t at) {
  uint64_t n;
  bool found = hashmap_get(&s->seen, &at, sizeof at, &n) && n <= s->cells.len;
  return found && s->cells.items[n - 1].at == at ? &s->cells.items[n - 1]
                                                 : NULL;
}

static void show_cell(const PokeState *s, const PokeCell *c, Str *out) {
  if (c->kind == CELL_TEXT || c->kind == CELL_TABLE) {
    show_text(s, c->at, out);
  } else if (c->kind == CELL_POINTER) {
    str_add(out, "pointer to a pointer");
  } else {
    str_add(out, "pointer to ");
    show_number(c->kind, c->bytes, c->size, out);
  }
}

// What has no type to be shown by (void *) may be something that is known under
// another name.
static void show_untyped(PokeState *s) {
  for (size_t i = 0; i < s->cells.len; i++) {
    PokeCell *c = &s->cells.items[i];
    uint64_t value;
    if (!c->leads || *c->leads)
      continue;
    memcpy(&value, c->bytes, sizeof value);
    const PokeCell *to = cell_at(s, value);
    Str text = {0};
    if (to)
      show_cell(s, to, &text);
    c->leads = to ? arena_strdup(&s->arena, str_text(&text)) : "a pointer";
    str_release(&text);
  }
}

static void add_pointer(PokeState *s, const WalkPlace *w, uint64_t at,
                        Dwarf_Die *type) {
  Dwarf_Die to;
  uint64_t value;
  size_t before = s->cells.len;
  add_cell(s, w, at, sizeof value, CELL_POINTER);
  if (s->cells.len > before && poke_read(s->pid, at, &value, sizeof value) &&
      value)
    note_pointee(s, value, type);
  if (w->hops >= HOPS_MAX || !poke_read(s->pid, at, &value, sizeof value) ||
      !value || !type_of(type, &to))
    return;
  array_push(&s->pointers, (PokePointer){w->frame, w->function, w->name, value,
                                         to, w->hops + 1});
}

static void add_object(PokeState *s, const WalkPlace *w, uint64_t at,
                       Dwarf_Die *type, int depth);

// "s" and "x": s.x. What a pointer leads to is called "p->" or "p[1]." here.
static const char *field_name(PokeState *s, const char *whole,
                              const char *field) {
  return arena_printf(&s->arena, "%s%s%s", whole,
                      text_ends(whole, "->") ? "" : ".", field);
}

static void add_fields(PokeState *s, const WalkPlace *w, uint64_t at,
                       Dwarf_Die *type, int depth) {
  Dwarf_Die member, of;
  uint64_t offset, ignored;
  if (dwarf_child(type, &member))
    return;
  do {
    offset = 0;
    if (dwarf_tag(&member) != DW_TAG_member ||
        has_number(&member, DW_AT_bit_size, &ignored) || !type_of(&member, &of))
      continue;
    has_number(&member, DW_AT_data_member_location, &offset);
    const char *name = dwarf_diename(&member);
    WalkPlace inner = at_name(w, name ? field_name(s, w->name, name) : w->name);
    add_object(s, &inner, at + offset, &of, depth + 1);
  } while (!dwarf_siblingof(&member, &member));
}

// "p->" without its arrow is "*p".
static const char *base_name(PokeState *s, const char *name) {
  if (!text_ends(name, "->"))
    return name;
  return arena_printf(&s->arena, "(*%.*s)", (int)strlen(name) - 2, name);
}

// `dimension`: DIE of a subrange; those behind it are inner ones.
static void add_elements(PokeState *s, const WalkPlace *w, uint64_t at,
                         Dwarf_Die dimension, Dwarf_Die *of, int depth) {
  Dwarf_Die inner;
  uint64_t n = 0, each = size_of(of), upper;
  bool more = !dwarf_siblingof(&dimension, &inner);
  for (Dwarf_Die d = dimension; more && !dwarf_siblingof(&d, &d);)
    each = has_number(&d, DW_AT_count, &n) ? each * n : 0;
  n = 0;
  if (!has_number(&dimension, DW_AT_count, &n) &&
      has_number(&dimension, DW_AT_upper_bound, &upper))
    n = upper + 1;
  if (!more && is_byte(of)) {
    add_table(s, w, at, n, CELL_TABLE);
    return;
  }
  const char *base = base_name(s, w->name);
  for (uint64_t i = 0; each && i < n && i < ELEMENTS_MAX; i++) {
    WalkPlace one = at_name(
        w, arena_printf(&s->arena, "%s[%llu]", base, (unsigned long long)i));
    if (more)
      add_elements(s, &one, at + i * each, inner, of, depth + 1);
    else
      add_object(s, &one, at + i * each, of, depth + 1);
  }
}

static void add_object(PokeState *s, const WalkPlace *w, uint64_t at,
                       Dwarf_Die *type, int depth) {
  Dwarf_Die inner, of;
  if (depth > DEEPEST || s->cells.len >= CELLS_MAX || is_foreign(type))
    return;
  switch (dwarf_tag(type)) {
  case DW_TAG_base_type:
  case DW_TAG_enumeration_type:
    if (size_of(type) <= 8)
      add_cell(s, w, at, size_of(type), kind_of(type));
    return;
  case DW_TAG_pointer_type:
    add_pointer(s, w, at, type);
    return;
  case DW_TAG_structure_type:
    add_fields(s, w, at, type, depth);
    return;
  case DW_TAG_union_type:
    add_table(s, w, at, size_of(type), CELL_TABLE);
    return;
  case DW_TAG_array_type:
    if (type_of(type, &of) && !dwarf_child(type, &inner))
      add_elements(s, w, at, inner, &of, depth);
    return;
  default:
    return;
  }
}

// --- what pointers lead to --------------------------------------------------

static bool is_struct(Dwarf_Die *type) {
  return dwarf_tag(type) == DW_TAG_structure_type;
}

// Would malloc(size) give a block of this size?
static bool is_block_of_one(uint64_t block, uint64_t size) {
  enum { HEAD = 8, STEP = 16, LEAST = 24 };
  uint64_t one = (size + HEAD + STEP - 1) / STEP * STEP - HEAD;
  return block == (one < LEAST ? LEAST : one);
}

// "p->", "*p", "p[2]": fields are added with an arrow where there is one.
static const char *pointee_name(PokeState *s, const char *p, uint64_t i,
                                bool many, bool arrow) {
  if (many)
    return arena_printf(&s->arena, "%s[%llu]", p, (unsigned long long)i);
  return arena_printf(&s->arena, arrow ? "%s->" : "*%s", p);
}

// How many pointers stand there up to NULL: as in argv.
static uint64_t list_length(const PokeState *s, uint64_t at) {
  uint64_t n = 0, to = 1;
  while (n < LIST_MAX && poke_read(s->pid, at + 8 * n, &to, sizeof to) && to)
    n++;
  return n;
}

// How many of them a pointer leads to.
static uint64_t count_pointees(const PokeState *s, uint64_t at,
                               Dwarf_Die *type) {
  uint64_t size = size_of(type), block = block_size(s, at), n = 1;
  bool one = is_struct(type) && is_block_of_one(block, size);
  if (block / size > 1 && !one)
    n = block / size;
  else if (!block && dwarf_tag(type) == DW_TAG_pointer_type)
    n = list_length(s, at);
  return n < ELEMENTS_MAX ? n : ELEMENTS_MAX;
}

static void follow(PokeState *s, const PokePointer *p) {
  Dwarf_Die type = p->type;
  uint64_t size = size_of(&type);
  WalkPlace w = {p->frame, p->function, p->name, p->hops};
  if (is_byte(&type)) {
    w.name = arena_printf(&s->arena, "*%s", p->name);
    add_text(s, &w, p->to);
    return;
  }
  if (!size)
    return;
  uint64_t n = count_pointees(s, p->to, &type);
  for (uint64_t i = 0; i < n; i++) {
    WalkPlace one =
        at_name(&w, pointee_name(s, p->name, i, n > 1, is_struct(&type)));
    add_object(s, &one, p->to + i * size, &type, 0);
  }
}

// --- variables --------------------------------------------------------------

static bool is_rbp(const Dwarf_Op *ops, size_t n) {
  return n == 1 && ops[0].atom == DW_OP_reg6;
}

// An address in the program's image.
static bool image_address(const PokeState *s, Dwarf_Attribute *attr,
                          Dwarf_Op *op, uint64_t *out) {
  Dwarf_Attribute indirect;
  Dwarf_Addr at = op->number;
  if (op->atom == DW_OP_addrx && (dwarf_getlocation_attr(attr, op, &indirect) ||
                                  dwarf_formaddr(&indirect, &at)))
    return false;
  *out = at + s->bias;
  return true;
}

// Where the operations of a location lead: in the frame, behind a pointer there
// (large arguments, locals under a sanitizer), or in the image.
static bool find_address(const PokeState *s, Dwarf_Attribute *attr,
                         Dwarf_Op *ops, size_t n, const PokeFrame *frame,
                         uint64_t *out) {
  for (size_t i = 0; i < n; i++) {
    bool first = i == 0, good = false;
    switch (ops[i].atom) {
    case DW_OP_fbreg:
    case DW_OP_breg6:
    case DW_OP_breg7:
      good = first && frame;
      if (good)
        *out = ops[i].number +
               (ops[i].atom == DW_OP_breg7 ? frame->stack : frame->base);
      break;
    case DW_OP_addr:
    case DW_OP_addrx:
      good = first && image_address(s, attr, &ops[i], out);
      break;
    case DW_OP_deref:
      good = !first && poke_read(s->pid, *out, out, sizeof *out);
      break;
    case DW_OP_plus_uconst:
      *out += ops[i].number;
      good = !first;
      break;
    default:
      break;
    }
    if (!good)
      return false;
  }
  return n > 0;
}

// `frame` NULL: variables of the file only, whose
// name is that of the way so far. Two files may have one of the same name.
static void add_variable(PokeState *s, const WalkPlace *w, Dwarf_Die *die,
                         const PokeFrame *frame) {
  Dwarf_Attribute attr;
  Dwarf_Op *ops;
  size_t n;
  uint64_t at = 0;
  Dwarf_Die type;
  const char *name = dwarf_diename(die);
  if (!name || text_starts(name, "__culprit_") ||
      !dwarf_attr(die, DW_AT_location, &attr) ||
      dwarf_getlocation(&attr, &ops, &n) ||
      !find_address(s, &attr, ops, n, frame, &at) || !type_of(die, &type))
    return;
  uint64_t fresh = s->names.len + 1;
  bool first = hashmap_intern(&s->names, name, strlen(name), fresh) == fresh;
  if (!first && w->frame != GLOBAL)
    return; // hidden by one of an inner block
  WalkPlace own =
      at_name(w, first ? arena_strdup(&s->arena, name)
                       : arena_printf(&s->arena, "%s of %s", name, w->name));
  add_object(s, &own, at, &type, 0);
}

static void add_variables(PokeState *s, const WalkPlace *w, Dwarf_Die *scope,
                          const PokeFrame *frame) {
  Dwarf_Die child;
  if (dwarf_child(scope, &child))
    return;
  do {
    int tag = dwarf_tag(&child);
    if (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter)
      add_variable(s, w, &child, frame);
  } while (!dwarf_siblingof(&child, &child));
}

static void forget_names(PokeState *s) {
  hashmap_release(&s->names);
  s->names = (Hashmap){0};
}

// The unit that has code there; clang writes no index of them.
static bool find_unit(const PokeState *s, uint64_t pc, Dwarf_Die *out) {
  Dwarf_Off at = 0, next;
  size_t head;
  for (; !dwarf_nextcu(s->dwarf, at, &next, &head, NULL, NULL, NULL); at = next)
    if (dwarf_offdie(s->dwarf, at + head, out) && dwarf_haspc(out, pc) > 0)
      return true;
  return false;
}

// The scopes of one function. False: it has no debug information.
static bool add_function(PokeState *s, int number, uint64_t pc,
                         const PokeFrame *frame) {
  Dwarf_Die unit, *scopes = NULL;
  Dwarf_Attribute attr;
  Dwarf_Op *ops;
  size_t n;
  int count = find_unit(s, pc, &unit) ? dwarf_getscopes(&unit, pc, &scopes) : 0;
  int last = 0;
  while (last < count && dwarf_tag(&scopes[last]) != DW_TAG_subprogram)
    last++;
  bool good = last < count &&
              dwarf_attr_integrate(&scopes[last], DW_AT_frame_base, &attr) &&
              !dwarf_getlocation(&attr, &ops, &n) && is_rbp(ops, n);
  if (good) {
    const char *name = dwarf_diename(&scopes[last]);
    WalkPlace w = {number, arena_strdup(&s->arena, name ? name : ""), "", 0};
    forget_names(s);
    for (int i = 0; i <= last; i++)
      add_variables(s, &w, &scopes[i], frame);
  }
  free(scopes);
  return good;
}

static void add_globals(PokeState *s) {
  Dwarf_Off at = 0, next;
  size_t head;
  WalkPlace w = {GLOBAL, "", "", 0};
  forget_names(s);
  while (!dwarf_nextcu(s->dwarf, at, &next, &head, NULL, NULL, NULL)) {
    Dwarf_Die unit;
    if (dwarf_offdie(s->dwarf, at + head, &unit)) {
      const char *file = dwarf_diename(&unit);
      w.name = file ? path_base(file) : "?";
      add_variables(s, &w, &unit, NULL);
    }
    at = next;
  }
}

static void follow_all(PokeState *s) {
  for (size_t i = 0; i < s->pointers.len && s->cells.len < CELLS_MAX; i++) {
    PokePointer p = s->pointers.items[i];
    follow(s, &p);
  }
  s->pointers.len = 0;
}

// Names that the function itself has for something come first, then those of
// the file.
void poke_state_read(PokeState *s, uint64_t pc, PokeFrame frame) {
  uint64_t saved[2];
  find_heap(s);
  for (int i = 0; i < FRAMES_MAX; i++) {
    // A return address may be that of the next function already.
    bool known = add_function(s, i, pc - s->bias - (i > 0), &frame);
    follow_all(s);
    if (i == 0)
      add_globals(s);
    follow_all(s);
    if (!known || !poke_read(s->pid, frame.base, saved, sizeof saved) ||
        saved[0] <= frame.base)
      break;
    frame = (PokeFrame){saved[0], frame.base + sizeof saved};
    pc = saved[1];
  }
  show_untyped(s);
}

// --- opening and closing ----------------------------------------------------

int poke_state_open(PokeState *s, const char *program, pid_t pid, uint64_t bias,
                    Err *err) {
  *s = (PokeState){.pid = pid, .bias = bias};
  s->fd = open(program, O_RDONLY | O_CLOEXEC);
  if (s->fd < 0)
    return err_set(err, "%s: %s", program, strerror(errno));
  s->dwarf = dwarf_begin(s->fd, DWARF_C_READ);
  if (!s->dwarf)
    return err_set(err, "%s: no debug information: %s", program,
                   dwarf_errmsg(-1));
  return 0;
}

void poke_state_close(PokeState *s) {
  if (s->dwarf)
    dwarf_end(s->dwarf);
  if (s->fd >= 0)
    close(s->fd);
  array_release(&s->cells);
  array_release(&s->pointers);
  hashmap_release(&s->seen);
  hashmap_release(&s->names);
  arena_release(&s->arena);
}
