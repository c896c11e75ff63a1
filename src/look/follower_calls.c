// What calls of library functions depend on, and what depends on them: see
// follower.h.
#include <string.h>

#include "look/follower.h"
#include "model/library_effects.h"
#include "util/str.h"

enum {
  POINTEE = 256, // bytes that an unknown function looks at
  LONGEST = 1 << 20,
};

const char *follower_callee(const Follower *f, const IrCall *c) {
  const Program *p = f->program;
  return c->symbol == IR_NONE
             ? ""
             : program_name(p, p->symbols.items[c->symbol].name);
}

static const LibraryCall *library_of(const Follower *f, const IrCall *c) {
  return library_call(follower_callee(f, c));
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
                           uint32_t i, LibraryPointee p) {
  uint64_t at = arg_value(f, s, c, i), n = 0;
  if (p.use == POINTEE_TEXT)
    return text_extent(f, at, LONGEST);
  if (p.use == POINTEE_UNKNOWN)
    return extent(f, at);
  if (p.use == POINTEE_BYTES)
    n = arg_value(f, s, c, (uint32_t)p.size);
  if (p.use == POINTEE_BYTES && p.factor >= 0)
    n *= arg_value(f, s, c, (uint32_t)p.factor);
  return n < LONGEST ? n : LONGEST;
}

// What code outside was given, it may write to.
static void give(Follower *f, uint64_t at, uint32_t set) {
  enum { MOST = 1 << 20 };
  if (f->given.len < MOST)
    hashmap_put(&f->given, &at, sizeof at, set);
}

static bool may_write(const LibraryCall *call, uint32_t arg) {
  PointeeUse use = library_pointee(call, (int)arg).use;
  return use == POINTEE_WRITTEN || use == POINTEE_UNKNOWN;
}

void follower_call(Follower *f, const ReplayStep *s, FollowFrame *frame,
                   uint32_t base) {
  const IrCall *c = frame->call;
  const LibraryCall *call = library_of(f, c);
  LibraryAction does = call ? call->does : DOES_NOTHING_ELSE;
  uint32_t set = base;
  if (does == DOES_END)
    follower_note_end(f, base, s->inst->place);
  for (uint32_t i = 0; i < c->nargs; i++) {
    const IrArg *a = &f->program->args.items[c->first_arg + i];
    set = follower_union(f, set, follower_set(f, frame, a->operand));
    if (a->flags & IR_POINTER)
      set = follower_union(
          f, set,
          follower_memory(
              f, arg_value(f, s, c, i),
              bytes_read(f, s, c, i, library_pointee(call, (int)i))));
  }
  if (does == DOES_TOKENS)
    set = f->tokens = follower_union(f, f->tokens, set);
  if (does == DOES_RANDOM)
    set = f->random = follower_union(f, f->random, set);
  if (does == DOES_JUMP)
    f->jumped = set;
  frame->outside = set;
  if (follower_prints(follower_callee(f, c)))
    return;
  f->last_outside = set;
  for (uint32_t i = 0; i < c->nargs; i++)
    if (f->program->args.items[c->first_arg + i].flags & IR_POINTER &&
        may_write(call, i))
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

static void do_effect(const FollowedCall *l, const LibraryCall *call) {
  Follower *f = l->follower;
  uint64_t a = call_arg(l, 0), b = call_arg(l, 1), n = call_arg(l, 2);
  switch (call->does) {
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
    follower_format(f, l->step, l->frame, l->call,
                    (uint32_t)library_format(call), l->result);
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
  const LibraryCall *call = library_of(f, c);
  if (call)
    do_effect(&l, call);
}
