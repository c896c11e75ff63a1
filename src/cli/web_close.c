// The closer look of `culprit web`: see web.h.
#include "cli/web.h"

#include <stdlib.h>
#include <string.h>

#include "cli/run_close.h"
#include "command/cli.h"
#include "explore/request_again.h"
#include "look/web_look.h"
#include "util/clock.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

#define COLLECT "culprit.collect="

typedef struct {
  const WebCloseOptions *options;
  WebLook *look;
  size_t taken;
  double drawn; // when progress was shown last
} Closer;

// --- the requests again -----------------------------------------------------

static bool wants(void *context, const char *test) {
  return web_look_wants(((Closer *)context)->look, test);
}

static bool goes_on(void *context) {
  return web_look_goes_on(((Closer *)context)->look);
}

static void take(void *context, const Run *run, const PhpRecord *record) {
  Closer *c = context;
  web_look_take(c->look, run, record);
  c->taken++;
  if (!c->options->show_progress || clock_now() - c->drawn < 0.1)
    return;
  c->drawn = clock_now();
  fprintf(stderr, "\rlooking closer [%zu/%zu]\033[K", c->taken,
          web_look_length(c->look));
  fflush(stderr);
}

static uint32_t number_of(const WebLook *look, size_t i) {
  return (uint32_t)strtoul(web_look_test(look, i), NULL, 10);
}

static int explored_again(const WebLook *look, const Visits *v,
                          const Explorer *e, const char *maps, Err *err) {
  size_t n = web_look_length(look);
  uint32_t *numbers = mem_array(uint32_t, n + 1);
  for (size_t i = 0; i < n; i++)
    numbers[i] = number_of(look, i);
  int rc = request_again(e, v, maps, numbers, n, err);
  free(numbers);
  return rc;
}

static void add_visitor(const Requests *list, unsigned visitor, unsigned number,
                        Requests *out) {
  for (size_t i = 0; i < list->len; i++) {
    if (list->items[i].visitor != visitor)
      continue;
    Request r = list->items[i];
    r.visitor = number;
    array_push(out, r);
  }
}

// The visitors in the order of the look.
static void order_visitors(const WebLook *look, const Requests *list,
                           Requests *out) {
  Bitset had = {0};
  unsigned n = 0;
  for (size_t i = 0; i < web_look_length(look); i++)
    for (size_t k = 0; k < list->len; k++) {
      const Request *r = &list->items[k];
      if (r->line != number_of(look, i) || bitset_has(&had, r->visitor))
        continue;
      bitset_add(&had, r->visitor);
      add_visitor(list, r->visitor, n++, out);
    }
  bitset_release(&had);
}

static int listed_again(const WebLook *look, Visits *v, const Requests *list,
                        Err *err) {
  Requests ordered = {0};
  order_visitors(look, list, &ordered);
  int rc = ordered.len ? visits_run(v, &ordered, err) : 0;
  array_release(&ordered);
  return rc;
}

// --- settings ---------------------------------------------------------------

static void choose_ini(const Visits *v, Texts *out) {
  for (size_t i = 0; i < v->ini.len; i++)
    if (!text_starts(v->ini.items[i], COLLECT))
      array_push(out, v->ini.items[i]);
  array_push(out, COLLECT "statements,output,close");
}

static int look_again(Closer *c, const Visits *v, const Requests *list,
                      const Explorer *e, const char *maps, Err *err) {
  VisitsTaker taker = {c, wants, goes_on, take};
  Visits again = *v;
  again.ini = (Texts){0};
  choose_ini(v, &again.ini);
  again.taker = &taker;
  again.refusals = NULL;
  again.confined = NULL;
  again.pages = NULL;
  again.progress = NULL;
  int rc = fs_mkdirs(maps, err);
  if (!rc)
    rc = e ? explored_again(c->look, &again, e, maps, err)
           : listed_again(c->look, &again, list, err);
  array_release(&again.ini);
  return rc;
}

int web_close(const WebCloseOptions *o, const Visits *v, const Requests *list,
              const Explorer *e, CloseLookResult *out, Err *err) {
  *out = (CloseLookResult){.ended = ""};
  if (o->seconds == 0)
    return 0;
  char *maps = mem_printf("%s/maps", v->scratch);
  Closer c = {.options = o};
  c.look = web_look_new(v->store, v->session,
                        run_close_seconds(o->seconds, o->took), maps, err);
  int rc = c.look ? 0 : -1;
  if (!rc && web_look_is_due(c.look)) {
    Err problem;
    if (look_again(&c, v, list, e, maps, &problem))
      web_look_note(c.look, problem.text);
    if (o->show_progress && c.drawn > 0)
      cli_progress_end();
    rc = web_look_store(c.look, out, err);
  }
  web_look_free(c.look);
  free(maps);
  return rc;
}
