// The nearest passing run as text and as JSON: see near.h.
#include <stdlib.h>
#include <string.h>

#include "expr/support.h"
#include "locate/near_note.h"
#include "near/near_internal.h"
#include "process/words.h"
#include "report/json_out.h"
#include "report/source.h"
#include "util/escape.h"
#include "util/fs.h"
#include "util/mem.h"

enum {
  SHOWN_MAX = 20,   // branches
  INPUTS_SHOWN = 8, // that one of them depends on
  TEXT_SHOWN = 120, // bytes of an input
};

// One differing branch.
typedef struct {
  const char *file;
  uint32_t line;
  uint32_t instance; // from 1
  uint32_t event, branch, taken, needed;
  uint32_t rank; // how telling its line is; UINT32_MAX: not known
  bool decisive;
  size_t order;               // among all
  const PathEvent *condition; // NULL: does not depend on the input
} BranchReport;

// --- what differs -----------------------------------------------------------

// The run that the report is about; one that fails otherwise stands in if
// nothing passes. NULL: there is none.
static const NearFound *reported(const Near *n) {
  return n->found.len ? &n->found.items[n->best] : NULL;
}

// 0: the same way through the program, nothing differs but values.
static size_t count_differences(const Near *n) {
  const NearFound *f = reported(n);
  if (!f || (f->distance.len == 1 && !f->distance.items[0].event))
    return 0;
  return f->distance.len;
}

// Conditions ascend with their events; the first of an event is a branch only
// if it is the event's own.
static const PathEvent *find_condition(const NearRun *r, uint32_t event,
                                       uint32_t branch) {
  size_t lo = 0, hi = r->path.events.len;
  while (lo < hi) {
    size_t mid = (lo + hi) / 2;
    if (r->event_of[mid] < event)
      lo = mid + 1;
    else
      hi = mid;
  }
  bool own = lo < r->path.events.len && r->event_of[lo] == event &&
             r->path.events.items[lo].branch == branch;
  return own ? &r->path.events.items[lo] : NULL;
}

// Conditions that are not branches come between them: where the input ends,
// what the library found in it. The last one on the branch's own line, if it
// has no condition itself.
static const PathEvent *find_found(const Near *n, uint32_t event,
                                   uint32_t branch) {
  const NearRun *r = &n->failing;
  uint32_t line, other;
  const char *file = control_place(&n->control, branch, &line);
  for (size_t i = r->path.events.len; i-- > 0 && r->event_of[i] + 1 >= event;) {
    const PathEvent *e = &r->path.events.items[i];
    bool kind = e->kind == PATH_EOF || e->kind == PATH_LIBC;
    if (r->event_of[i] + 1 == event && kind &&
        !strcmp(program_place(n->control.program, e->place, &other), file) &&
        other == line)
      return e;
  }
  return NULL;
}

// Caller frees.
static BranchReport *find_reports(const Near *n, const char *root) {
  const Control *c = &n->control;
  const NearFound *f = reported(n);
  size_t count = count_differences(n), k = 0;
  uint32_t *seen = mem_array(uint32_t, c->program->branches.len + 1);
  BranchReport *out = mem_array(BranchReport, count + 1);
  for (uint32_t i = 1; k < count; i++) {
    const Event *e = &n->failing.events.items.items[i];
    uint32_t branch = c->branch_of[e->edge];
    uint32_t first = c->program->branches.items[branch].first_edge;
    seen[branch]++;
    if (f->distance.items[k].event != i)
      continue;
    BranchReport r = {.event = i,
                      .branch = branch,
                      .instance = seen[branch],
                      .taken = e->edge - first,
                      .needed = f->distance.items[k].needed - first,
                      .rank = near_rank(n, i),
                      .decisive = near_decisive(n, i),
                      .condition = find_condition(&n->failing, i, branch)};
    if (!r.condition)
      r.condition = find_found(n, i, branch);
    r.file = path_below(control_place(c, branch, &r.line), root);
    out[k++] = r;
  }
  free(seen);
  return out;
}

// A rule that the failing run breaks, where only values differ; may be NULL.
static const PathEvent *find_violated(const Near *n) {
  const NearRun *r = &n->failing;
  for (size_t i = r->path.events.len; i-- > 0;)
    if (r->path.events.items[i].violated)
      return &r->path.events.items[i];
  return NULL;
}

