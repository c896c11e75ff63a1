// Reads the records of the PHP extension: see php_record.h and
// record_format.h. The bytes come from files that anyone may have made: every
// number is checked before it is used.
#include "php/record/php_record.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "php/record/record_close.h"
#include "php/record/record_format.h"
#include "php/record/record_terms.h"
#include "util/array.h"
#include "util/fs.h"
#include "util/hashmap.h"
#include "util/str.h"

// Applications can write to these files: what is larger was not made by us.
static const size_t RECORD_MOST = (size_t)1 << 30;

const char *php_severity_name(PhpSeverity s) {
  static const char *const names[] = {"fatal", "warning", "notice",
                                      "deprecated", "query"};
  return s < PHP_SEVERITIES ? names[s] : "?";
}

// --- records ----------------------------------------------------------------

typedef struct {
  const unsigned char *data;
  size_t used;
  Arena *arena;
  uint32_t last; // header's
  uint32_t last_script, last_entity;
  const char *script, *bad;
  uint64_t offset; // of the next piece of output
  Str note;
  ARRAY(const char *) files;
  ARRAY(ScriptHits) scripts;
  ARRAY(OutputPiece) pieces;
  ARRAY(PhpFault) faults;
  bool replaced;     // the fault read last is told again:
  PhpFault uncaught; // its callers, and what it sent
  bool is_status;    // the fault read last is
  PhpFault status;
  ARRAY(const char *) includes;
  ARRAY(const char *) queries;
  ARRAY(PhpCompare) compares;
  TermList terms;
  CloseList close;
  PhpShadows *shadows;           // of terms, at the end
  Hashmap decided;               // branches that were told
  ARRAY(uint32_t) counters;      // of the branches
  ARRAY(ScriptCounters) counted; // of the scripts
} Parse;

// The path of file number `file`; "" for NO_FILE.
static const char *file_name(Parse *p, uint32_t file) {
  if (file == NO_FILE)
    return "";
  if (file >= p->files.len) {
    p->bad = "a file number is out of range";
    return "";
  }
  return p->files.items[file];
}

// `length` bytes at `at` inside the item, as text; zero bytes become blanks.
static char *take_text(Parse *p, const unsigned char *item, uint32_t size,
                       size_t at, uint32_t length) {
  if (at > size || length > size - at) {
    p->bad = "a text is longer than its item";
    return arena_strdup(p->arena, "");
  }
  char *text = arena_alloc(p->arena, (size_t)length + 1);
  memcpy(text, item + at, length);
  for (uint32_t i = 0; i < length; i++)
    if (!text[i])
      text[i] = ' ';
  return text;
}

static void parse_file(Parse *p, const unsigned char *item, uint32_t size) {
  ItemText t;
  memcpy(&t, item, sizeof t);
  array_push(&p->files, take_text(p, item, size, sizeof t, t.length));
}

static void parse_note(Parse *p, const unsigned char *item, uint32_t size) {
  ItemText t;
  memcpy(&t, item, sizeof t);
  if (p->note.len)
    str_add(&p->note, "; ");
  str_add(&p->note, take_text(p, item, size, sizeof t, t.length));
}

static void parse_query(Parse *p, const unsigned char *item, uint32_t size) {
  ItemText t;
  memcpy(&t, item, sizeof t);
  array_push(&p->queries, take_text(p, item, size, sizeof t, t.length));
}

static void parse_entry(Parse *p, const unsigned char *item, uint32_t size) {
  ItemRef ref;
  (void)size;
  memcpy(&ref, item, sizeof ref);
  p->script = file_name(p, ref.file);
}

static void parse_include(Parse *p, const unsigned char *item, uint32_t size) {
  ItemRef ref;
  (void)size;
  memcpy(&ref, item, sizeof ref);
  array_push(&p->includes, file_name(p, ref.file));
}

