// culprit-poke: stops a program at one execution of one branch, tells or
// changes its variables there, and lets it go on. poke_format.h says how it is
// asked; a process of its own, because who traces another must wait for it and
// for nothing else.
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "poke/poke_format.h"
#include "poke/poke_state.h"
#include "util/err.h"
#include "util/escape.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

typedef struct {
  uint64_t at;
  const char *old, *new; // hexadecimal
} Put;

typedef struct {
  unsigned unit;
  uint64_t block, count;
  const char *answer;
  bool state;
  ARRAY(Put) puts;
  Str text; // holds the words
} Job;

typedef struct {
  const Job *job;
  const char *program;
  pid_t pid;
  uint64_t bias, mark; // address of the number
  uint64_t image, image_end;
  FILE *out;
  int traps; // that were met
} Poke;

// --- the job ----------------------------------------------------------------

static void take_line(Job *j, char *line) {
  char *words[4] = {0}, *save = NULL;
  size_t n = 0;
  for (char *w = strtok_r(line, "\t", &save); w && n < 4;
       w = strtok_r(NULL, "\t", &save))
    words[n++] = w;
  if (n == 3 && !strcmp(words[0], "mark")) {
    j->unit = (unsigned)strtoul(words[1], NULL, 10);
    j->block = strtoull(words[2], NULL, 10);
  } else if (n == 2 && !strcmp(words[0], "count")) {
    j->count = strtoull(words[1], NULL, 10);
  } else if (n == 2 && !strcmp(words[0], "answer")) {
    j->answer = words[1];
  } else if (n == 1 && !strcmp(words[0], "state")) {
    j->state = true;
  } else if (n == 4 && !strcmp(words[0], "put")) {
    array_push(&j->puts,
               (Put){strtoull(words[1], NULL, 16), words[2], words[3]});
  }
}

static void release_job(Job *j) {
  array_release(&j->puts);
  str_release(&j->text);
}

static int read_job(Job *j, const char *path, Err *err) {
  char *save = NULL;
  *j = (Job){0};
  if (fs_read(path, 0, &j->text, err))
    return -1;
  for (char *line = strtok_r(j->text.data, "\n", &save); line;
       line = strtok_r(NULL, "\n", &save))
    take_line(j, line);
  if (!j->answer || !j->count)
    return err_set(err, "%s: not a job", path);
  return 0;
}

// Returns the number of bytes.
static size_t from_hex(const char *text, uint8_t *out, size_t room) {
  size_t n = 0;
  for (; n < room && text[0] && text[1]; text += 2) {
    char digits[3] = {text[0], text[1], 0};
    out[n++] = (uint8_t)strtoul(digits, NULL, 16);
  }
  return n;
}

// --- the program file -------------------------------------------------------

static bool find_symbol(Elf *elf, Elf_Scn *section, const char *name,
                        GElf_Sym *out) {
  GElf_Shdr head;
  Elf_Data *data = elf_getdata(section, NULL);
  if (!data || !gelf_getshdr(section, &head) || !head.sh_entsize)
    return false;
  for (size_t i = 0; i < head.sh_size / head.sh_entsize; i++) {
    const char *own = NULL;
    if (gelf_getsym(data, (int)i, out))
      own = elf_strptr(elf, head.sh_link, out->st_name);
    if (own && !strcmp(own, name))
      return true;
  }
  return false;
}

// Where the wanted number lies in the file's own addresses.
static int find_mark(Poke *p, Elf *elf, Err *err) {
  char name[64];
  GElf_Sym symbol;
  snprintf(name, sizeof name, MARKS_TABLE "%u", p->job->unit);
  for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
    GElf_Shdr head;
    if (!gelf_getshdr(s, &head) || head.sh_type != SHT_SYMTAB ||
        !find_symbol(elf, s, name, &symbol))
      continue;
    if (p->job->block >= symbol.st_size / 8)
      return err_set(err, "%s: no block %" PRIu64, p->program, p->job->block);
    p->mark = symbol.st_value + p->job->block * 8;
    return 0;
  }
  return err_set(err, "%s: no marks in unit %u", p->program, p->job->unit);
}

