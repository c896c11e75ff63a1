// Where a process was when a fatal signal ended it: see unwind.h.
//
// elfutils does the work; it is given the modules from the saved memory map,
// the saved registers, and memory reads that look into the saved stack only.
// Looking for separate debug information, on disk or over the network, is
// switched off.
#include "program/unwind.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/fs.h"
#include "util/mem.h"

typedef struct {
  const RunHeader *h;
  const unsigned char *stack;
  uint64_t stack_at;
  size_t stack_size;
  CodePlace *out;
  size_t n, max;
  bool full;     // there were more than `max`
  bool short_of; // the stack was not saved as far as was asked for
} Unwind;

// --- memory and registers ---------------------------------------------------

static bool read_memory(Dwfl *dwfl, Dwarf_Addr at, Dwarf_Word *result,
                        void *arg) {
  (void)dwfl;
  Unwind *u = arg;
  if (at < u->stack_at || at - u->stack_at > u->stack_size ||
      u->stack_size - (at - u->stack_at) < sizeof *result) {
    u->short_of = true;
    return false;
  }
  memcpy(result, u->stack + (at - u->stack_at), sizeof *result);
  return true;
}

static bool set_registers(Dwfl_Thread *thread, void *arg) {
  enum { GENERAL = 16, PC = 16 };
  const Unwind *u = arg;
  Dwarf_Word regs[GENERAL];
  for (int i = 0; i < GENERAL; i++)
    regs[i] = u->h->regs[i];
  dwfl_thread_state_register_pc(thread, u->h->regs[PC]);
  return dwfl_thread_state_registers(thread, 0, GENERAL, regs);
}

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread) {
  (void)dwfl;
  Unwind *u = arg;
  if (*thread)
    return 0;
  *thread = u;
  return 1; // any number will do: there is only this one
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
    .next_thread = next_thread,
    .memory_read = read_memory,
    .set_initial_registers = set_registers,
};

// --- modules ----------------------------------------------------------------

static int no_debuginfo(Dwfl_Module *module, void **userdata, const char *name,
                        Dwarf_Addr base, const char *file, const char *link,
                        GElf_Word crc, char **out) {
  (void)module, (void)userdata, (void)name, (void)base, (void)file;
  (void)link, (void)crc, (void)out;
  return -1;
}

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = no_debuginfo,
};

// One line of /proc/PID/maps: the first mapping of each file names a module.
static void report_line(Dwfl *dwfl, const char *line, size_t n,
                        const ModuleFinder *here) {
  char text[512];
  unsigned long start, end, offset;
  int at = 0;
  if (n >= sizeof text)
    return;
  memcpy(text, line, n);
  text[n] = '\0';
  if (sscanf(text, "%lx-%lx %*4s %lx %*s %*s %n", &start, &end, &offset, &at) <
          3 ||
      !at || text[at] != '/' || offset)
    return;
  const char *path = here ? here->find(here->context, text + at) : text + at;
  if (path)
    dwfl_report_elf(dwfl, path_base(path), path, -1, start, false);
}

static void report_modules(Dwfl *dwfl, const char *maps, size_t size,
                           const ModuleFinder *here) {
  dwfl_report_begin(dwfl);
  for (const char *end = maps + size; maps < end;) {
    const char *stop = memchr(maps, '\n', (size_t)(end - maps));
    if (!stop)
      break; // cut off
    report_line(dwfl, maps, (size_t)(stop - maps), here);
    maps = stop + 1;
  }
  dwfl_report_end(dwfl, NULL, NULL);
}

// --- frames -----------------------------------------------------------------

// Each but once: a recursion is many frames and few places.
static void add_place(Unwind *u, const char *file, const char *dir, int line) {
  if (!file || line <= 0)
    return;
  CodePlace place = {path_absolute(file, dir), (uint32_t)line};
  bool known = u->n == u->max;
  u->full |= known;
  for (size_t i = 0; i < u->n && !known; i++)
    known = u->out[i].line == place.line && !strcmp(u->out[i].file, place.file);
  if (known)
    free(place.file);
  else
    u->out[u->n++] = place;
}

static const char *directory_of(Dwarf_Die *unit) {
  Dwarf_Attribute attribute;
  return dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
}

static Dwarf_Word number_of(Dwarf_Die *die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  dwarf_formudata(dwarf_attr(die, name, &attribute), &value);
  return value;
}

// The scopes around `pc`, from the innermost outwards. (dwarf_getscopes goes on
// from an inlined function to where it was defined, not where it was called.)
static int scopes_at(Dwarf_Die *unit, Dwarf_Addr pc, Dwarf_Die **scopes) {
  Dwarf_Die *found = NULL;
  int n = dwarf_getscopes(unit, pc, &found);
  if (n > 0)
    n = dwarf_getscopes_die(&found[0], scopes);
  free(found);
  return n;
}