// Is the statement executed last one of the n counters at `at`?
static void find_last(Parse *p, const unsigned char *at, uint32_t n) {
  size_t first = (size_t)(at - p->data) / 4;
  if (p->last >= first && p->last - first < n) {
    p->last_script = (uint32_t)p->scripts.len;
    p->last_entity = (uint32_t)(p->last - first);
  }
}

static void parse_script(Parse *p, const unsigned char *item, uint32_t size) {
  ItemScript s;
  memcpy(&s, item, sizeof s);
  if (s.nentities > (size - sizeof s) / 4) {
    p->bad = "a script has more counters than bytes";
    return;
  }
  file_name(p, s.file);
  size_t n = 0;
  const unsigned char *at = item + sizeof s;
  EntityCount *counts = NULL;
  for (int fill = 0; fill < 2; fill++) {
    if (fill)
      counts = arena_array(p->arena, EntityCount, n);
    n = 0;
    for (uint32_t i = 0; i < s.nentities; i++) {
      uint32_t count;
      memcpy(&count, at + 4 * (size_t)i, 4);
      if (count && fill)
        counts[n] = (EntityCount){i, count};
      n += count != 0;
    }
  }
  find_last(p, at, s.nentities);
  array_push(&p->counted,
             (ScriptCounters){(size_t)(at - p->data) / 4, s.nentities});
  ScriptHits hits = {.counts = counts, .ncounts = n};
  memcpy(hits.unit.bytes, s.id, sizeof s.id);
  array_push(&p->scripts, hits);
}

static void parse_piece(Parse *p, const unsigned char *item, uint32_t size) {
  ItemPiece x;
  (void)size;
  memcpy(&x, item, sizeof x);
  if (!x.length)
    return;
  if (x.kind > OUTPUT_UNKNOWN || x.length > INT64_MAX - p->offset) {
    p->bad = "a piece of output is impossible";
    return;
  }
  OutputPiece piece = {.offset = p->offset,
                       .length = x.length,
                       .kind = x.file == NO_FILE ? OUTPUT_UNKNOWN
                                                 : (OutputKind)x.kind,
                       .file = file_name(p, x.file),
                       .line = x.line};
  array_push(&p->pieces, piece);
  p->offset += x.length;
}

static void parse_fault(Parse *p, const unsigned char *item, uint32_t size) {
  ItemFault x;
  memcpy(&x, item, sizeof x);
  if (x.severity >= PHP_SEVERITIES) {
    p->bad = "a fault is of no known severity";
    return;
  }
  p->replaced = x.flags & FAULT_REPLACED;
  p->is_status = x.flags & FAULT_STATUS;
  if (p->replaced)
    return;
  PhpFault f = {.severity = (PhpSeverity)x.severity,
                .file = file_name(p, x.file),
                .line = x.line,
                .silenced = x.flags & FAULT_SILENCED,
                .caught = x.flags & FAULT_CAUGHT,
                .handled = x.flags & FAULT_HANDLED};
  f.message = take_text(p, item, size, sizeof x, x.message_length);
  if (!p->bad && x.flags & FAULT_HAS_SQL)
    f.sql = take_text(p, item, size, sizeof x + x.message_length, x.sql_length);
  if (p->is_status) {
    p->status = f;
    return;
  }
  if (f.severity == PHP_FATAL && p->uncaught.ncallers) {
    f.callers = p->uncaught.callers;
    f.ncallers = p->uncaught.ncallers;
  }
  if (f.severity == PHP_FATAL) {
    f.sent = p->uncaught.sent;
    p->uncaught = (PhpFault){0};
  }
  array_push(&p->faults, f);
}

// What the item behind a fault is about; NULL: there is none.
static PhpFault *fault_before(Parse *p) {
  if (p->is_status)
    return &p->status;
  return p->replaced     ? &p->uncaught
         : p->faults.len ? &array_last(&p->faults)
                         : NULL;
}

