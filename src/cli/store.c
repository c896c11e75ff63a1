// culprit store: lists, prunes, measures and merges stored sessions.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/imported.h"
#include "command/cli.h"
#include "store/store.h"
#include "store/test_queue.h"
#include "util/escape.h"
#include "util/mem.h"

typedef struct {
  const char *store; // --store, or NULL
  bool keep_given;
  size_t keep;
  Places places;
  bool quiet;
  Arena arena;
} Options;

#define ACTIONS "list, prune, size, status, roles or merge"

typedef int Action(Store *s, const Options *o, Err *err);

// The beginning of a long command, up to a blank: files may be listed by
// thousands.
static int shown_length(const char *command) {
  enum { MOST = 200 };
  size_t n = strlen(command);
  if (n <= MOST)
    return (int)n;
  for (n = MOST; n && command[n] != ' ';)
    n--;
  return n ? (int)n : MOST;
}

static int list(Store *s, const Options *o, Err *err) {
  (void)o;
  SessionInfo *sessions;
  size_t n;
  if (store_list(s, &sessions, &n, err))
    return -1;
  printf("%7s  %-20s  %6s  %7s  %-10s  %s\n", "session", "started", "runs",
         "failing", "state", "command");
  for (size_t i = 0; i < n; i++) {
    const SessionInfo *info = &sessions[i];
    Str command = {0}; // may hold anything; the list has a line per session
    escape_add(&command, info->command);
    int shown = shown_length(str_text(&command));
    printf("%7lld  %s  %6zu  %7zu  %-10s  %.*s%s\n", (long long)info->id,
           info->started, info->runs, info->failing,
           info->finished ? "finished" : "unfinished", shown,
           str_text(&command), str_text(&command)[shown] ? " ..." : "");
    str_release(&command);
  }
  store_list_free(sessions, n);
  return 0;
}

static void print_size(int64_t bytes) {
  static const char *const units[] = {"kB", "MB", "GB", "TB"};
  printf("%lld bytes", (long long)bytes);
  double amount = (double)bytes / 1000;
  size_t u = 0;
  for (; amount >= 1000 && u + 1 < sizeof units / sizeof *units; u++)
    amount /= 1000;
  if (bytes >= 1000)
    printf(" (%.1f %s)", amount, units[u]);
}

static int size(Store *s, const Options *o, Err *err) {
  (void)o;
  int64_t bytes;
  if (store_size(s, &bytes, err))
    return -1;
  print_size(bytes);
  escape_printf(stdout, " in %s\n", store_name(s));
  return 0;
}

static int prune(Store *s, const Options *o, Err *err) {
  int64_t before, after;
  size_t removed, keep = o->keep_given ? o->keep : store_keep(s);
  if (store_size(s, &before, err) || store_prune(s, keep, &removed, err) ||
      store_size(s, &after, err))
    return -1;
  printf("removed %zu session%s; the store takes ", removed,
         removed == 1 ? "" : "s");
  print_size(after);
  printf(", before %lld\n", (long long)before);
  return 0;
}

static void print_status(const QueueStatus *q) {
  printf("session %lld: %zu of %zu tests done, %zu taken by %zu worker%s",
         (long long)q->session, q->done, q->all, q->taken, q->workers,
         plural(q->workers));
  if (q->done < q->all && q->recent) {
    unsigned left = (unsigned)((q->all - q->done) * 60 / q->recent);
    printf(", %zu a minute, %u:%02u left", q->recent, left / 60, left % 60);
  }
  putchar('\n');
}

static int status(Store *s, const Options *o, Err *err) {
  (void)o;
  QueueStatuses list;
  if (test_queue_open(s, err) || test_queue_statuses(s, &list, err))
    return -1;
  for (size_t i = 0; i < list.len; i++)
    print_status(&list.items[i]);
  if (!list.len)
    puts("nothing is queued");
  array_release(&list);
  return 0;
}

static int roles(Store *s, const Options *o, Err *err) {
  (void)o;
  Str sql = {0};
  int rc = store_roles(s, &sql, err);
  if (!rc)
    fputs(str_text(&sql), stdout);
  str_release(&sql);
  return rc;
}