// Of the condition as it is written; NULL: not known, or a switch.
static const char *written(const Near *n, const BranchReport *r) {
  const Program *p = n->control.program;
  uint32_t text = p->branches.items[r->branch].text;
  return text == IR_NONE ? NULL : program_name(p, text);
}

// Do several branches stand on its line?
static bool is_one_of_many(const Near *n, const BranchReport *r) {
  const Control *c = &n->control;
  uint32_t line, other;
  const char *file = control_place(c, r->branch, &line);
  for (uint32_t i = 0; i < c->program->branches.len; i++)
    if (i != r->branch && c->program->branches.items[i].nedges > 1 &&
        !strcmp(control_place(c, i, &other), file) && other == line)
      return true;
  return false;
}

// "true", "case 3", "default"; in JSON true, 3, "default".
static void print_way(const Near *n, const BranchReport *r, uint32_t way,
                      bool json, FILE *out) {
  const Program *p = n->control.program;
  const IrBranch *b = &p->branches.items[r->branch];
  if (!b->ncases && b->flags & IR_UNTOLD) {
    fprintf(out, json ? "\"branch %u\"" : "branch %u", way + 1);
  } else if (!b->ncases) {
    bool inverted = b->flags & IR_INVERTED;
    fputs((way == 0) != inverted ? "true" : "false", out);
  } else if (b->ncases == b->nedges || way) {
    uint32_t k = b->ncases == b->nedges ? way : way - 1;
    uint32_t operand = p->cases.items[b->first_case + k];
    int64_t value =
        (int64_t)p->constants.items[operand & ~(uint32_t)IR_CONST].value;
    fprintf(out, json ? "%lld" : "case %lld", (long long)value);
  } else {
    fputs(json ? "\"default\"" : "default", out);
  }
}

static void add_place(NearPlaces *out, const char *file, uint32_t line) {
  for (size_t i = 0; i < out->len; i++)
    if (out->items[i].line == line && !strcmp(out->items[i].file, file))
      return;
  if (*file)
    array_push(out, (NearPlace){file, line});
}

void near_places(const Near *n, NearPlaces *out) {
  const Control *c = &n->control;
  const NearFound *f = near_best(n);
  size_t count = f ? count_differences(n) : 0;
  uint32_t line;
  for (size_t i = 0; i < count; i++) {
    uint32_t event = f->distance.items[i].event;
    const Event *e = &n->failing.events.items.items[event];
    const char *file = control_place(c, c->branch_of[e->edge], &line);
    if (near_decisive(n, event))
      add_place(out, file, line);
  }
  const PathEvent *broken = f && !count ? find_violated(n) : NULL;
  if (broken) {
    const char *file = program_place(c->program, broken->place, &line);
    add_place(out, file, line);
  }
  for (size_t i = 0; f && i < n->telling.len; i++)
    add_place(out, n->telling.items[i].file, n->telling.items[i].line);
}

// --- branches to be forced --------------------------------------------------

static bool is_condition(const Program *p, uint32_t branch) {
  const IrBranch *b = &p->branches.items[branch];
  return b->nedges == 2 && !b->ncases;
}

// Which of the conditions on its line it is.
static void find_nth(const Control *c, uint32_t branch, NearBranch *out) {
  uint32_t line;
  for (uint32_t i = 0; i < c->program->branches.len; i++) {
    if (!is_condition(c->program, i) ||
        strcmp(control_place(c, i, &line), out->file) != 0 || line != out->line)
      continue;
    out->nth += i < branch;
    out->of++;
  }
}

void near_branches(const Near *n, NearBranches *out) {
  const Control *c = &n->control;
  size_t count = near_best(n) ? count_differences(n) : 0;
  BranchReport *all = find_reports(n, "/");
  for (size_t i = 0; i < count; i++) {
    const BranchReport *r = &all[i];
    if (!r->decisive || !is_condition(c->program, r->branch))
      continue;
    NearBranch b = {
        .event = r->event, .execution = r->instance, .needed = r->needed == 0};
    b.file = control_place(c, r->branch, &b.line);
    find_nth(c, r->branch, &b);
    if (*b.file)
      array_push(out, b);
  }
  free(all);
}

