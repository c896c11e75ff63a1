// What changed between two versions: see version_changes.h.
#include "history/version_changes.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// --- files -------------------------------------------------------------------

// The word at *at up to `end`, which is passed. NULL: the text ends before.
static char *word(const char **at, const char *limit, char end, Arena *arena) {
  const char *stop = memchr(*at, end, (size_t)(limit - *at));
  if (!stop)
    return NULL;
  char *copy = arena_strndup(arena, *at, (size_t)(stop - *at));
  *at = stop + 1;
  return copy;
}

static bool take_entry(VersionFile *e, const char *mode, const char *oid) {
  if (!mode || !oid || strlen(mode) != 6 || strlen(oid) >= OID_SIZE ||
      strspn(oid, "0123456789abcdef") != strlen(oid))
    return false;
  strcpy(e->mode, mode);
  strcpy(e->oid, oid);
  return true;
}

// ":100644 100644 OID OID R086\0old\0new\0"
static bool take_change(const char **at, const char *end, FileChange *c,
                        Arena *arena) {
  const char *words[5];
  if (*(*at)++ != ':')
    return false;
  for (size_t i = 0; i < 5; i++)
    words[i] = word(at, end, i < 4 ? ' ' : 0, arena);
  if (!words[4] || !take_entry(&c->old, words[0], words[2]) ||
      !take_entry(&c->now, words[1], words[3]))
    return false;
  c->status = *words[4];
  c->old_path = word(at, end, 0, arena);
  c->path = c->status == 'R' || c->status == 'C' ? word(at, end, 0, arena)
                                                 : c->old_path;
  return c->status && c->old_path && c->path;
}

int changes_parse(const char *text, size_t size, FileChanges *out,
                  Arena *arena) {
  const char *at = text, *end = text + size;
  while (at < end) {
    FileChange c = {0};
    if (!take_change(&at, end, &c, arena))
      return -1;
    array_push(out, c);
  }
  return 0;
}

int changes_list(const Repository *r, const char *from, const char *to,
                 bool renames, FileChanges *out, Arena *arena, Err *err) {
  Str text = {0};
  const char *words[] = {"diff-tree",
                         "-r",
                         "-z",
                         "--raw",
                         "--full-index",
                         "--no-ext-diff",
                         "--no-textconv",
                         renames ? "-M" : "--no-renames",
                         "--end-of-options",
                         from,
                         to,
                         NULL};
  int rc = git_run(r, words, NULL, &text, err);
  if (!rc && text.len && changes_parse(text.data, text.len, out, arena))
    rc = err_set(err, "git diff-tree: cannot be understood");
  str_release(&text);
  return rc;
}

bool entry_is_text(const VersionFile *e) { return text_starts(e->mode, "100"); }

bool entry_is_submodule(const VersionFile *e) {
  return !strcmp(e->mode, "160000");
}

// --- hunks -------------------------------------------------------------------

// "12,3" or "12".
static bool take_range(const char **at, const char *end, uint32_t *start,
                       uint32_t *count) {
  uint64_t n[2] = {0, 1};
  for (int i = 0; i < 2; i++) {
    if (*at == end || !isdigit((unsigned char)**at))
      return false;
    for (n[i] = 0; *at < end && isdigit((unsigned char)**at); ++*at)
      n[i] = n[i] * 10 + (uint64_t)(**at - '0');
    if (n[i] > UINT32_MAX / 2)
      return false;
    if (*at == end || **at != ',' || i)
      break;
    ++*at;
  }
  *count = (uint32_t)n[1];
  *start = (uint32_t)n[0] + !n[1];
  return true;
}

static bool skip_text(const char **at, const char *end, const char *text) {
  size_t n = strlen(text);
  if ((size_t)(end - *at) < n || memcmp(*at, text, n) != 0)
    return false;
  *at += n;
  return true;
}

// "@@ -12,3 +12 @@ int f(void)"
static bool take_hunk(const char *at, const char *end, Hunk *h, Arena *arena) {
  if (!skip_text(&at, end, "@@ -") ||
      !take_range(&at, end, &h->old_start, &h->old_count) ||
      !skip_text(&at, end, " +") ||
      !take_range(&at, end, &h->start, &h->count) ||
      !skip_text(&at, end, " @@"))
    return false;
  at += at < end && *at == ' ';
  h->declaration = arena_strndup(arena, at, (size_t)(end - at));
  return true;
}

int hunks_parse(const char *text, size_t size, Hunks *out, bool *binary,
                Arena *arena) {
  const char *end = text + size;
  *binary = false;
  for (const char *line = text; line < end;) {
    const char *stop = memchr(line, '\n', (size_t)(end - line));
    stop = stop ? stop : end;
    Hunk h = {0};
    *binary |= text_starts(line, "Binary files ");
    if (*line == '@') {
      if (!take_hunk(line, stop, &h, arena))
        return -1;
      array_push(out, h);
    }
    line = stop + 1;
  }
  return 0;
}

int hunks_between(const Repository *r, const char *old_oid, const char *oid,
                  Hunks *out, bool *binary, Arena *arena, Err *err) {
  Str text = {0};
  const char *words[] = {"diff",
                         "-U0",
                         "--no-color",
                         "--no-ext-diff",
                         "--no-textconv",
                         "--inter-hunk-context=0",
                         "--end-of-options",
                         old_oid,
                         oid,
                         NULL};
  int rc = git_run(r, words, NULL, &text, err);
  if (!rc && hunks_parse(str_text(&text), text.len, out, binary, arena))
    rc = err_set(err, "git diff: cannot be understood");
  str_release(&text);
  return rc;
}

// Does the change touch the lines, or what lies between two of them?
static bool overlaps(const Hunk *h, uint32_t start, uint32_t count) {
  uint32_t end = start + count, other = h->old_start + h->old_count;
  if (!count && !h->old_count)
    return h->old_start == start;
  return h->old_start < end && start < other;
}

bool hunks_map(const Hunks *h, uint32_t start, uint32_t count, uint32_t *to) {
  int64_t shift = 0;
  for (size_t i = 0; i < h->len; i++) {
    const Hunk *one = &h->items[i];
    if (overlaps(one, start, count))
      return false;
    if (one->old_start + one->old_count <= start)
      shift += (int64_t)one->count - one->old_count;
  }
  *to = (uint32_t)((int64_t)start + shift);
  return true;
}

// --- contents ----------------------------------------------------------------

int blob_read(const Repository *r, const char *oid, Str *out, Err *err) {
  return git_run(r, (const char *[]){"cat-file", "blob", oid, NULL}, NULL, out,
                 err);
}

void line_starts(const char *text, size_t size, LineStarts *out) {
  array_push(out, 0);
  for (size_t i = 0; i < size; i++)
    if (text[i] == '\n' && i + 1 < size)
      array_push(out, i + 1);
  if (size)
    array_push(out, size);
}
