// `culprit store`: looks after the stored sessions.
#include <ctype.h>
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "store/store.h"
#include "util/escape.h"

static const char HELP[] =
    "usage: culprit store list|prune|size [--store DIR]\n"
    "\n"
    "  list              the stored sessions, newest first\n"
    "  prune [--keep N]  remove all but the newest N sessions (default: 10, "
    "or\n"
    "                    CULPRIT_KEEP) and give their space back\n"
    "  size              the bytes the store takes\n"
    "\n"
    "  --store DIR       the store (default: CULPRIT_STORE, or .culprit)\n"
    "\n"
    "Sessions that a running culprit is at work on are never removed.\n";

typedef struct {
  const char *store; // --store, or NULL
  bool keep_given;
  size_t keep;
} Options;

typedef int Action(Store *s, const Options *o, Err *err);

// A command line may hold anything; a list has one line per session.
static void print_plain(const char *text) {
  for (; *text; text++)
    putchar(iscntrl((unsigned char)*text) ? '?' : *text);
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
    printf("%7lld  ", (long long)info->id);
    print_plain(info->started);
    printf("  %6zu  %7zu  %-10s  ", info->runs, info->failing,
           info->finished ? "finished" : "unfinished");
    print_plain(info->command);
    putchar('\n');
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
  escape_printf(stdout, " in %s\n", store_dir(s));
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

static const struct {
  const char *name;
  Action *act;
} actions[] = {{"list", list}, {"prune", prune}, {"size", size}};

static Action *find_action(const char *name) {
  for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
    if (!strcmp(name, actions[i].name))
      return actions[i].act;
  return NULL;
}

static bool parse_count(const char *text, size_t *n) {
  char *end;
  *n = strtoul(text, &end, 10);
  return isdigit((unsigned char)*text) && !*end;
}

static int run_action(Action *act, const Options *o) {
  Err err = {0};
  Store *s;
  char *dir = store_find(o->store);
  int rc = store_open(&s, dir, STORE_EXISTING, &err);
  if (!rc)
    rc = act(s, o, &err);
  store_close(s);
  free(dir);
  return rc ? cli_error(&err) : EXIT_DONE;
}

int cmd_store(int argc, char **argv) {
  static const struct option longopts[] = {{"store", required_argument, 0, 's'},
                                           {"keep", required_argument, 0, 'k'},
                                           {"help", no_argument, 0, 'h'},
                                           {0}};
  Options o = {0};
  for (int c; (c = cli_getopt(argc, argv, "h", longopts, NULL)) != -1;) {
    switch (c) {
    case 's':
      o.store = optarg;
      break;
    case 'k':
      if (!parse_count(optarg, &o.keep))
        return cli_fail(EXIT_USAGE, "--keep %s: not a number", optarg);
      o.keep_given = true;
      break;
    case 'h':
      fputs(HELP, stdout);
      return EXIT_DONE;
    default:
      return cli_usage_hint("store");
    }
  }
  if (argc - optind != 1) {
    fputs(HELP, stderr);
    return EXIT_USAGE;
  }
  Action *act = find_action(argv[optind]);
  if (!act) {
    cli_fail(EXIT_USAGE, "store: no action '%s'", argv[optind]);
    return cli_usage_hint("store");
  }
  if (o.keep_given && act != prune)
    return cli_fail(EXIT_USAGE, "--keep goes with `culprit store prune`");
  return run_action(act, &o);
}