// An exception that nobody catches is told twice: who led to it, the first time.
static void parse_callers(Parse *p, const unsigned char *item, uint32_t size) {
  ItemCallers x;
  memcpy(&x, item, sizeof x);
  if (x.count > (size - sizeof x) / (2 * sizeof(uint32_t))) {
    p->bad = "a fault has more callers than fit";
    return;
  }
  PhpCaller *list = arena_array(p->arena, PhpCaller, x.count);
  for (uint32_t i = 0; i < x.count; i++) {
    uint32_t place[2];
    memcpy(place, item + sizeof x + i * sizeof place, sizeof place);
    list[i] = (PhpCaller){file_name(p, place[0]), place[1]};
  }
  PhpFault *f = fault_before(p);
  if (f) {
    f->callers = list;
    f->ncallers = x.count;
  }
}

static void parse_sent(Parse *p, const unsigned char *item, uint32_t size) {
  ItemSent x;
  memcpy(&x, item, sizeof x);
  PhpSent sent = {take_text(p, item, size, sizeof x, x.function_length), NULL};
  if (!p->bad)
    sent.text =
        take_text(p, item, size, sizeof x + x.function_length, x.text_length);
  PhpFault *f = fault_before(p);
  if (f && !p->bad)
    f->sent = sent;
}

static void parse_compare(Parse *p, const unsigned char *item, uint32_t size) {
  ItemCompare x;
  memcpy(&x, item, sizeof x);
  if (x.kind >= COMPARE_KINDS) {
    p->bad = "a comparison is of no known kind";
    return;
  }
  PhpCompare c = {.kind = x.kind,
                  .held = x.outcome,
                  .file = file_name(p, x.file),
                  .line = x.line};
  c.left = take_text(p, item, size, sizeof x, x.left_length);
  c.right = p->bad ? ""
                   : take_text(p, item, size, sizeof x + x.left_length,
                               x.right_length);
  array_push(&p->compares, c);
}

static void parse_term(Parse *p, const unsigned char *item, uint32_t size) {
  p->bad = term_list_add(&p->terms, item, size, p->arena);
}

// A decision is told once, however often it was taken the same way.
static void add_branch_compare(Parse *p) {
  const PhpBranch *b = &array_last(&p->terms.branches);
  struct {
    uint32_t term, line;
    uint64_t outcome;
  } key = {b->term, b->line, b->outcome};
  uint64_t n = p->terms.branches.len;
  if (hashmap_intern(&p->decided, &key, sizeof key, n) != n)
    return;
  array_push(&p->compares, (PhpCompare){.kind = COMPARE_BRANCH,
                                        .held = b->outcome,
                                        .file = b->file,
                                        .line = b->line,
                                        .left = "",
                                        .right = "",
                                        .shadows = p->shadows,
                                        .branch = (uint32_t)n - 1});
}

// The text tells one condition from another, in other requests too.
static void word_branches(Parse *p) {
  char text[400];
  for (size_t i = 0; i < p->compares.len; i++) {
    PhpCompare *c = &p->compares.items[i];
    if (c->kind != COMPARE_BRANCH)
      continue;
    term_show(p->shadows, p->shadows->branches[c->branch].term, text,
              sizeof text);
    c->right = arena_strdup(p->arena, text);
  }
}

static void parse_branch(Parse *p, const unsigned char *item, uint32_t size) {
  uint32_t counter, file;
  (void)size;
  p->bad = term_list_branch(&p->terms, item, &counter, &file);
  if (p->bad)
    return;
  array_last(&p->terms.branches).file = file_name(p, file);
  array_push(&p->counters, counter);
  add_branch_compare(p);
}

static void parse_kept(Parse *p, const unsigned char *item, uint32_t size) {
  p->bad = term_list_named(&p->terms, item, size, true, p->arena);
}

static void parse_opaque(Parse *p, const unsigned char *item, uint32_t size) {
  p->bad = term_list_named(&p->terms, item, size, false, p->arena);
}

