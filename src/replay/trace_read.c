// Reads recorded runs: see trace.h.
#include "replay/trace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/fs.h"
#include "util/str.h"

// Of a killed process: its stream is copied.
static const uint64_t JOINED_MAX = 4 * TRACE_DEFAULT_MAX;

static int damaged(const char *path, const char *what, Err *err) {
  return err_set(err, "%s: %s; record the run again", path, what);
}

static int read_units(Trace *t, Err *err) {
  size_t at = TRACE_PAGE, end = t->header.window;
  for (uint32_t i = 0; i < t->header.nunits; i++) {
    TraceUnit u;
    if (end - at < sizeof u)
      return damaged(t->path, "the trace's list of units is damaged", err);
    memcpy(&u, t->file + at, sizeof u);
    at += sizeof u;
    if (u.nvalues > (end - at) / 8)
      return damaged(t->path, "the trace's list of units is damaged", err);
    TraceUnitView view = {
        .number = u.number, .nvalues = u.nvalues, .values = t->file + at};
    memcpy(view.id.bytes, u.id, sizeof u.id);
    array_push(&t->units, view);
    at += u.nvalues * 8ul;
  }
  return 0;
}

// Of a process that was killed the end is still in the window.
static int join_window(Trace *t, Err *err) {
  const TraceHeader *h = &t->header;
  uint64_t n = h->cursor - h->base;
  if (h->state != TRACE_RUNNING || !n)
    return 0;
  if (n > TRACE_WINDOW || h->window > t->size || n > t->size - h->window)
    return damaged(t->path, "the trace is cut off", err);
  if (t->end > JOINED_MAX)
    return damaged(t->path, "the trace is too large", err);
  t->joined = mem_alloc(t->end + n);
  memcpy(t->joined, t->stream, t->end);
  memcpy(t->joined + t->end, t->file + h->window, n);
  t->stream = t->joined;
  t->end += n;
  t->limit = t->end;
  return 0;
}

static int set_bounds(Trace *t, Err *err) {
  const TraceHeader *h = &t->header;
  uint64_t head = h->nunits ? h->window : h->stream;
  if (head < TRACE_PAGE || head > h->stream || h->stream > t->size ||
      h->end > t->size - h->stream)
    return damaged(t->path, "the trace is cut off", err);
  t->stream = t->file + h->stream;
  t->end = t->limit = h->end;
  uint64_t behind = t->size - h->stream - h->end;
  if (h->state == TRACE_DIED && !h->was_outside)
    t->limit += behind < TRACE_PAGE ? behind : TRACE_PAGE;
  return join_window(t, err);
}

int trace_parse(Trace *t, const void *data, size_t size, const char *path,
                Err *err) {
  *t = (Trace){.file = data, .size = size, .path = mem_strdup(path)};
  const TraceHeader *h = &t->header;
  int rc = 0;
  if (size < TRACE_PAGE)
    rc = damaged(path, "not a trace", err);
  else
    memcpy(&t->header, data, sizeof t->header);
  if (!rc && h->magic != TRACE_MAGIC)
    rc = damaged(path, "not a trace", err);
  if (!rc && h->version != TRACE_VERSION)
    rc = err_set(err,
                 "%s: trace version %u, this build reads %u; record the "
                 "run again",
                 path, h->version, TRACE_VERSION);
  if (!rc && h->state == TRACE_THREADED)
    rc = err_set(err,
                 "%s: the program starts threads; such runs cannot be "
                 "replayed. Rank with coverage instead (culprit run)",
                 path);
  if (!rc && (h->state < TRACE_RUNNING || h->state > TRACE_FULL))
    rc = damaged(path, "the trace's head is damaged", err);
  if (!rc)
    rc = set_bounds(t, err);
  if (!rc)
    rc = read_units(t, err);
  if (rc)
    trace_close(t);
  return rc;
}