// --- the source -------------------------------------------------------------

void near_source_line(const char *file, const char *root, uint32_t line,
                      Str *out) {
  Str text = {0};
  char *path = path_absolute(file, root);
  if (*file)
    source_read_line(path, line, &text);
  escape_add(out, str_text(&text));
  str_release(&text);
  free(path);
}

// --- the input --------------------------------------------------------------

// The bytes in quotes, as they can be shown.
static void add_bytes(Str *out, const uint8_t *bytes, size_t n) {
  str_addc(out, '"');
  for (size_t i = 0; i < n && i < TEXT_SHOWN; i++) {
    if (bytes[i] == '\n')
      str_add(out, "\\n");
    else if (bytes[i] < 0x20 || bytes[i] >= 0x7f)
      str_addf(out, "\\x%02x", bytes[i]);
    else if (bytes[i] == '"' || bytes[i] == '\\')
      str_addf(out, "\\%c", bytes[i]);
    else
      str_addc(out, (char)bytes[i]);
  }
  str_addc(out, '"');
  if (n > TEXT_SHOWN)
    str_addf(out, "... (%zu bytes)", n);
}

static bool is_changed(const InputSource *a, const InputSource *b) {
  return a->size != b->size || memcmp(a->bytes, b->bytes, a->size) != 0;
}

static void print_changes(const Near *n, FILE *out) {
  const Inputs *given = &n->search->given, *now = &reported(n)->inputs;
  for (size_t i = 0; i < now->sources.len; i++) {
    const InputSource *a = &given->sources.items[i],
                      *b = &now->sources.items[i];
    Str text = {0};
    if (!is_changed(a, b))
      continue;
    escape_add(&text, a->name);
    str_add(&text, ": ");
    add_bytes(&text, b->bytes, b->size);
    str_add(&text, " instead of ");
    add_bytes(&text, a->bytes, a->size);
    fprintf(out, "  %s\n", str_text(&text));
    str_release(&text);
  }
}

// "argv[1][0], stdin[7] and 3 more"
static void add_inputs(const Near *n, const PathEvent *e, Str *out) {
  VarList vars = {0};
  ExprPool *pool = n->failing.pool;
  support_members(pool, expr_support(pool, e->cond), &vars);
  for (size_t i = 0; i < vars.len && i < INPUTS_SHOWN; i++) {
    str_add(out, i ? ", " : "");
    expr_var_name(pool, vars.items[i], out);
  }
  if (vars.len > INPUTS_SHOWN)
    str_addf(out, " and %zu more", vars.len - INPUTS_SHOWN);
  array_release(&vars);
}

static char *command_line(const Near *n, const char *words) {
  Str line = {0};
  words_quote(&line, n->search->runner->options->command[0]);
  if (*words)
    str_addc(&line, ' ');
  str_add(&line, words);
  return str_take(&line);
}

// --- the note ---------------------------------------------------------------

static char *way_text(const Near *n, const BranchReport *r, uint32_t way,
                      Arena *arena) {
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  print_way(n, r, way, false, out);
  fclose(out);
  char *copy = arena_strdup(arena, text);
  free(text);
  return copy;
}

// The more telling first, of equal ones the later.
static int by_rank(const void *a, const void *b) {
  const BranchReport *x = a, *y = b;
  if (x->rank != y->rank)
    return x->rank < y->rank ? -1 : 1;
  return (x->order < y->order) - (x->order > y->order);
}

static void note_branches(const Near *n, NearNote *note, Arena *arena) {
  enum { MOST = 1000 };
  size_t count = count_differences(n);
  BranchReport *all = find_reports(n, "/");
  for (size_t i = 0; i < count; i++)
    all[i].order = i;
  if (count)
    qsort(all, count, sizeof *all, by_rank);
  for (size_t i = 0; i < count && i < MOST; i++) {
    const BranchReport *r = &all[i];
    uint32_t line;
    const char *file = control_place(&n->control, r->branch, &line);
    array_push(&note->branches,
               (NoteBranch){file, line, r->instance,
                            way_text(n, r, r->taken, arena),
                            way_text(n, r, r->needed, arena), r->decisive,
                            near_matters(n, r->event, arena),
                            written(n, r) ? written(n, r) : ""});
  }
  free(all);
}