static void parse_relation(Parse *p, const unsigned char *item, uint32_t size) {
  p->bad = close_list_relation(&p->close, item, size, p->arena);
}

static void parse_pair(Parse *p, const unsigned char *item, uint32_t size) {
  p->bad = close_list_pair(&p->close, item, size, p->arena);
}

// Which outcome each branch was counted as: scripts may be told after them.
static void place_branches(Parse *p) {
  for (size_t i = 0; i < p->counters.len; i++) {
    PhpBranch *b = &p->terms.branches.items[i];
    uint32_t c = p->counters.items[i];
    for (size_t k = 0; k < p->counted.len; k++) {
      const ScriptCounters *s = &p->counted.items[k];
      if (c < s->first || c - s->first >= s->n)
        continue;
      b->script = (uint32_t)k;
      b->entity = (uint32_t)(c - s->first);
    }
  }
}

typedef void ParseItem(Parse *p, const unsigned char *item, uint32_t size);

static const struct {
  size_t least;
  ParseItem *parse;
} items[] = {
    [ITEM_FILE] = {sizeof(ItemText), parse_file},
    [ITEM_ENTRY] = {sizeof(ItemRef), parse_entry},
    [ITEM_SCRIPT] = {sizeof(ItemScript), parse_script},
    [ITEM_PIECE] = {sizeof(ItemPiece), parse_piece},
    [ITEM_FAULT] = {sizeof(ItemFault), parse_fault},
    [ITEM_INCLUDE] = {sizeof(ItemRef), parse_include},
    [ITEM_NOTE] = {sizeof(ItemText), parse_note},
    [ITEM_COMPARE] = {sizeof(ItemCompare), parse_compare},
    [ITEM_TERM] = {sizeof(ItemTerm), parse_term},
    [ITEM_BRANCH] = {sizeof(ItemBranch), parse_branch},
    [ITEM_KEPT] = {sizeof(ItemNamed), parse_kept},
    [ITEM_OPAQUE] = {sizeof(ItemNamed), parse_opaque},
    [ITEM_RELATION] = {sizeof(ItemRelation), parse_relation},
    [ITEM_PAIR] = {sizeof(ItemPair), parse_pair},
    [ITEM_CALLERS] = {sizeof(ItemCallers), parse_callers},
    [ITEM_SENT] = {sizeof(ItemSent), parse_sent},
    [ITEM_QUERY] = {sizeof(ItemText), parse_query},
};

static void parse_items(Parse *p) {
  size_t at = sizeof(PhpRecordHeader);
  while (at < p->used && !p->bad) {
    ItemHead head;
    if (p->used - at < sizeof head) {
      p->bad = "an item is cut off";
      return;
    }
    memcpy(&head, p->data + at, sizeof head);
    if (head.size < sizeof head || head.size % 8 || head.size > p->used - at) {
      p->bad = "an item has an impossible size";
      return;
    }
    if (head.tag < sizeof items / sizeof *items && items[head.tag].parse) {
      if (head.size < items[head.tag].least)
        p->bad = "an item is too short";
      else
        items[head.tag].parse(p, p->data + at, head.size);
    }
    at += head.size;
  }
}

#define TAKE(arena, list)                                                      \
  ((list)->len                                                                 \
       ? memcpy(arena_alloc(arena, (list)->len * sizeof *(list)->items),       \
                (list)->items, (list)->len * sizeof *(list)->items)            \
       : NULL)

static const PhpFault *status_of(Parse *p) {
  PhpFault *status = arena_new(p->arena, PhpFault);
  *status = p->status;
  return status;
}

