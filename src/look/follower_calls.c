// What calls of library functions depend on, and what depends on them: see
// follower.h.
#include <stdlib.h>
#include <string.h>

#include "look/follower.h"
#include "util/str.h"

enum {
  POINTEE = 256, // bytes that an unknown function looks at
  LONGEST = 1 << 20,
};

// How a function looks at what its arguments point to, a letter each:
//   s string   w written, not read   - not looked at   ? up to POINTEE bytes
//   0-9 as many bytes as that argument says   a array of args 1 x 2
// Behind the last letter '?' counts. And what it does:
typedef enum {
  DOES_NOTHING_ELSE,
  DOES_COPY_STRING, // from argument 1 to 0
  DOES_COPY_COUNTED,
  DOES_COPY_BYTES,
  DOES_APPEND, // a string
  DOES_APPEND_COUNTED,
  DOES_DUPLICATE,
  DOES_DUPLICATE_COUNTED,
  DOES_FILL,
  DOES_ALLOCATE, // as many bytes as argument 0 says
  DOES_ALLOCATE_ZEROED,
  DOES_REALLOCATE,
  DOES_FORMAT,    // the format is argument `format`
  DOES_TOKENS,    // of its own state
  DOES_TOKENS_OF, // of the caller's state
  DOES_RANDOM,
  DOES_JUMP,
  DOES_END,
} FollowedEffect;

typedef struct {
  const char *name, *reads;
  FollowedEffect does;
  uint32_t format;
} LibraryRow;

