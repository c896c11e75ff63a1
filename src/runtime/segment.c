// Boundaries of segments: put into units that run tests one after the other
// (instrument/boundaries.h), called around each of them. At a boundary every
// module of the process closes what it counted (runtime.c, __culprit_cut).
//
// The rules of runtime.c hold here too. Nothing happens unless a run is being
// recorded and CULPRIT_SEGMENTS is set.
#define _GNU_SOURCE
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include "format.h"
#include "segment_format.h"
#include "system.h"

extern RunHeader *__culprit_header __attribute__((visibility("hidden")));
extern SegmentCut __culprit_cut __attribute__((visibility("hidden")));

// From libc, where there is one.
extern int dl_iterate_phdr(int (*)(struct dl_phdr_info *, size_t, void *),
                           void *) __attribute__((weak));
extern size_t __fpending(void *) __attribute__((weak));
extern void *stdout __attribute__((weak));
extern void *stderr __attribute__((weak));

enum { OFF = 1, ON = 2 };
int __culprit_segments; // OFF, ON; 0: not known yet
struct OutputFile {
  uint64_t device, inode; // 0: not known
};
struct OutputFile __culprit_segment_files[2]; // what the test writes to
long __culprit_segment_thread;
bool __culprit_segment_busy;

INLINE void find_file(const char *name, size_t n, struct OutputFile *file) {
  const char *path = variable(name, n);
  struct stat s;
  clear(&s, sizeof s);
  if (!path || CALL(SYS_stat, path, &s, 0))
    return;
  file->device = s.st_dev;
  file->inode = s.st_ino;
}

// Only the thread that runs the first test has boundaries: counters belong to
// the whole process.
INLINE bool is_on(void) {
  if (!__culprit_segments) {
    __culprit_segments =
        __culprit_header && variable("CULPRIT_SEGMENTS", 16) ? ON : OFF;
    find_file("CULPRIT_STDOUT", 14, &__culprit_segment_files[0]);
    find_file("CULPRIT_STDERR", 14, &__culprit_segment_files[1]);
  }
  if (__culprit_segments == OFF)
    return false;
  long thread = CALL(SYS_gettid, 0, 0, 0);
  if (!__culprit_segment_thread ||
      CALL(SYS_getpid, 0, 0, 0) == thread) // also the child of a fork
    __culprit_segment_thread = thread;
  return __culprit_segment_thread == thread;
}

// How much was written to the file of the test, with what stdio still holds;
// -1: the program writes elsewhere.
INLINE int64_t written(int fd, void *stream) {
  const struct OutputFile *file = &__culprit_segment_files[fd - 1];
  struct stat s;
  clear(&s, sizeof s);
  if (!file->inode || CALL(SYS_fstat, fd, &s, 0) || s.st_ino != file->inode ||
      s.st_dev != file->device)
    return -1;
  long at = CALL(SYS_lseek, fd, 0, 1 /* SEEK_CUR */);
  if (at < 0)
    return -1;
  return at + (stream && __fpending ? (int64_t)__fpending(stream) : 0);
}

INLINE bool is_ours(const Elf64_Nhdr *n) {
  static const char name[] = SEGMENT_NOTE_NAME;
  if (n->n_namesz != sizeof name || n->n_type != SEGMENT_NOTE_TYPE)
    return false;
  const char *has = (const char *)(n + 1);
  for (size_t i = 0; i < sizeof name; i++)
    if (has[i] != name[i])
      return false;
  return true;
}

struct Boundary {
  const SegmentRecord *mark;
  const char *name;
};

INLINE void cut_by_note(const Elf64_Nhdr *note, const struct Boundary *b) {
  const char *at = (const char *)(note + 1) + ((note->n_namesz + 3) & ~3u);
  SegmentCut *cut = (SegmentCut *)(at + *(const int64_t *)at);
  if (cut != __culprit_cut)
    cut(b->mark, NULL);
}

INLINE void cut_by_notes(const char *at, size_t size,
                         const struct Boundary *b) {
  const char *end = at + size;
  while (at + sizeof(Elf64_Nhdr) <= end) {
    const Elf64_Nhdr *n = (const Elf64_Nhdr *)at;
    if (is_ours(n))
      cut_by_note(n, b);
    at += sizeof *n + ((n->n_namesz + 3) & ~3ul) + ((n->n_descsz + 3) & ~3ul);
  }
}

int __culprit_segment_module(struct dl_phdr_info *info, size_t size,
                             void *boundary) {
  (void)size;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const Elf64_Phdr *p = &info->dlpi_phdr[i];
    if (p->p_type == PT_NOTE)
      cut_by_notes((const char *)(info->dlpi_addr + p->p_vaddr), p->p_memsz,
                   boundary);
  }
  return 0;
}

__attribute__((noinline)) void
__culprit_segment_boundary(SegmentKind kind, const char *name, int64_t result,
                           uint32_t flags, const void *frame) {
  if (!is_on() ||
      __atomic_exchange_n(&__culprit_segment_busy, true, __ATOMIC_SEQ_CST))
    return;
  struct timespec now = {0};
  CALL(SYS_clock_gettime, CLOCK_MONOTONIC, &now, 0);
  SegmentRecord mark = {
      .magic = SEGMENT_MAGIC,
      .time = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec,
      .frame = (uint64_t)(uintptr_t)frame,
      .out = written(1, &stdout ? stdout : NULL),
      .err = written(2, &stderr ? stderr : NULL),
      .result = result,
      .kind = kind,
      .flags = flags,
  };
  struct Boundary b = {&mark, name};
  __culprit_cut(&mark, name);
  if (dl_iterate_phdr)
    dl_iterate_phdr(__culprit_segment_module, &b);
  __atomic_store_n(&__culprit_segment_busy, false, __ATOMIC_SEQ_CST);
}

void __culprit_segment_begin(const char *name) {
  __culprit_segment_boundary(SEGMENT_BEGIN, name, 0, 0,
                             __builtin_frame_address(0));
}

void __culprit_segment_end(int64_t result, uint32_t flags) {
  __culprit_segment_boundary(SEGMENT_END, NULL, result, flags,
                             __builtin_frame_address(0));
}

void __culprit_segment_point(int64_t result, uint32_t flags) {
  __culprit_segment_boundary(SEGMENT_POINT, NULL, result, flags,
                             __builtin_frame_address(0));
}