int near_keep(const Near *n, Err *err) {
  Runner *r = n->search->runner;
  Suite suite = {0};
  Arena arena = {0};
  char *command = command_line(n, reported(n)->line);
  NearNote note = {
      .head = {.session = r->session, .signature = n->search->signature},
      .command = command};
  int rc = store_flush(r->store, err) ||
           store_load(r->store, r->session, &suite, err);
  for (size_t i = 0; !rc && i < suite.nsources; i++)
    array_push(&note.head.sources, suite.sources[i]);
  note_branches(n, &note, &arena);
  if (!rc)
    rc = note_write(&near_note_kind, store_dir(r->store), &note, err);
  note_release(&near_note_kind, &note);
  free(command);
  arena_release(&arena);
  suite_release(&suite);
  return rc ? -1 : 0;
}

// --- text -------------------------------------------------------------------

static void print_condition(const Near *n, const PathEvent *e, FILE *out) {
  Str text = {0}, shown = {0};
  if (!e) {
    fputs("    depends on computed values, not directly on the input\n", out);
    return;
  }
  str_add(&text, "because ");
  expr_show_outcome(n->failing.pool, e->cond, e->outcome, 0, &text);
  str_add(&text, "; depends on ");
  add_inputs(n, e, &text);
  escape_add(&shown, str_text(&text));
  fprintf(out, "    %s\n", str_text(&shown));
  str_release(&text);
  str_release(&shown);
}

static void print_one(const Near *n, const BranchReport *r, const char *root,
                      FILE *out) {
  Str where = {0};
  Arena arena = {0};
  escape_add(&where, *r->file ? r->file : "(no line known)");
  str_addf(&where, ":%u: `", r->line);
  if (written(n, r) && is_one_of_many(n, r)) {
    escape_add(&where, written(n, r));
    str_add(&where, "` in `");
  }
  near_source_line(r->file, root, r->line, &where);
  str_addc(&where, '`');
  if (r->instance > 1)
    str_addf(&where, ", execution %u,", r->instance);
  fprintf(out, "  %s was ", str_text(&where));
  print_way(n, r, r->taken, false, out);
  fputs(", would have to be ", out);
  print_way(n, r, r->needed, false, out);
  fputc('\n', out);
  print_condition(n, r->condition, out);
  near_print_state(n, r->event, root, out);
  near_print_forced(n, r->event, way_text(n, r, r->needed, &arena), out);
  arena_release(&arena);
  str_release(&where);
}

static void print_violated(const Near *n, const char *root, FILE *out) {
  const PathEvent *e = find_violated(n);
  uint32_t line;
  Str where = {0};
  if (!e)
    return;
  const char *file = program_place(n->control.program, e->place, &line);
  escape_add(&where, path_below(file, root));
  str_addf(&where, ":%u: `", line);
  near_source_line(file, root, line, &where);
  fprintf(out, "  %s` %s\n", str_text(&where),
          e->kind == PATH_DIVIDE ? "divides by 0"
                                 : "accesses memory out of bounds");
  print_condition(n, e, out);
  str_release(&where);
}

// What the user gave was made smaller: it is that which is compared.
static bool is_reduced(const Near *n) {
  const InputSearch *e = n->search;
  for (size_t i = 0; i < e->original.sources.len; i++)
    if (is_changed(&e->original.sources.items[i], &e->given.sources.items[i]))
      return true;
  return false;
}

static void print_reduced(const Near *n, FILE *out) {
  char *line = command_line(n, n->failing.line);
  Str shown = {0};
  escape_add(&shown, line);
  if (is_reduced(n))
    fprintf(out, "reduced, it still fails: %s\n", str_text(&shown));
  str_release(&shown);
  free(line);
}

