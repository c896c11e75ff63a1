// The slice of the first wrong byte of a run's output: see output_slice.h.
#include "look/output_slice.h"

#include <dirent.h>
#include <string.h>

#include "look/follower.h"
#include "model/wrong_byte.h"
#include "replay/replay.h"
#include "replay/trace.h"
#include "util/mem.h"
#include "util/str.h"

int slice_program_open(SliceProgram *p, const char *program, const char *cache,
                       Err *err) {
  *p = (SliceProgram){0};
  if (stores_build(&p->build, program, cache, err))
    return -1;
  for (size_t i = 0; i < p->build.nirs; i++)
    if (program_add(&p->program, p->build.irs[i], err))
      return -1;
  program_link(&p->program);
  control_init(&p->control, &p->program);
  return 0;
}

void slice_program_close(SliceProgram *p) {
  control_release(&p->control);
  program_release(&p->program);
  trace_build_release(&p->build);
}

// --- what is missing --------------------------------------------------------

static size_t count_traces(const char *dir) {
  size_t n = 0;
  DIR *d = opendir(dir);
  for (struct dirent *e; d && (e = readdir(d));)
    n += text_ends(e->d_name, ".trace");
  if (d)
    closedir(d);
  return n;
}

static void add_note(OutputSlice *s, const char *note) {
  s->note = s->note ? arena_printf(&s->arena, "%s; %s", s->note, note) : note;
}

static void note_gaps(OutputSlice *s, const Follower *f, const Path *path,
                      size_t processes) {
  if (processes > 1)
    add_note(s, arena_printf(&s->arena,
                             "the test ran %zu processes of the program, of "
                             "which the first was followed",
                             processes));
  if (f->memory.full)
    add_note(s, "the run used more memory than is followed");
  if (!f->skipped.budget)
    add_note(s, "stores that were skipped are not followed up to the end");
  if (f->sets.full)
    add_note(s, "the run has more dependences than are followed");
  if (s->found)
    return;
  if (f->strange)
    add_note(s, "the output was written in a way that is not followed");
  else if (path->stop == STOP_LIMIT || path->stop == STOP_CUT)
    add_note(s, "the run is longer than what is followed");
  else
    add_note(s, "what wrote the first wrong byte is not known");
}

// --- slicing ----------------------------------------------------------------

// Of each line: how many right pieces depend on it.
static uint32_t *count_right(const Follower *f) {
  uint32_t *right = mem_array(uint32_t, f->lines.len + 1);
  for (size_t i = 0; i < f->right.len; i++) {
    Bitset lines = {0};
    line_sets_list(&f->sets, f->right.items[i].set, &lines);
    for (uint32_t k = 0; bitset_next(&lines, &k); k++)
      right[k] += f->right.items[i].pieces;
    bitset_release(&lines);
  }
  return right;
}

static void take_lines(OutputSlice *s, const Follower *f) {
  Bitset lines = {0};
  uint32_t *right = count_right(f);
  line_sets_list(&f->sets, f->slice, &lines);
  for (uint32_t i = 0; bitset_next(&lines, &i); i++)
    array_push(&s->lines, (SliceLine){arena_printf(&s->arena, "%s",
                                                   f->lines.items[i].source),
                                      f->lines.items[i].line, right[i]});
  s->nright = f->nright;
  free(right);
  bitset_release(&lines);
}

static void take_result(OutputSlice *s, const Follower *f, const Path *path) {
  s->found = f->found && !f->strange;
  s->executed = bitset_count(&f->executed);
  s->instructions = path->stats.instructions;
  s->source = "";
  if (!s->found)
    return;
  s->by = f->by;
  if (f->place != IR_NONE)
    s->source = arena_printf(&s->arena, "%s",
                             program_place(f->program, f->place, &s->line));
  take_lines(s, f);
}

static int follow_trace(SliceProgram *p, const char *path, const SlicedRun *run,
                        OutputSlice *s, Err *err) {
  Trace trace = {0};
  Follower f;
  Path replayed = {0};
  if (trace_open(&trace, path, err))
    return -1;
  follower_init(&f, &p->control, run->actual, run->nactual, s->offset,
                trace.header.standard_out);
  f.strict = run->strict;
  ReplayOptions options = follower_options(&f, run->most);
  int rc =
      replay_with(&p->program, &trace, NULL, NULL, &options, &replayed, err);
  if (!rc) {
    follower_end(&f, &replayed, run->killed);
    take_result(s, &f, &replayed);
    note_gaps(s, &f, &replayed, count_traces(run->traces));
  }
  path_release(&replayed);
  follower_release(&f);
  trace_close(&trace);
  return rc;
}

static int byte_at(const char *text, size_t n, size_t i) {
  return i < n ? (unsigned char)text[i] : BYTE_END;
}

// True: there is a difference.
static bool find_difference(const SlicedRun *r, OutputSlice *s) {
  size_t i = 0;
  while (i < r->nactual && i < r->nexpected && r->actual[i] == r->expected[i])
    i++;
  s->offset = i;
  s->at_end = i == r->nactual;
  s->expected = byte_at(r->expected, r->nexpected, i);
  s->printed = byte_at(r->actual, r->nactual, i);
  return i < r->nactual || i < r->nexpected;
}

int output_slice(SliceProgram *p, const SlicedRun *run, OutputSlice *s,
                 Err *err) {
  char *path = NULL;
  *s = (OutputSlice){.source = ""};
  s->right = !find_difference(run, s);
  if (s->right) {
    add_note(s, "its output is the expected one");
    return 0;
  }
  if (trace_find(run->traces, &path, err))
    return -1;
  int rc = follow_trace(p, path, run, s, err);
  free(path);
  return rc;
}

void output_slice_release(OutputSlice *s) {
  array_release(&s->lines);
  arena_release(&s->arena);
}
