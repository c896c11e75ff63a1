// An exploration between a process and the next: see site_saved.h for the
// file. Part of site.c.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explore/site_internal.h"
#include "explore/site_saved.h"
#include "php/child.h"
#include "util/clock.h"
#include "util/mem.h"

#define LOG_SECONDS 1.0

// --- keeping it -------------------------------------------------------------

// What is asked or thought about right now comes first again; of a list that is
// not yet made to its end, all of it.
int explorer_save(Explorer *e, Err *err) {
  const SiteOptions *o = e->options;
  ARRAY(QueueItem) busy = {0};
  uint32_t failing[FAILING_MOST];
  Saved s = {.atlas = &e->atlas,
             .queue = &e->queue,
             .lines = &e->lines,
             .conditions = &e->conditions,
             .statements = e->progress.statements,
             .given = explorer_is_given_left(e) ? 0 : e->given,
             .failing = e->progress.failing,
             .dropped = e->queue.dropped,
             .target = e->target.target};
  if (!o->saved)
    return 0;
  s.targets = failing;
  for (; s.ntargets < e->target.failing.len; s.ntargets++)
    failing[s.ntargets] = e->target.failing.items[s.ntargets].number;
  for (int i = 0; i < e->nposts; i++) {
    if (e->posts[i].busy && !e->posts[i].given)
      array_push(&busy, e->posts[i].item);
    if (e->posts[i].thought.open)
      array_push(&busy, e->posts[i].thought.item);
  }
  for (size_t i = 0; i < e->shown.len; i++)
    array_push(&s.shown,
               (Shown){e->shown.items[i].signature, e->shown.items[i].number});
  for (size_t i = 0; i < e->scripts_seen.len; i++)
    array_push(&s.scripts, e->scripts_seen.items[i]);
  int rc = store_flush(o->visits->store, err);
  if (!rc)
    rc = saved_write(&s, busy.items, busy.len, o->saved, err);
  array_release(&busy);
  array_release(&s.shown);
  array_release(&s.scripts);
  e->saved_at = clock_now();
  return rc;
}

void explorer_log(Explorer *e, bool now) {
  const SiteProgress *p = &e->progress;
  if (!e->options->saved || (!now && p->seconds < e->logged))
    return;
  char *path = mem_printf("%s.tsv", e->options->saved);
  bool resumed = e->options->resume || e->logged > 0;
  FILE *f = fopen(path, resumed ? "a" : "w");
  if (f && !resumed)
    fputs("seconds\trequests\tscripts\tlines\tbranches\tstates\tfailing\t"
          "failures\tqueued\n",
          f);
  if (f)
    fprintf(f, "%.1f\t%zu\t%zu\t%zu\t%zu\t%zu\t%zu\t%zu\t%zu\n", p->seconds,
            p->requests, p->scripts, p->lines, p->branches, p->worlds,
            p->failing, p->failures, p->queued);
  if (f)
    fclose(f);
  free(path);
  e->logged = p->seconds + LOG_SECONDS;
}

static void adopt_scripts(Explorer *e, const Saved *s) {
  for (size_t i = 0; i < s->scripts.len; i++) {
    UnitId unit = {0};
    unsigned char *bytes = (unsigned char *)&unit;
    for (size_t k = 0; k < sizeof unit; k++)
      sscanf(s->scripts.items[i] + 2 * k, "%2hhx", &bytes[k]);
    explorer_take_script(e, &unit);
  }
}

int explorer_load(Explorer *e, Err *err) {
  Saved s = {.atlas = &e->atlas,
             .queue = &e->queue,
             .lines = &e->lines,
             .conditions = &e->conditions};
  if (saved_read(&s, e->options->saved, err))
    return -1;
  for (size_t i = 0; i < s.shown.len; i++) {
    const char *signature = s.shown.items[i].signature;
    hashmap_put(&e->signatures, signature, strlen(signature), e->shown.len);
    array_push(&e->shown,
               (Failing){mem_strdup(signature), s.shown.items[i].number, {0}});
  }
  adopt_scripts(e, &s);
  if (*s.target && explorer_is_directed(e))
    target_set(&e->target, s.target);
  for (size_t i = 0; *s.target && i < s.ntargets; i++)
    target_add(&e->target, s.targets[i]);
  explorer_rescore(e);
  e->given = s.given;
  e->numbers = (uint32_t)e->atlas.asked.len;
  e->queue.dropped = s.dropped;
  e->progress = (SiteProgress){.requests = e->atlas.asked.len,
                               .scripts = e->units.len,
                               .lines = bitset_count(&e->lines),
                               .statements = s.statements,
                               .branches = bitset_count(&e->conditions),
                               .failing = s.failing,
                               .failures = e->shown.len,
                               .worlds = e->atlas.worlds.len};
  return 0;
}