static void print_input(const Near *n, FILE *out) {
  const NearFound *f = reported(n);
  char *line = command_line(n, f->line);
  Str shown = {0};
  print_reduced(n, out);
  escape_add(&shown, line);
  fputs(f->other ? "no passing input was found; this one fails in another way: "
                 : "with this input it passes: ",
        out);
  fprintf(out, "%s\n", str_text(&shown));
  if (f->test) {
    str_clear(&shown);
    escape_add(&shown, f->test);
    fprintf(out, "  test %s of session %lld\n", str_text(&shown),
            (long long)f->session);
  }
  print_changes(n, out);
  str_release(&shown);
  free(line);
}

// Those that are decisive, or those that are not.
static void print_those(const Near *n, const BranchReport *all, size_t count,
                        bool decisive, const char *root, FILE *out) {
  size_t shown = 0, more = 0;
  for (size_t i = 0; i < count; i++) {
    if (all[i].decisive != decisive)
      continue;
    if (shown++ < SHOWN_MAX)
      print_one(n, &all[i], root, out);
    else
      more++;
  }
  if (more)
    fprintf(out, "  and %zu more (--json has them all)\n", more);
}

static void print_branches(const Near *n, const BranchReport *all, size_t count,
                           const char *root, FILE *out) {
  size_t decisive = 0;
  for (size_t i = 0; i < count; i++)
    decisive += all[i].decisive;
  fprintf(out, "%zu branch%s went the other way there%s\n", count,
          count == 1 ? "" : "es",
          decisive == count ? ":"
                            : "; these distinguish failing from passing runs:");
  print_those(n, all, count, true, root, out);
  if (decisive < count)
    fputs("these distinguish less, or follow from them:\n", out);
  print_those(n, all, count, false, root, out);
}

// Each with its text.
static void print_telling(const Near *n, const char *root, FILE *out) {
  if (!near_best(n) || !n->telling.len)
    return;
  fputs("lines that best distinguish failing from passing runs, over all "
        "runs made:\n",
        out);
  for (size_t i = 0; i < n->telling.len; i++) {
    const NearPlace *p = &n->telling.items[i];
    Str where = {0};
    escape_add(&where, path_below(p->file, root));
    str_addf(&where, ":%u: `", p->line);
    near_source_line(p->file, root, p->line, &where);
    fprintf(out, "  %s`\n", str_text(&where));
    str_release(&where);
  }
}

void near_print_text(const Near *n, const char *root, FILE *out) {
  size_t count = count_differences(n);
  BranchReport *all = find_reports(n, root);
  print_input(n, out);
  if (count) {
    print_branches(n, all, count, root, out);
    near_print_limits(n, out);
    if (n->force_problem)
      escape_printf(out, "no branch was forced: %s\n", n->force_problem);
  } else {
    fputs("both runs take the same path; only values differ\n", out);
    print_violated(n, root, out);
  }
  print_telling(n, root, out);
  free(all);
}

// --- JSON -------------------------------------------------------------------

static void json_condition(const Near *n, const PathEvent *e, FILE *out) {
  Str text = {0};
  if (!e)
    return;
  expr_show_outcome(n->failing.pool, e->cond, e->outcome, 0, &text);
  json_text("condition", str_text(&text), out);
  str_clear(&text);
  VarList vars = {0};
  support_members(n->failing.pool, expr_support(n->failing.pool, e->cond),
                  &vars);
  fputs(",\"depends\":[", out);
  bool first = true;
  for (size_t i = 0; i < vars.len; i++) {
    str_clear(&text);
    expr_var_name(n->failing.pool, vars.items[i], &text);
    json_separator(&first, out);
    json_string(str_text(&text), out);
  }
  fputc(']', out);
  array_release(&vars);
  str_release(&text);
}

static void json_report(const Near *n, const BranchReport *r, FILE *out) {
  fputs("{\"file\":", out);
  json_string(r->file, out);
  fprintf(out, ",\"line\":%u,\"instance\":%u", r->line, r->instance);
  if (written(n, r))
    json_text("written", written(n, r), out);
  fputs(",\"taken\":", out);
  print_way(n, r, r->taken, true, out);
  fputs(",\"needed\":", out);
  print_way(n, r, r->needed, true, out);
  if (r->rank != UINT32_MAX)
    fprintf(out, ",\"rank\":%u", r->rank);
  json_bool("decisive", r->decisive, out);
  json_condition(n, r->condition, out);
  near_json_state(n, r->event, out);
  near_json_forced(n, r->event, out);
  fputc('}', out);
}