int trace_open(Trace *t, const char *path, Err *err) {
  struct stat st;
  int fd = fs_open_regular(AT_FDCWD, path, false, err);
  if (fd < 0)
    return -1;
  void *data = MAP_FAILED;
  if (!fstat(fd, &st) && st.st_size > 0)
    data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  if (data == MAP_FAILED)
    return damaged(path, "not a trace", err);
  int rc = trace_parse(t, data, (size_t)st.st_size, path, err);
  if (rc)
    munmap(data, (size_t)st.st_size);
  else
    t->mapped = true;
  return rc;
}

void trace_drop(const Trace *t, size_t from, size_t to) {
  if (!t->mapped || t->joined)
    return;
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  uintptr_t first = ((uintptr_t)t->stream + from + page - 1) & ~(page - 1);
  uintptr_t end = ((uintptr_t)t->stream + to) & ~(page - 1);
  if (first < end)
    madvise((void *)first, end - first, MADV_DONTNEED);
}

void trace_close(Trace *t) {
  if (t->mapped)
    munmap((void *)t->file, t->size);
  array_release(&t->units);
  free(t->joined);
  free(t->path);
  *t = (Trace){0};
}

static bool is_child(const Trace *t, const uint32_t *pids, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (pids[i] == t->header.ppid)
      return true;
  return false;
}

// The process whose parent left no trace; of several the first by name.
static char *first_process(char **paths, size_t n) {
  ARRAY(uint32_t) pids = {0};
  char *best = NULL;
  Err ignored;
  for (int pass = 0; pass < 2; pass++)
    for (size_t i = 0; i < n; i++) {
      Trace t;
      if (trace_open(&t, paths[i], &ignored)) {
        // One that cannot be used says why when it is opened again.
        if (pass && !best)
          best = paths[i];
        continue;
      }
      if (!pass)
        array_push(&pids, t.header.pid);
      else if (!is_child(&t, pids.items, pids.len) && !best)
        best = paths[i];
      trace_close(&t);
    }
  array_release(&pids);
  return best ? mem_strdup(best) : NULL;
}

static int by_text(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

int trace_find(const char *dir, char **path, Err *err) {
  ARRAY(char *) paths = {0};
  DIR *d = opendir(dir);
  for (struct dirent *e; d && (e = readdir(d));)
    if (text_ends(e->d_name, ".trace"))
      array_push(&paths, mem_printf("%s/%s", dir, e->d_name));
  if (d)
    closedir(d);
  if (paths.len)
    qsort(paths.items, paths.len, sizeof *paths.items, by_text);
  *path = first_process(paths.items, paths.len);
  for (size_t i = 0; i < paths.len; i++)
    free(paths.items[i]);
  array_release(&paths);
  if (*path)
    return 0;
  return err_set(err,
                 "%s: the program left no trace; is the directory "
                 "writable, and the program its trace build?",
                 dir);
}

// --- binding ----------------------------------------------------------------

static uint64_t view_value(const TraceUnitView *u, uint32_t i) {
  uint64_t v;
  memcpy(&v, u->values + 8ul * i, sizeof v);
  return v;
}

static int bind_unit(Program *p, const Trace *t, uint32_t number, Err *err) {
  IrUnit *u = &p->units.items[number];
  for (size_t i = 0; i < t->units.len; i++) {
    const TraceUnitView *v = &t->units.items[i];
    if (v->number != number || memcmp(&v->id, &u->id, sizeof u->id) ||
        v->nvalues != u->nlinks)
      continue;
    u->first_link = (uint32_t)p->links.len;
    for (uint32_t k = 0; k < v->nvalues; k++)
      array_push(&p->links, view_value(v, k));
    return 0;
  }
  return err_set(err,
                 "%s: the trace is of another program (%s); record the "
                 "run again",
                 t->path, t->header.module);
}

int program_bind(Program *p, const Trace *t, Err *err) {
  p->links.len = p->values.len = 0;
  p->bound = false;
  hashmap_release(&p->by_address);
  for (uint32_t i = 0; i < p->units.len; i++)
    if (bind_unit(p, t, i, err))
      return -1;
  program_use_links(p);
  return 0;
}