static void find_image(Poke *p, Elf *elf) {
  size_t n = 0;
  elf_getphdrnum(elf, &n);
  p->image = UINT64_MAX;
  for (size_t i = 0; i < n; i++) {
    GElf_Phdr h;
    if (!gelf_getphdr(elf, (int)i, &h) || h.p_type != PT_LOAD)
      continue;
    if (h.p_vaddr < p->image)
      p->image = h.p_vaddr;
    if (h.p_vaddr + h.p_memsz > p->image_end)
      p->image_end = h.p_vaddr + h.p_memsz;
  }
}

// What the kernel says about where the program begins.
static uint64_t entry_of(pid_t pid) {
  char path[64];
  Elf64_auxv_t entry;
  snprintf(path, sizeof path, "/proc/%d/auxv", (int)pid);
  FILE *f = fopen(path, "re");
  uint64_t at = 0;
  while (f && fread(&entry, sizeof entry, 1, f) == 1)
    if (entry.a_type == AT_ENTRY)
      at = entry.a_un.a_val;
  if (f)
    fclose(f);
  return at;
}

static int read_program(Poke *p, Err *err) {
  GElf_Ehdr head;
  elf_version(EV_CURRENT);
  int fd = open(p->program, O_RDONLY | O_CLOEXEC);
  Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
  int rc = elf && gelf_getehdr(elf, &head)
               ? find_mark(p, elf, err)
               : err_set(err, "%s: cannot be read", p->program);
  if (!rc) {
    find_image(p, elf);
    p->bias = entry_of(p->pid) - head.e_entry;
  }
  if (elf)
    elf_end(elf);
  if (fd >= 0)
    close(fd);
  return rc;
}

// --- at the stop ------------------------------------------------------------

static void tell_cell(const Poke *p, const PokeCell *c) {
  fprintf(p->out, "cell\t%d\t%s\t%s\t%" PRIx64 "\t%c\t", c->frame,
          *c->function ? c->function : "-", c->name, c->at, c->kind);
  for (uint32_t i = 0; i < c->size; i++)
    fprintf(p->out, "%02x", c->bytes[i]);
  fputc('\n', p->out);
  if (c->leads)
    fprintf(p->out, "leads\t%s\n", c->leads);
}

static void tell_state(const Poke *p, const struct user_regs_struct *regs) {
  PokeState s;
  Err err = {0};
  fprintf(p->out, "image\t%" PRIx64 "\t%" PRIx64 "\n", p->image + p->bias,
          p->image_end + p->bias);
  if (poke_state_open(&s, p->program, p->pid, p->bias, &err))
    fprintf(p->out, "failed\t%s\n", err.text);
  else
    poke_state_read(&s, regs->rip, (PokeFrame){regs->rbp, regs->rsp});
  for (size_t i = 0; i < s.cells.len; i++)
    tell_cell(p, &s.cells.items[i]);
  poke_state_close(&s);
}

static void tell_moved(const Poke *p, uint64_t at, size_t n) {
  fprintf(p->out, "moved\t%" PRIx64 "\t%zu\n", at, n);
}

// Tells what is not there, in pieces.
static bool is_there(const Poke *p, const Put *put) {
  static uint8_t old[POKE_BYTES], now[POKE_BYTES];
  size_t n = from_hex(put->old, old, sizeof old), end;
  bool same = true;
  if (!poke_read(p->pid, put->at, now, n)) {
    tell_moved(p, put->at, n);
    return false;
  }
  for (size_t i = 0; i < n; i = end + 1) {
    for (end = i; end < n && old[end] != now[end];)
      end++;
    if (end > i)
      tell_moved(p, put->at + i, end - i);
    same &= end == i;
  }
  return same;
}

static void put_all(const Poke *p) {
  const Job *j = p->job;
  bool same = true;
  for (size_t i = 0; i < j->puts.len; i++)
    same &= is_there(p, &j->puts.items[i]);
  for (size_t i = 0; same && i < j->puts.len; i++) {
    static uint8_t new[POKE_BYTES];
    const Put *put = &j->puts.items[i];
    size_t n = from_hex(put->new, new, sizeof new);
    if (!poke_write(p->pid, put->at, new, n))
      tell_moved(p, put->at, n);
  }
}