static void fill(PhpRecord *out, Parse *p, bool finished) {
  place_branches(p);
  term_list_fill(&p->terms, p->shadows, p->arena);
  word_branches(p);
  *out = (PhpRecord){.finished = finished,
                     .script = p->script,
                     .scripts = TAKE(p->arena, &p->scripts),
                     .nscripts = p->scripts.len,
                     .pieces = TAKE(p->arena, &p->pieces),
                     .npieces = p->pieces.len,
                     .faults = TAKE(p->arena, &p->faults),
                     .nfaults = p->faults.len,
                     .status = p->status.message ? status_of(p) : NULL,
                     .includes = TAKE(p->arena, &p->includes),
                     .nincludes = p->includes.len,
                     .queries = TAKE(p->arena, &p->queries),
                     .nqueries = p->queries.len,
                     .compares = TAKE(p->arena, &p->compares),
                     .ncompares = p->compares.len,
                     .shadows = p->shadows,
                     .last_script = p->last_script,
                     .last_entity = p->last_entity};
  close_list_fill(&p->close, p->counted.items, p->counted.len, out, p->arena);
  if (p->note.len)
    out->note = arena_strdup(p->arena, str_text(&p->note));
}

static void parse_release(Parse *p) {
  str_release(&p->note);
  array_release(&p->files);
  array_release(&p->scripts);
  array_release(&p->pieces);
  array_release(&p->faults);
  array_release(&p->includes);
  array_release(&p->queries);
  array_release(&p->compares);
  array_release(&p->counters);
  array_release(&p->counted);
  term_list_release(&p->terms);
  close_list_release(&p->close);
  hashmap_release(&p->decided);
}

static int check_record(const void *data, size_t size, PhpRecordHeader *h,
                        Err *err) {
  if (size < sizeof *h)
    return err_set(err, "not the record of a PHP request");
  memcpy(h, data, sizeof *h);
  if (h->magic != PHP_RECORD_MAGIC)
    return err_set(err, "not the record of a PHP request");
  if (h->version != PHP_FORMAT_VERSION)
    return err_set(err,
                   "record version %u, this culprit reads %u; is culprit.so "
                   "of another version?",
                   h->version, PHP_FORMAT_VERSION);
  if (h->used < sizeof *h || h->used > size)
    return err_set(err, "the record of a PHP request is cut off");
  return 0;
}

int php_record_parse(const void *data, size_t size, PhpRecord *out,
                     Arena *arena, Err *err) {
  PhpRecordHeader h;
  PhpShadows *shadows = arena_new(arena, PhpShadows);
  *out = (PhpRecord){.script = "", .shadows = shadows};
  if (check_record(data, size, &h, err))
    return -1;
  Parse p = {.data = data,
             .used = h.used,
             .arena = arena,
             .last = h.last,
             .last_script = ENTITY_NONE,
             .last_entity = ENTITY_NONE,
             .script = "",
             .shadows = shadows};
  parse_items(&p);
  int rc = 0;
  if (p.bad)
    rc = err_set(err, "the record of a PHP request is damaged (%s)", p.bad);
  else
    fill(out, &p, h.finished == 1);
  parse_release(&p);
  return rc;
}

// The file stays as long as the longest request made it: only what the header
// says is read.
int php_record_read(const char *path, PhpRecord *out, Arena *arena, Err *err) {
  Str bytes = {0};
  PhpRecordHeader h;
  int fd = fs_open_regular(AT_FDCWD, path, false, err);
  if (fd < 0)
    return -1;
  size_t used = sizeof h;
  if (pread(fd, &h, sizeof h, 0) == sizeof h && h.magic == PHP_RECORD_MAGIC)
    used = h.used;
  int rc = used > RECORD_MOST
               ? err_set(err, "%s: a record of more than %zu bytes", path,
                         RECORD_MOST)
           : used ? fs_read_fd(fd, path, used, &bytes, err)
                  : 0;
  close(fd);
  if (!rc && php_record_parse(str_text(&bytes), bytes.len, out, arena, err))
    rc = err_prefix(err, "%s", path);
  str_release(&bytes);
  return rc;
}
