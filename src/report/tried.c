// What `culprit try` found out, for the formats: see tried.h.
#include "report/tried.h"

#include <stdlib.h>
#include <string.h>

#include "report/json_out.h"

const TryNote *report_tried(const Report *r, size_t failure) {
  return r->tried ? notes_find(r->tried, r->suite->failures[failure].signature)
                  : NULL;
}

typedef struct {
  const TriedChange *change;
  size_t place; // in the note
} PlacedChange;

static int better_first(const void *a, const void *b) {
  const PlacedChange *x = a, *y = b;
  bool alive = tried_survives(x->change), other = tried_survives(y->change);
  double score = tried_score(x->change), than = tried_score(y->change);
  if (alive != other)
    return alive ? -1 : 1;
  if (score != than)
    return score > than ? -1 : 1;
  return x->place < y->place ? -1 : x->place > y->place;
}

void tried_list(const TryNote *n, uint32_t statement, ChangeList *out) {
  ARRAY(PlacedChange) found = {0};
  for (size_t i = 0; i < n->changes.len; i++) {
    const TriedChange *c = &n->changes.items[i];
    if (statement == ENTITY_NONE || c->statement == statement)
      array_push(&found, ((PlacedChange){c, i}));
  }
  if (found.len)
    qsort(found.items, found.len, sizeof *found.items, better_first);
  for (size_t i = 0; i < found.len; i++)
    array_push(out, found.items[i].change);
  array_release(&found);
}

static bool has_change(const ChangeList *list, const TriedChange *c) {
  for (size_t i = 0; i < list->len; i++)
    if (list->items[i] == c)
      return true;
  return false;
}

static void add_survivor(const TriedChange *c, ChangeList *out) {
  if (c && tried_survives(c) && !has_change(out, c))
    array_push(out, c);
}

static void add_survivors(const TryNote *n, uint32_t statement,
                          ChangeList *out) {
  for (size_t i = 0; i < n->changes.len; i++)
    if (statement == ENTITY_NONE || n->changes.items[i].statement == statement)
      add_survivor(&n->changes.items[i], out);
}

void tried_survivor_list(const TryNote *n, const Ranking *r, ChangeList *out) {
  size_t all = tried_survivors(n);
  for (size_t i = 0; i < r->suspects.len && out->len < all; i++)
    add_survivor(tried_best(n, r->suspects.items[i].entity), out);
  for (size_t i = 0; i < r->suspects.len && out->len < all; i++)
    add_survivors(n, r->suspects.items[i].entity, out);
  add_survivors(n, ENTITY_NONE, out); // not listed: by function, left out
}

void tried_sentence(const Report *r, const TryNote *n, const TriedChange *c,
                    bool place, Str *out) {
  str_add(out, c->text);
  if (place)
    str_addf(out, " at %s:%u", suite_shown(r->suite, c->file), c->line);
  str_add(out, ": ");
  tried_tell(n, c, out);
}

// --- JSON -------------------------------------------------------------------

static void put_change(const TriedChange *c, FILE *out) {
  fputs("{\"kind\":", out);
  json_string(c->kind, out);
  json_text("text", c->text, out);
  if (c->diff)
    json_text("diff", c->diff, out);
  else
    fputs(",\"diff\":null", out);
  fprintf(out,
          ",\"line\":%u,\"repaired\":%u,\"failing\":%u,\"broken\":%u,"
          "\"passing\":%u",
          c->line, c->repaired, c->failing, c->passing - c->kept, c->passing);
  json_bool("all_tests", c->all_tests, out);
  fputc('}', out);
}

void tried_json_runs(const TryNote *n, FILE *out) {
  const TriedStops *s = &n->stops;
  fprintf(out, "\"runs\":%u", n->runs);
  json_bool("cut", n->cut, out);
  fprintf(out,
          ",\"stopped\":{\"steps\":%u,\"time\":%u,\"limits\":%u,"
          "\"memory\":%u,\"confine\":%u}",
          s->steps, s->time, s->limits, s->memory, s->confine);
}

void tried_json_items(const ChangeList *changes, FILE *out) {
  bool first = true;
  for (size_t i = 0; i < changes->len; i++) {
    json_separator(&first, out);
    put_change(changes->items[i], out);
  }
}

void tried_json(const Report *r, size_t failure, uint32_t statement,
                FILE *out) {
  const TryNote *n = report_tried(r, failure);
  ChangeList changes = {0};
  if (n)
    tried_list(n, statement, &changes);
  if (changes.len) {
    fputs(",\"changes\":[", out);
    tried_json_items(&changes, out);
    fputc(']', out);
  }
  array_release(&changes);
}

static void put_texts(const char *key, const char *const *texts, size_t n,
                      FILE *out) {
  fprintf(out, ",\"%s\":[", key);
  for (size_t i = 0; i < n; i++) {
    fputs(i ? "," : "", out);
    json_string(texts[i], out);
  }
  fputc(']', out);
}

static void put_files(const TriedQuestion *q, FILE *out) {
  fputs(",\"files\":[", out);
  for (size_t i = 0; i < q->files.len; i++) {
    fputs(i ? ",{\"name\":" : "{\"name\":", out);
    json_string(q->files.items[i].name, out);
    json_text("text", q->files.items[i].text, out);
    fputc('}', out);
  }
  fputc(']', out);
}