// In alphabetical order.
static const LibraryRow rows[] = {
    {"_Exit", "-", DOES_END, 0},
    {"_IO_getc", "-", 0, 0},
    {"__assert_fail", "ssss", DOES_END, 0},
    {"__ctype_b_loc", "", 0, 0},
    {"__errno_location", "", 0, 0},
    {"__isoc23_sscanf", "ss", 0, 0},
    {"__isoc23_strtol", "sw-", 0, 0},
    {"__isoc23_strtoll", "sw-", 0, 0},
    {"__isoc23_strtoul", "sw-", 0, 0},
    {"__isoc23_strtoull", "sw-", 0, 0},
    {"__isoc99_sscanf", "ss", 0, 0},
    {"__memcpy_chk", "w2--", DOES_COPY_BYTES, 0},
    {"__memmove_chk", "w2--", DOES_COPY_BYTES, 0},
    {"__memset_chk", "w---", DOES_FILL, 0},
    {"__snprintf_chk", "w---s", DOES_FORMAT, 4},
    {"__sprintf_chk", "w--s", DOES_FORMAT, 3},
    {"__stpcpy_chk", "ws-", DOES_COPY_STRING, 0},
    {"__strcat_chk", "ss-", DOES_APPEND, 0},
    {"__strcpy_chk", "ws-", DOES_COPY_STRING, 0},
    {"__strdup", "s", DOES_DUPLICATE, 0},
    {"__strncat_chk", "ss--", DOES_APPEND_COUNTED, 0},
    {"__strncpy_chk", "ws--", DOES_COPY_COUNTED, 0},
    {"__strndup", "s-", DOES_DUPLICATE_COUNTED, 0},
    {"_exit", "-", DOES_END, 0},
    {"_longjmp", "--", DOES_JUMP, 0},
    {"_setjmp", "-", 0, 0},
    {"abort", "", DOES_END, 0},
    {"aligned_alloc", "--", 0, 0},
    {"atof", "s", 0, 0},
    {"atoi", "s", 0, 0},
    {"atol", "s", 0, 0},
    {"atoll", "s", 0, 0},
    {"bsearch", "?", 0, 0},
    {"calloc", "--", DOES_ALLOCATE_ZEROED, 0},
    {"clearerr", "-", 0, 0},
    {"close", "-", 0, 0},
    {"exit", "-", DOES_END, 0},
    {"fclose", "-", 0, 0},
    {"feof", "-", 0, 0},
    {"ferror", "-", 0, 0},
    {"fflush", "-", 0, 0},
    {"fgetc", "-", 0, 0},
    {"fgets", "w--", 0, 0},
    {"fopen", "ss", 0, 0},
    {"fread", "w---", 0, 0},
    {"free", "-", 0, 0},
    {"fscanf", "-s", 0, 0},
    {"getc", "-", 0, 0},
    {"getc_unlocked", "-", 0, 0},
    {"getdelim", "w---", 0, 0},
    {"getenv", "s", 0, 0},
    {"getline", "w--", 0, 0},
    {"longjmp", "--", DOES_JUMP, 0},
    {"malloc", "-", DOES_ALLOCATE, 0},
    {"memchr", "2--", 0, 0},
    {"memcmp", "22-", 0, 0},
    {"memcpy", "w2-", DOES_COPY_BYTES, 0},
    {"memmove", "w2-", DOES_COPY_BYTES, 0},
    {"memset", "w--", DOES_FILL, 0},
    {"open", "s", 0, 0},
    {"qsort", "a", 0, 0},
    {"quick_exit", "-", DOES_END, 0},
    {"rand", "", DOES_RANDOM, 0},
    {"random", "", DOES_RANDOM, 0},
    {"read", "-w-", 0, 0},
    {"realloc", "--", DOES_REALLOCATE, 0},
    {"setbuf", "--", 0, 0},
    {"setjmp", "-", 0, 0},
    {"setvbuf", "----", 0, 0},
    {"siglongjmp", "--", DOES_JUMP, 0},
    {"snprintf", "w-s", DOES_FORMAT, 2},
    {"sprintf", "ws", DOES_FORMAT, 1},
    {"srand", "-", DOES_RANDOM, 0},
    {"srandom", "-", DOES_RANDOM, 0},
    {"sscanf", "ss", 0, 0},
    {"stpcpy", "ws", DOES_COPY_STRING, 0},
    {"strcasecmp", "ss", 0, 0},
    {"strcat", "ss", DOES_APPEND, 0},
    {"strchr", "s-", 0, 0},
    {"strcmp", "ss", 0, 0},
    {"strcoll", "ss", 0, 0},
    {"strcpy", "ws", DOES_COPY_STRING, 0},
    {"strcspn", "ss", 0, 0},
    {"strdup", "s", DOES_DUPLICATE, 0},
    {"strlen", "s", 0, 0},
    {"strncasecmp", "ss-", 0, 0},
    {"strncat", "ss-", DOES_APPEND_COUNTED, 0},
    {"strncmp", "ss-", 0, 0},
    {"strncpy", "ws-", DOES_COPY_COUNTED, 0},
    {"strndup", "s-", DOES_DUPLICATE_COUNTED, 0},
    {"strpbrk", "ss", 0, 0},
    {"strrchr", "s-", 0, 0},
    {"strsep", "?s", DOES_TOKENS_OF, 0},
    {"strspn", "ss", 0, 0},
    {"strstr", "ss", 0, 0},
    {"strtod", "sw", 0, 0},
    {"strtok", "ss", DOES_TOKENS, 0},
    {"strtok_r", "ss?", DOES_TOKENS_OF, 0},
    {"strtol", "sw-", 0, 0},
    {"strtoll", "sw-", 0, 0},
    {"strtoul", "sw-", 0, 0},
    {"strtoull", "sw-", 0, 0},
    {"ungetc", "--", 0, 0},
};

static int by_name(const void *name, const void *row) {
  return strcmp(name, ((const LibraryRow *)row)->name);
}

static const LibraryRow *find_row(const char *name) {
  static const LibraryRow unknown = {"", "", DOES_NOTHING_ELSE, 0};
  const LibraryRow *row =
      bsearch(name, rows, sizeof rows / sizeof *rows, sizeof *rows, by_name);
  return row ? row : &unknown;
}

const char *follower_callee(const Follower *f, const IrCall *c) {
  const Program *p = f->program;
  return c->symbol == IR_NONE
             ? ""
             : program_name(p, p->symbols.items[c->symbol].name);
}

// --- before -----------------------------------------------------------------

static uint64_t arg_value(const Follower *f, const ReplayStep *s,
                          const IrCall *c, uint32_t i) {
  return i < c->nargs
             ? follower_value(f, s,
                              f->program->args.items[c->first_arg + i].operand)
             : 0;
}