static bool is_text(const InputSource *s) {
  for (size_t i = 0; i < s->size;) {
    size_t n = utf8_length((const char *)s->bytes + i, s->size - i);
    if (!n || !s->bytes[i])
      return false;
    i += n;
  }
  return true;
}

// Bytes that are not text are given in hexadecimal.
static void json_source(const InputSource *s, bool changed, FILE *out) {
  fputs("{\"name\":", out);
  json_string(s->name, out);
  json_bool("changed", changed, out);
  if (is_text(s)) {
    json_text("text", (const char *)s->bytes, out);
  } else {
    fputs(",\"hex\":\"", out);
    for (size_t i = 0; i < s->size; i++)
      fprintf(out, "%02x", s->bytes[i]);
    fputc('"', out);
  }
  fputc('}', out);
}

static void json_input(const Near *n, FILE *out) {
  const Inputs *given = &n->search->given;
  const NearFound *f = reported(n);
  bool first = true;
  if (!f) {
    fputs("null", out);
    return;
  }
  char *line = command_line(n, f->line);
  fputs("{\"command\":", out);
  json_string(line, out);
  if (f->test) {
    json_text("test", f->test, out);
    fprintf(out, ",\"session\":%lld", (long long)f->session);
  }
  fputs(",\"sources\":[", out);
  for (size_t i = 0; i < f->inputs.sources.len; i++) {
    const InputSource *s = &f->inputs.sources.items[i];
    json_separator(&first, out);
    json_source(s, is_changed(s, &given->sources.items[i]), out);
  }
  fputs("]}", out);
  free(line);
}

static void json_violated(const Near *n, const char *root, FILE *out) {
  const PathEvent *e = find_violated(n);
  uint32_t line;
  if (!e)
    return;
  const char *file = program_place(n->control.program, e->place, &line);
  fputs(",\"broken\":{\"file\":", out);
  json_string(path_below(file, root), out);
  fprintf(out, ",\"line\":%u", line);
  json_text("rule", e->kind == PATH_DIVIDE ? "divide" : "bounds", out);
  json_condition(n, e, out);
  fputc('}', out);
}

static void json_reduced(const Near *n, FILE *out) {
  char *line = command_line(n, n->failing.line);
  if (is_reduced(n))
    json_text("reduced", line, out);
  free(line);
}

static void json_telling(const Near *n, const char *root, FILE *out) {
  bool first = true;
  fputs(",\"telling\":[", out);
  for (size_t i = 0; i < n->telling.len; i++) {
    json_separator(&first, out);
    fputs("{\"file\":", out);
    json_string(path_below(n->telling.items[i].file, root), out);
    fprintf(out, ",\"line\":%u}", n->telling.items[i].line);
  }
  fputc(']', out);
}

static void json_stats(const Near *n, FILE *out) {
  const NearStats *s = &n->stats;
  json_bool("complete", s->complete, out);
  fprintf(out,
          ",\"tests\":%zu,\"passing\":%zu,\"same\":%zu,\"others\":%zu,"
          "\"reduction\":%zu,\"stored\":%zu,\"queries\":%zu",
          s->tests, s->passing, s->same, s->others, n->search->stats.reduction,
          s->stored, s->queries);
}

void near_print_json(const Near *n, const char *root, const char *more,
                     FILE *out) {
  size_t count = count_differences(n);
  BranchReport *all = find_reports(n, root);
  bool first = true;
  fputs("{\"version\":1", out);
  json_bool("passes", near_best(n) != NULL, out);
  fputs(",\"distance\":[", out);
  for (size_t i = 0; i < count; i++) {
    json_separator(&first, out);
    json_report(n, &all[i], out);
  }
  fputs("],\"input\":", out);
  json_input(n, out);
  if (reported(n) && !count)
    json_violated(n, root, out);
  json_reduced(n, out);
  near_json_wrong(n, root, out);
  if (n->force_problem)
    json_text("force_problem", n->force_problem, out);
  json_telling(n, root, out);
  json_stats(n, out);
  fprintf(out, "%s}\n", more);
  free(all);
}