// Is it one of our traps? The first stops, the second has the outcome.
static bool take_trap(Poke *p) {
  struct user_regs_struct regs;
  uint8_t code = 0;
  if (p->traps == 2 || ptrace(PTRACE_GETREGS, p->pid, NULL, &regs) ||
      !poke_read(p->pid, regs.rip - 1, &code, 1) || code != 0xcc)
    return false;
  if (p->traps++) {
    fprintf(p->out, "way\t%llu\n", regs.rax);
    return true;
  }
  fputs("reached\n", p->out);
  if (p->job->state)
    tell_state(p, &regs);
  put_all(p);
  fflush(p->out);
  return true;
}

// --- the process ------------------------------------------------------------

static void become(char **argv) {
  personality(ADDR_NO_RANDOMIZE);
  if (!ptrace(PTRACE_TRACEME, 0, NULL, NULL))
    execv(argv[0], argv + 1);
  _exit(127);
}

static int start(Poke *p, char **argv, Err *err) {
  int status;
  p->program = argv[0];
  p->pid = fork();
  if (p->pid == 0)
    become(argv);
  if (p->pid < 0 || waitpid(p->pid, &status, 0) < 0)
    return err_set(err, "fork: %s", strerror(errno));
  if (!WIFSTOPPED(status))
    return err_set(err, "%s: cannot be traced", argv[0]);
  ptrace(PTRACE_SETOPTIONS, p->pid, NULL,
         PTRACE_O_EXITKILL | PTRACE_O_TRACEFORK);
  if (read_program(p, err))
    return -1;
  if (!poke_write(p->pid, p->mark + p->bias, &p->job->count, 8))
    return err_set(err, "%s: cannot be written to", argv[0]);
  return 0;
}

// A forked child must not stop where its parent is to be stopped.
static void let_child_go(const Poke *p) {
  unsigned long child;
  uint64_t never = UINT64_MAX;
  int status;
  if (ptrace(PTRACE_GETEVENTMSG, p->pid, NULL, &child) ||
      waitpid((pid_t)child, &status, __WALL) < 0)
    return;
  poke_write((pid_t)child, p->mark + p->bias, &never, sizeof never);
  ptrace(PTRACE_DETACH, (pid_t)child, NULL, NULL);
}

// Returns the status it ended with.
static int follow(Poke *p) {
  int status, signal = 0;
  for (;;) {
    bool over = p->traps == 2;
    ptrace(over ? PTRACE_DETACH : PTRACE_CONT, p->pid, NULL,
           (void *)(long)signal);
    if (waitpid(p->pid, &status, 0) < 0)
      return 127 << 8;
    if (!WIFSTOPPED(status))
      return status;
    signal = WSTOPSIG(status);
    bool forked = status >> 16 == PTRACE_EVENT_FORK;
    if (forked)
      let_child_go(p);
    if (signal == SIGTRAP && (forked || take_trap(p)))
      signal = 0;
  }
}

// As the program ended, but without a core file of our own.
static int end_like(int status) {
  struct rlimit none = {0, 0};
  if (WIFEXITED(status))
    return WEXITSTATUS(status);
  setrlimit(RLIMIT_CORE, &none);
  signal(WTERMSIG(status), SIG_DFL);
  raise(WTERMSIG(status));
  return 128 + WTERMSIG(status);
}

int main(int argc, char **argv) {
  Err err = {0};
  Job job = {0};
  Poke p = {.job = &job};
  if (argc < 4) {
    fputs("usage: " POKE_PROGRAM " JOB PROGRAM NAME ARGS...\n"
          "culprit near runs this; it is not meant to be called by hand.\n",
          stderr);
    return 2;
  }
  if (read_job(&job, argv[1], &err) || !(p.out = fopen(job.answer, "we"))) {
    escape_printf(stderr, POKE_PROGRAM ": %s\n",
                  *err.text ? err.text : job.answer);
    return 3;
  }
  if (start(&p, argv + 2, &err)) {
    fprintf(p.out, "failed\t%s\n", err.text);
    fclose(p.out);
    return 3; // the process is killed with us
  }
  int status = follow(&p);
  fclose(p.out);
  release_job(&job);
  return end_like(status);
}