static uint32_t arg_set(const Follower *f, const FollowFrame *frame,
                        const IrCall *c, uint32_t i) {
  return i < c->nargs
             ? follower_set(f, frame,
                            f->program->args.items[c->first_arg + i].operand)
             : 0;
}

// Up to the first NUL, which belongs to it, or what is not known.
static uint64_t text_extent(Follower *f, uint64_t at, uint64_t most) {
  for (uint64_t n = 0; n < most; n++) {
    uint8_t byte;
    bool known;
    uint32_t writer;
    if (!watched_byte(&f->memory, at + n, &byte, &known, &writer))
      return n;
    if (known && !byte)
      return n + 1;
  }
  return most;
}

// How many bytes from there on belong together.
static uint64_t extent(Follower *f, uint64_t at) {
  enum { NEAREST = 256 };
  uint64_t most = POINTEE, n = 0;
  for (size_t i = f->objects.len; i-- > 0 && f->objects.len - i < NEAREST;) {
    const FollowedObject *o = &f->objects.items[i];
    if (at - o->at < o->size && o->size - (at - o->at) < most)
      most = o->size - (at - o->at);
  }
  uint8_t byte;
  bool known;
  uint32_t writer;
  while (n < most && watched_byte(&f->memory, at + n, &byte, &known, &writer))
    n++;
  return n;
}

static uint64_t bytes_read(Follower *f, const ReplayStep *s, const IrCall *c,
                           uint32_t i, char how) {
  uint64_t at = arg_value(f, s, c, i), n;
  if (how == 's')
    return text_extent(f, at, LONGEST);
  if (how == '?')
    return extent(f, at);
  if (how == 'a')
    n = arg_value(f, s, c, 1) * arg_value(f, s, c, 2);
  else
    n = how >= '0' && how <= '9' ? arg_value(f, s, c, (uint32_t)(how - '0'))
                                 : 0;
  return n < LONGEST ? n : LONGEST;
}

// What code outside was given, it may write to.
static void give(Follower *f, uint64_t at, uint32_t set) {
  enum { MOST = 1 << 20 };
  if (f->given.len < MOST)
    hashmap_put(&f->given, &at, sizeof at, set);
}

void follower_call(Follower *f, const ReplayStep *s, FollowFrame *frame,
                   uint32_t base) {
  const IrCall *c = frame->call;
  const LibraryRow *row = find_row(follower_callee(f, c));
  uint32_t set = base;
  if (row->does == DOES_END)
    follower_note_end(f, base, s->inst->place);
  for (uint32_t i = 0; i < c->nargs; i++) {
    const IrArg *a = &f->program->args.items[c->first_arg + i];
    char how = i < strlen(row->reads) ? row->reads[i] : '?';
    set = follower_union(f, set, follower_set(f, frame, a->operand));
    if (a->flags & IR_POINTER)
      set = follower_union(f, set,
                           follower_memory(f, arg_value(f, s, c, i),
                                           bytes_read(f, s, c, i, how)));
  }
  if (row->does == DOES_TOKENS)
    set = f->tokens = follower_union(f, f->tokens, set);
  if (row->does == DOES_RANDOM)
    set = f->random = follower_union(f, f->random, set);
  if (row->does == DOES_JUMP)
    f->jumped = set;
  frame->outside = set;
  if (follower_prints(follower_callee(f, c)))
    return;
  f->last_outside = set;
  for (uint32_t i = 0; i < c->nargs; i++)
    if (f->program->args.items[c->first_arg + i].flags & IR_POINTER &&
        (i >= strlen(row->reads) || strchr("w?", row->reads[i])))
      give(f, arg_value(f, s, c, i), set);
}

// --- after ------------------------------------------------------------------

typedef struct {
  Follower *follower;
  const ReplayStep *step;
  const FollowFrame *frame;
  const IrCall *call;
  uint64_t result;
  uint32_t set; // of the call and its arguments, not of what they point to
} FollowedCall;

static uint64_t call_arg(const FollowedCall *l, uint32_t i) {
  return arg_value(l->follower, l->step, l->call, i);
}