// Functions that were inlined at `pc` are frames too: their call sites, from
// the innermost.
static void add_inlined(Unwind *u, Dwarf_Die *unit, Dwarf_Addr pc) {
  Dwarf_Die *scopes = NULL;
  Dwarf_Files *files = NULL;
  size_t nfiles = 0;
  int n = scopes_at(unit, pc, &scopes);
  dwarf_getsrcfiles(unit, &files, &nfiles);
  for (int i = 0; i < n; i++) {
    if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine)
      continue;
    Dwarf_Word file = number_of(&scopes[i], DW_AT_call_file);
    add_place(u, file < nfiles ? dwarf_filesrc(files, file, NULL, NULL) : NULL,
              directory_of(unit), (int)number_of(&scopes[i], DW_AT_call_line));
  }
  free(scopes);
}

// clang writes no table from addresses to compilation units: ask each of them.
static void add_places(Unwind *u, Dwfl_Module *module, Dwarf_Addr pc) {
  Dwarf_Addr bias;
  Dwarf_Die *unit = NULL;
  while (module && (unit = dwfl_module_nextcu(module, unit, &bias))) {
    if (dwarf_haspc(unit, pc - bias) <= 0)
      continue;
    Dwarf_Line *line = dwarf_getsrc_die(unit, pc - bias);
    int number = 0;
    if (line && !dwarf_lineno(line, &number))
      add_place(u, dwarf_linesrc(line, NULL, NULL), directory_of(unit), number);
    add_inlined(u, unit, pc - bias);
    return;
  }
}

static int add_frame(Dwfl_Frame *frame, void *arg) {
  Unwind *u = arg;
  Dwarf_Addr pc;
  bool exact; // false: a return address, one past the call
  if (!dwfl_frame_pc(frame, &pc, &exact))
    return DWARF_CB_ABORT;
  if (!exact)
    pc--;
  Dwfl *dwfl = dwfl_thread_dwfl(dwfl_frame_thread(frame));
  add_places(u, dwfl_addrmodule(dwfl, pc), pc);
  return u->full ? DWARF_CB_ABORT : DWARF_CB_OK;
}

static bool find_area(const RunHeader *h, size_t size, Unwind *u,
                      const char **maps) {
  enum { SP = 7 };
  if (h->state != RUN_DIED || h->death > size ||
      size - h->death < RUNFILE_STACK + RUNFILE_MAPS ||
      h->stack_size > RUNFILE_STACK || h->maps_size > RUNFILE_MAPS)
    return false;
  u->stack = (const unsigned char *)h + h->death;
  u->stack_at = h->regs[SP];
  u->stack_size = h->stack_size;
  *maps = (const char *)u->stack + RUNFILE_STACK;
  return true;
}

// What may be return addresses, from the innermost.
static void scan_stack(Dwfl *dwfl, Unwind *u) {
  for (size_t at = 0; at + 8 <= u->stack_size && u->n < u->max; at += 8) {
    uint64_t pc;
    memcpy(&pc, u->stack + at, sizeof pc);
    Dwfl_Module *module = pc ? dwfl_addrmodule(dwfl, pc - 1) : NULL;
    if (module)
      add_places(u, module, pc - 1);
  }
}

size_t unwind_death(const RunHeader *h, size_t size, const ModuleFinder *here,
                    CodePlace *out, size_t max, bool *complete) {
  Unwind u = {.h = h, .out = out, .max = max};
  const char *maps;
  *complete = false;
  if (!find_area(h, size, &u, &maps))
    return 0;
  Dwfl *dwfl = dwfl_begin(&callbacks);
  if (!dwfl)
    return 0;
  report_modules(dwfl, maps, h->maps_size, here);
  if (dwfl_attach_state(dwfl, NULL, 1, &thread_callbacks, &u))
    *complete =
        dwfl_getthread_frames(dwfl, 1, add_frame, &u) == 0 && !u.short_of;
  if (here && !u.n)
    scan_stack(dwfl, &u);
  dwfl_end(dwfl);
  return u.n;
}

// --- a process that runs ----------------------------------------------------

enum { FRAMES_SHOWN = 40, THREADS_SHOWN = 64, INLINED = 8, BUSY_FRAMES = 32 };

typedef struct {
  const char *name, *root;
  size_t threads, frames;
  bool known; // a frame of the thread has a line
  Str thread; // what it looks like
  Str *out;
} ProcessStacks;

static const Dwfl_Callbacks process_callbacks = {
    .find_elf = dwfl_linux_proc_find_elf,
    .find_debuginfo = no_debuginfo,
};

static int describe_frame(Dwfl_Frame *frame, void *arg) {
  ProcessStacks *s = arg;
  Dwarf_Addr pc;
  bool exact;
  CodePlace places[INLINED];
  Unwind u = {.out = places, .max = INLINED};
  if (s->frames++ >= FRAMES_SHOWN || !dwfl_frame_pc(frame, &pc, &exact))
    return DWARF_CB_ABORT;
  pc -= !exact;
  Dwfl_Module *module =
      dwfl_addrmodule(dwfl_thread_dwfl(dwfl_frame_thread(frame)), pc);
  const char *name = module ? dwfl_module_addrname(module, pc) : NULL;
  add_places(&u, module, pc);
  str_addf(&s->thread, "  %s", name ? name : "?");
  for (size_t i = 0; i < u.n; i++) {
    str_addf(&s->thread, "%s%s:%u", i ? ", called from " : " at ",
             path_below(places[i].file, s->root), places[i].line);
    free(places[i].file);
  }
  s->known |= u.n > 0;
  str_addc(&s->thread, '\n');
  return DWARF_CB_OK;
}