static const struct {
  const char *name;
  Action *act;
} actions[] = {{"list", list},
               {"prune", prune},
               {"size", size},
               {"status", status},
               {"roles", roles}};

static Action *find_action(const char *name) {
  for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
    if (!strcmp(name, actions[i].name))
      return actions[i].act;
  return NULL;
}

static int run_action(Action *act, const Options *o) {
  Err err = {0};
  Store *s;
  int status = cli_open_store(&s, o->store, STORE_EXISTING);
  if (status == EXIT_DONE && act(s, o, &err))
    status = cli_error(&err);
  store_close(s);
  return status;
}

static int take_keep(const Option *o, void *field, const char *arg) {
  (void)o;
  Options *options = field;
  options->keep_given = true;
  return option_count0.take(o, &options->keep, arg);
}

static int take_map(const Option *o, void *field, const char *arg) {
  (void)o;
  Options *options = field;
  return places_add_map(&options->places, arg, &options->arena);
}

static const OptionType option_map = {take_map, "FROM=TO"};

static const OptionType option_keep = {take_keep, "a whole number from 0"};

static const Option options[] = {
    {"keep", "N", &option_keep, 0,
     "sessions that prune keeps (default: CULPRIT_KEEP, else 10)"},
    {"map", "FROM=TO", &option_map, 0,
     "merge: sources below FROM are below TO here", .repeats = true},
    {.rows = option_quiet, .at = offsetof(Options, quiet)},
    {.rows = option_store, .at = offsetof(Options, store)},
    {0}};

// culprit store merge OUT IN...
static int merge(Options *o, char **operands, char **argv) {
  ARRAY(ImportArg) inputs = {0};
  if (!operands[0] || !operands[1])
    return options_wrong(&cmd_store, "merge: name the store to make, and those "
                                     "to merge: OUT IN...");
  if (o->store)
    return cli_fail(EXIT_USAGE, "--store: merge writes to its first operand");
  for (char **in = operands + 1; *in; in++)
    array_push(&inputs, import_arg(*in, &o->arena));
  char *command = cli_command_line(argv);
  MergeRequest r = {.inputs = {inputs.items, inputs.len},
                    .places = &o->places,
                    .store = operands[0],
                    .command = command,
                    .quiet = o->quiet};
  int status = store_merge(&r);
  free(command);
  array_release(&inputs);
  return status;
}

static int act(Options *o, char **operands, char **argv) {
  const char *name = operands[0] ? operands[0] : "";
  Action *action = find_action(name);
  bool merges = !strcmp(name, "merge");
  if (!action && !merges)
    return options_wrong(&cmd_store, "name an action: " ACTIONS);
  if (o->keep_given && action != prune)
    return cli_fail(EXIT_USAGE, "--keep: only `culprit store prune` takes it");
  if (merges)
    return merge(o, operands + 1, argv);
  if (operands[1])
    return options_wrong(&cmd_store, "'%s': %s takes no operand", operands[1],
                         name);
  return run_action(action, o);
}

static int store_main(int argc, char **argv) {
  Options o = {0};
  int first;
  int status = options_parse(&cmd_store, argc, argv, &o, &first);
  if (status == OPTIONS_TAKEN)
    status = act(&o, argv + first, argv);
  places_release(&o.places);
  arena_release(&o.arena);
  return status;
}

const Command cmd_store = {
    "store",
    "list, prune, measure or merge the stored sessions",
    store_main,
    .usage = "list|prune|size|status|roles|merge [OUT IN...] [options]",
    .about = "list: print the stored sessions, newest first.\n"
             "prune: remove all but the newest sessions and free their space. "
             "Sessions in use are never removed.\n"
             "size: print the size of the store in bytes.\n"
             "status: print what is queued, how many workers there are, and "
             "the time left.\n"
             "roles: print the SQL that makes two roles for a store on a "
             "PostgreSQL server: one that can only add runs, one that can only "
             "read.\n"
             "merge OUT IN...: make one session in the store OUT out of the "
             "newest session of each store IN, for instance the shards of "
             "`culprit run --shard`. NAME=IN calls its tests NAME/...",
    .options = options,
    .end = "Exit status: 0 success, 2 usage, 3 no store, a corrupt one, or "
           "stores that do not fit together."};