static void copy_string(const FollowedCall *l, uint64_t to, uint64_t from,
                        uint64_t most) {
  uint64_t n = text_extent(l->follower, from, most < LONGEST ? most : LONGEST);
  follower_copy(l->follower, to, from, n, l->set);
}

static void append(const FollowedCall *l, uint64_t most) {
  uint64_t to = call_arg(l, 0), from = call_arg(l, 1);
  uint64_t end = text_extent(l->follower, to, LONGEST);
  uint32_t set = follower_union(l->follower, l->set,
                                follower_memory(l->follower, to, end));
  FollowedCall with = *l;
  with.set = set; // where it goes depends on what was there
  // The end of what was there is where the NUL is now: the call is over, but
  // the memory followed is still as it was before.
  copy_string(&with, to + (end ? end - 1 : 0), from, most);
}

static void fill_bytes(const FollowedCall *l, uint64_t at, uint8_t byte,
                       uint64_t n) {
  for (uint64_t i = 0; i < n && i < LONGEST; i++)
    watched_write(&l->follower->memory, at + i, &byte, 1, l->set);
}

// A token ends where the function has put a NUL: at the first delimiter.
static void end_token(const FollowedCall *l) {
  Follower *f = l->follower;
  Str token = {0}, delimiters = {0};
  uint8_t nul = 0;
  if (l->result && follower_text(f, l->result, LONGEST, &token) &&
      follower_text(f, call_arg(l, 1), LONGEST, &delimiters)) {
    size_t n = strcspn(str_text(&token), str_text(&delimiters));
    if (n < token.len)
      watched_write(&f->memory, l->result + n, &nul, 1, l->frame->outside);
  }
  str_release(&token);
  str_release(&delimiters);
}

static void do_effect(const FollowedCall *l, const LibraryRow *row) {
  Follower *f = l->follower;
  uint64_t a = call_arg(l, 0), b = call_arg(l, 1), n = call_arg(l, 2);
  switch (row->does) {
  case DOES_COPY_STRING:
    copy_string(l, a, b, LONGEST);
    return;
  case DOES_COPY_COUNTED:
    fill_bytes(l, a, 0, n);
    copy_string(l, a, b, n);
    return;
  case DOES_COPY_BYTES:
    follower_copy(f, a, b, n, l->set);
    return;
  case DOES_APPEND:
    append(l, LONGEST);
    return;
  case DOES_APPEND_COUNTED:
    append(l, n);
    return;
  case DOES_DUPLICATE:
    copy_string(l, l->result, a, LONGEST);
    return;
  case DOES_DUPLICATE_COUNTED:
    fill_bytes(l, l->result, 0, b + 1);
    copy_string(l, l->result, a, b);
    return;
  case DOES_FILL:
    fill_bytes(l, a, (uint8_t)b, n);
    return;
  case DOES_ALLOCATE:
    watched_forget(&f->memory, l->result, a);
    return;
  case DOES_ALLOCATE_ZEROED:
    fill_bytes(l, l->result, 0, a * b);
    return;
  case DOES_REALLOCATE:
    if (a && l->result && a != l->result)
      follower_copy(f, l->result, a, b, l->set);
    return;
  case DOES_TOKENS:
  case DOES_TOKENS_OF:
    end_token(l);
    return;
  case DOES_FORMAT:
    follower_format(f, l->step, l->frame, l->call, row->format, l->result);
    return;
  default:
    return;
  }
}

void follower_called(Follower *f, const ReplayStep *s, FollowFrame *frame) {
  const IrCall *c = &f->program->calls.items[frame->inst->a];
  uint32_t set = frame->outside;
  uint64_t result = c->nscalars ? s->regs[c->dst] : 0;
  for (uint32_t i = 0; i < c->nscalars; i++)
    f->regs.items[frame->first_reg + c->dst + i] = set;
  if (follower_output(f, s, frame, c, result))
    return;
  FollowedCall l = {f, s, frame, c, result, frame->called};
  for (uint32_t i = 0; i < c->nargs; i++)
    l.set = follower_union(f, l.set, arg_set(f, frame, c, i));
  do_effect(&l, find_row(follower_callee(f, c)));
}