static int describe_thread(Dwfl_Thread *thread, void *arg) {
  ProcessStacks *s = arg;
  if (++s->threads > THREADS_SHOWN)
    return DWARF_CB_ABORT;
  s->frames = 0;
  s->known = false;
  str_clear(&s->thread);
  dwfl_thread_getframes(thread, describe_frame, s);
  if (s->known)
    str_addf(s->out, "%s, thread %zu:\n%s", s->name, s->threads,
             str_text(&s->thread));
  return DWARF_CB_OK;
}

// A thread that the kernel does not wake would not stop for us either.
static bool can_stop(pid_t pid) {
  Str text = {0};
  Err ignored;
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  const char *end =
      fs_read(path, 0, &text, &ignored) ? NULL : strrchr(text.data, ')');
  bool can = end && strspn(end, ") ") == 2 && !strchr("DZXT", end[2]);
  str_release(&text);
  return can;
}

// Visits the threads of a process, which is stopped meanwhile.
static void visit_threads(pid_t pid, int visit(Dwfl_Thread *, void *),
                          void *arg) {
  Dwfl *dwfl = can_stop(pid) ? dwfl_begin(&process_callbacks) : NULL;
  if (dwfl && !dwfl_linux_proc_report(dwfl, pid) &&
      !dwfl_report_end(dwfl, NULL, NULL) &&
      !dwfl_linux_proc_attach(dwfl, pid, false))
    dwfl_getthreads(dwfl, visit, arg);
  if (dwfl)
    dwfl_end(dwfl);
}

void unwind_process(pid_t pid, const char *root, Str *out) {
  Str name = {0};
  Err ignored;
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
  if (!fs_read(path, 0, &name, &ignored)) {
    name.data[strcspn(name.data, "\n")] = '\0';
    ProcessStacks s = {.name = name.data, .root = root, .out = out};
    visit_threads(pid, describe_thread, &s);
    str_release(&s.thread);
  }
  str_release(&name);
}

// --- the thread that works --------------------------------------------------

typedef struct {
  pid_t pid, thread;
  uint64_t time; // that it has worked
  CodeFrame *out;
  size_t n, max;
} Busiest;

// Ticks of a thread, in the program and in the kernel; 0: not known.
static uint64_t worked(pid_t pid, pid_t thread) {
  Str text = {0};
  Err ignored;
  char path[64];
  unsigned long long user = 0, kernel = 0;
  snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)pid, (int)thread);
  const char *end =
      fs_read(path, 0, &text, &ignored) ? NULL : strrchr(text.data, ')');
  if (!end ||
      sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu",
             &user, &kernel) != 2)
    user = kernel = 0;
  str_release(&text);
  return user + kernel;
}

static void forget_frames(Busiest *b) {
  for (size_t i = 0; i < b->n; i++)
    free(b->out[i].place.file);
  b->n = 0;
}

static int add_busy_frame(Dwfl_Frame *frame, void *arg) {
  Busiest *b = arg;
  Dwarf_Addr pc;
  bool exact;
  CodePlace places[INLINED];
  Unwind u = {.out = places, .max = INLINED};
  if (!dwfl_frame_pc(frame, &pc, &exact))
    return DWARF_CB_ABORT;
  Dwfl *dwfl = dwfl_thread_dwfl(dwfl_frame_thread(frame));
  add_places(&u, dwfl_addrmodule(dwfl, pc - !exact), pc - !exact);
  for (size_t i = 0; i < u.n; i++)
    if (b->n < b->max)
      b->out[b->n++] = (CodeFrame){pc, exact, places[i]};
    else
      free(places[i].file);
  return b->n < b->max ? DWARF_CB_OK : DWARF_CB_ABORT;
}

static int take_if_busier(Dwfl_Thread *thread, void *arg) {
  Busiest *b = arg;
  CodeFrame frames[BUSY_FRAMES];
  Busiest own = {.out = frames,
                 .max = b->max < BUSY_FRAMES ? b->max : BUSY_FRAMES};
  pid_t number = dwfl_thread_tid(thread);
  uint64_t time = worked(b->pid, number);
  if (b->n && time <= b->time)
    return DWARF_CB_OK;
  dwfl_thread_getframes(thread, add_busy_frame, &own);
  if (own.n) {
    forget_frames(b);
    memcpy(b->out, frames, own.n * sizeof *frames);
    b->n = own.n;
    b->time = time;
    b->thread = number;
  }
  return DWARF_CB_OK;
}

size_t unwind_busiest(pid_t pid, pid_t *thread, CodeFrame *out, size_t max) {
  Busiest b = {.pid = pid, .out = out, .max = max};
  visit_threads(pid, take_if_busier, &b);
  *thread = b.thread;
  return b.n;
}