static void put_answer(const Report *r, const TryNote *n, const TriedAnswer *a,
                       FILE *out) {
  Str end = {0};
  answer_tell_end(a, &end);
  fputs("{\"program\":", out);
  if (a->change == ANSWER_UNCHANGED || a->change == ANSWER_REFERENCE) {
    json_string(a->change == ANSWER_UNCHANGED ? "unchanged" : "reference", out);
  } else {
    const TriedChange *c = &n->changes.items[a->change];
    json_string("changed", out);
    json_text("change", c->text, out);
    json_text("file", suite_shown(r->suite, c->file), out);
    fprintf(out, ",\"line\":%u", c->line);
  }
  json_text("end", str_text(&end), out);
  json_text("output", a->output, out);
  fputc('}', out);
  str_release(&end);
}

void question_json(const Report *r, const TryNote *n, FILE *out) {
  const TriedQuestion *q = &n->question;
  Str text = {0};
  if (tried_ask(n, &text)) {
    fprintf(out, ",\"question\":{\"inputs\":%u", q->inputs);
    json_text("text", str_text(&text), out);
    if (q->command) {
      json_text("command", q->command, out);
      put_texts("arguments", q->arguments.items, q->arguments.len, out);
      if (q->input)
        json_text("stdin", q->input, out);
      put_files(q, out);
      fprintf(out, ",\"output_line\":%u,\"answers\":[", q->line);
      for (size_t i = 0; i < q->answers.len; i++) {
        fputs(i ? "," : "", out);
        put_answer(r, n, &q->answers.items[i], out);
      }
      fputc(']', out);
    }
    fputc('}', out);
  }
  str_release(&text);
}

// --- diffs ------------------------------------------------------------------

// "9,5" or "9": where a part begins and how many lines it has. NULL: neither.
static const char *take_range(const char *text, uint32_t *first, uint32_t *n) {
  char *end;
  if (*text < '0' || *text > '9')
    return NULL;
  unsigned long at = strtoul(text, &end, 10), lines = 1;
  if (*end == ',' && (end[1] < '0' || end[1] > '9'))
    return NULL;
  if (*end == ',')
    lines = strtoul(end + 1, &end, 10);
  *first = (uint32_t)at;
  *n = (uint32_t)lines;
  return at < INT32_MAX && lines < INT32_MAX ? end : NULL;
}

// An empty range is named by the line before it.
static bool take_hunk(DiffReader *d) {
  uint32_t first, ignored;
  const char *p = d->line;
  if (d->length < 4 || strncmp(p, "@@ -", 4) != 0 ||
      !(p = take_range(p + 4, &first, &d->old_left)) ||
      strncmp(p, " +", 2) != 0 || !take_range(p + 2, &ignored, &d->new_left)) {
    d->old_left = d->new_left = 0;
    return false;
  }
  d->at = first + !d->old_left;
  return true;
}

static DiffKind kind_in_hunk(const DiffReader *d) {
  char c = d->length ? *d->line : ' '; // some tools strip blanks at the end
  if (c == '-' && d->old_left)
    return DIFF_DELETED;
  if (c == '+' && d->new_left)
    return DIFF_ADDED;
  return DIFF_SAME;
}

bool diff_next(DiffReader *d) {
  bool inside = d->old_left || d->new_left;
  if (d->kind == DIFF_SAME || d->kind == DIFF_DELETED)
    d->at++;
  if (!*d->rest)
    return false;
  d->line = d->rest;
  d->length = strcspn(d->rest, "\n");
  d->rest += d->length + (d->rest[d->length] == '\n');
  if (d->length && *d->line == '\\') {
    d->kind = DIFF_REMARK;
  } else if (!inside) {
    d->kind = take_hunk(d) ? DIFF_HUNK : DIFF_HEAD;
  } else {
    d->kind = kind_in_hunk(d);
    d->old_left -= d->kind != DIFF_ADDED && d->old_left;
    d->new_left -= d->kind != DIFF_DELETED && d->new_left;
  }
  return true;
}

static void take_edit(const DiffReader *d, bool continues, DiffEdits *out) {
  if (!continues)
    array_push(out, ((DiffEdit){.first = d->at}));
  DiffEdit *e = &out->items[out->len - 1];
  if (d->kind == DIFF_ADDED) {
    str_addn(&e->inserted, d->line + 1, d->length - 1);
    str_addc(&e->inserted, '\n');
  } else {
    e->deleted++;
    e->last = d->line + 1;
    e->last_length = d->length - 1;
  }
}

bool diff_edits(const char *diff, DiffEdits *out) {
  DiffReader d = {.rest = diff};
  size_t files = 0;
  bool open = false;
  while (diff_next(&d)) {
    bool edit = d.kind == DIFF_DELETED || d.kind == DIFF_ADDED;
    if (edit)
      take_edit(&d, open, out);
    open = edit || (open && d.kind == DIFF_REMARK);
    files += d.kind == DIFF_HEAD && d.length > 3 && !strncmp(d.line, "+++ ", 4);
  }
  return files == 1 && out->len && !d.old_left && !d.new_left;
}

void diff_edits_release(DiffEdits *edits) {
  for (size_t i = 0; i < edits->len; i++)
    str_release(&edits->items[i].inserted);
  array_release(edits);
}
