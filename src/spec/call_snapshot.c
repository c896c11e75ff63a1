// The memory of a process at one call: see call_snapshot.h.
#include "spec/call_snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "util/fs.h"

static const size_t SNAPSHOT_MAX = (size_t)8 << 30; // bytes

static int damaged(const char *path, const char *what, Err *err) {
  return err_set(err, "%s: %s; take the snapshot again", path, what);
}

static int read_header(Snapshot *s, const char *path, size_t *at, Err *err) {
  SnapshotHeader h;
  if (s->file.len < sizeof h)
    return damaged(path, "cut off", err);
  memcpy(&h, s->file.data, sizeof h);
  if (h.magic != SNAPSHOT_MAGIC)
    return damaged(path, h.magic ? "not a snapshot" : "not finished", err);
  if (h.version != SNAPSHOT_VERSION)
    return err_set(err,
                   "%s: snapshot version %u, this build reads %u; build "
                   "the program again with culprit-cc",
                   path, h.version, SNAPSHOT_VERSION);
  if (h.args_size > s->file.len - sizeof h)
    return damaged(path, "cut off", err);
  h.function[sizeof h.function - 1] = '\0';
  memcpy(s->function, h.function, sizeof s->function);
  s->call = h.call;
  s->args_at = h.args;
  s->args = (const unsigned char *)s->file.data + sizeof h;
  s->args_size = h.args_size;
  *at = sizeof h + h.args_size;
  return 0;
}

static int read_region(Snapshot *s, const char *path, size_t *at, Err *err) {
  SnapshotRegion r;
  if (s->file.len - *at < sizeof r)
    return damaged(path, "cut off", err);
  memcpy(&r, s->file.data + *at, sizeof r);
  *at += sizeof r;
  if ((r.stored && r.stored != r.size) || r.size > UINT64_MAX - r.start)
    return damaged(path, "damaged", err);
  if (r.stored > s->file.len - *at)
    return damaged(path, "cut off", err);
  if (s->regions.len) {
    const Region *last = &array_last(&s->regions);
    if (r.start < last->start + last->size)
      return damaged(path, "its regions overlap", err);
  }
  Region out = {.start = r.start, .size = r.size, .flags = r.flags};
  if (r.stored)
    out.bytes = (const unsigned char *)s->file.data + *at;
  else if (!(r.flags & SNAPSHOT_EXECUTE) && r.name[0] != '[')
    s->left_out++;
  r.name[sizeof r.name - 1] = '\0';
  memcpy(out.name, r.name, sizeof out.name);
  array_push(&s->regions, out);
  *at += r.stored;
  return 0;
}

int snapshot_parse(Snapshot *s, Str *bytes, const char *path, Err *err) {
  *s = (Snapshot){.file = *bytes};
  *bytes = (Str){0};
  size_t at = 0;
  int rc = read_header(s, path, &at, err);
  while (!rc && at < s->file.len)
    rc = read_region(s, path, &at, err);
  if (rc)
    snapshot_close(s);
  return rc;
}

int snapshot_read(Snapshot *s, const char *path, Err *err) {
  Str bytes = {0};
  if (fs_read_regular(path, SNAPSHOT_MAX, &bytes, err)) {
    str_release(&bytes);
    return -1;
  }
  return snapshot_parse(s, &bytes, path, err);
}

void snapshot_close(Snapshot *s) {
  array_release(&s->regions);
  str_release(&s->file);
  s->args = NULL;
  s->args_size = 0;
}

const Region *snapshot_region(const Snapshot *s, uint64_t address) {
  size_t low = 0, high = s->regions.len;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    const Region *r = &s->regions.items[mid];
    if (address < r->start)
      high = mid;
    else if (address - r->start >= r->size)
      low = mid + 1;
    else
      return r->bytes ? r : NULL;
  }
  return NULL;
}

bool snapshot_load(const Snapshot *s, uint64_t address, void *out, size_t n) {
  for (size_t done = 0; done < n;) {
    const Region *r = snapshot_region(s, address + done);
    if (!r)
      return false;
    size_t from = (size_t)(address + done - r->start);
    size_t here = (size_t)r->size - from;
    here = here < n - done ? here : n - done;
    memcpy((char *)out + done, r->bytes + from, here);
    done += here;
  }
  return true;
}

// --- patches ----------------------------------------------------------------

void patch_set_args(Patch *p, const void *args, size_t n) {
  str_clear(&p->args);
  str_addn(&p->args, args, n);
}

void patch_add(Patch *p, uint64_t address, const void *bytes, size_t n) {
  PatchWrite w = {address, n};
  str_addn(&p->writes, &w, sizeof w);
  str_addn(&p->writes, bytes, n);
  p->nwrites++;
}

int patch_write(const Patch *p, const char *path, Err *err) {
  PatchHeader h = {.magic = PATCH_MAGIC,
                   .version = SNAPSHOT_VERSION,
                   .args_size = (uint32_t)p->args.len,
                   .writes = p->nwrites};
  Str out = {0};
  str_addn(&out, &h, sizeof h);
  str_addn(&out, str_text(&p->args), p->args.len);
  str_addn(&out, str_text(&p->writes), p->writes.len);
  int rc = fs_write(path, out.data, out.len, err);
  str_release(&out);
  return rc;
}

void patch_release(Patch *p) {
  str_release(&p->args);
  str_release(&p->writes);
  p->nwrites = 0;
}
