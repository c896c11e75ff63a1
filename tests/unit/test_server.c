// The fork server: a served run is like an executed one.
#include "test.h"

#include <glob.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process/loadable.h"
#include "process/process.h"
#include "run/testfile.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

extern char **environ;

// --- a pool of one slot, and what runs left ---------------------------------

typedef struct {
  char *dir, *out, *errors;
  Pool *pool;
  Arena arena;
} Bench;

static void bench_open(Bench *b) {
  char name[] = "/tmp/culprit-test-XXXXXX";
  Err err = {0};
  *b = (Bench){.dir = mem_strdup(mkdtemp(name))};
  b->out = mem_printf("%s/out", b->dir);
  b->errors = mem_printf("%s/err", b->dir);
  assert_int_equal(pool_open(&b->pool, 1, &err), 0);
}

static void bench_close(Bench *b) {
  pool_close(b->pool);
  fs_remove_tree(b->dir);
  free(b->dir);
  free(b->out);
  free(b->errors);
  arena_release(&b->arena);
}

static Outcome run(Bench *b, Spawn spawn, bool serve) {
  size_t slot;
  Outcome outcome;
  spawn.serve = serve;
  spawn.out = b->out;
  spawn.err = b->errors;
  spawn.cwd = spawn.cwd ? spawn.cwd : b->dir;
  spawn.env = spawn.env ? spawn.env : environ;
  pool_start(b->pool, 0, &spawn);
  assert_int_equal(pool_wait(b->pool, -1, &slot, &outcome), POOL_ENDED);
  return outcome;
}

static Outcome run_shell(Bench *b, const char *text, bool serve) {
  Spawn spawn = {.timeout = 20};
  spawn_shell(&spawn, text, &b->arena);
  return run(b, spawn, serve);
}

static Outcome run_words(Bench *b, char **argv, bool serve) {
  Spawn spawn = {.path = path_lookup(argv[0], &b->arena), .argv = argv};
  return run(b, spawn, serve);
}

static const char *text_of(Bench *b, const char *path) {
  Str text = {0};
  Err err = {0};
  assert_int_equal(fs_read(path, 0, &text, &err), 0);
  const char *copy = arena_strdup(&b->arena, str_text(&text));
  str_release(&text);
  return copy;
}

// Between runs only servers are our threads' children.
static size_t list_servers(pid_t *pids, size_t most) {
  glob_t files;
  size_t n = 0;
  assert_int_equal(glob("/proc/self/task/*/children", 0, NULL, &files), 0);
  for (size_t i = 0; i < files.gl_pathc; i++) {
    FILE *f = fopen(files.gl_pathv[i], "r");
    while (f && n < most && fscanf(f, "%d", &pids[n]) == 1)
      n++;
    if (f)
      fclose(f);
  }
  globfree(&files);
  return n;
}

static size_t server_count(void) {
  pid_t pids[16];
  return list_servers(pids, 16);
}

// --- tests ------------------------------------------------------------------

TEST(a_served_run_ends_and_prints_like_an_executed_one) {
  static const char *const commands[] = {
      "echo out; echo err >&2; exit 3",
      "kill -SEGV $$",
      "kill -KILL $$",
      "cat; pwd -P; umask; ulimit -a",
      "env -u _ | sort; echo $PPID",
      "ls /proc/self/fd",
      "ps -o tty= $$ > /dev/null; cut -d' ' -f5,6 /proc/$$/stat | grep -w $$ "
      "| wc -w",
      "exec grep -E '^(Sig(Pnd|Blk|Ign|Cgt)|Shd|NoNew|Seccomp|Umask)' "
      "/proc/self/status",
      "printf %s \"$0\"; readlink /proc/$$/exe",
      "sleep 50 & echo started",
  };
  Bench b;
  bench_open(&b);
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
    Outcome plain = run_shell(&b, commands[i], false);
    const char *out = text_of(&b, b.out), *errors = text_of(&b, b.errors);
    for (int again = 0; again < 2; again++) {
      Outcome served = run_shell(&b, commands[i], true);
      assert_int_equal(server_count(), 1);
      assert_int_equal(served.end, plain.end);
      assert_int_equal(served.status, plain.status);
      assert_string_equal(text_of(&b, b.out), out);
      assert_string_equal(text_of(&b, b.errors), errors);
    }
  }
  bench_close(&b);
}

// Executed twice, a program has other addresses each time.
TEST(one_server_makes_all_runs) {
  char *argv[] = {"cat", "/proc/self/maps", NULL};
  Bench b;
  bench_open(&b);
  run_words(&b, argv, true);
  const char *first = text_of(&b, b.out);
  run_words(&b, argv, true);
  const char *again = text_of(&b, b.out);
  assert_non_null(strstr(first, "culprit-server.so"));
  assert_memory_equal(first, again, 12);
  run_words(&b, argv, false);
  assert_null(strstr(text_of(&b, b.out), "culprit-server.so"));
  bench_close(&b);
}

TEST(arguments_and_environment_may_change_from_run_to_run) {
  static const char *const values[] = {"a", "", "much longer than before",
                                       "with 'quotes' \n and lines", "b"};
  Bench b;
  bench_open(&b);
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    char *mode = arena_printf(&b.arena, "MODE=%s", values[i]);
    char *env[] = {mode, "PATH=/usr/bin:/bin", NULL};
    char *argv[] = {"sh",
                    "-c",
                    "printf '[%s] [%s] [%s]' \"$0\" \"$1\" \"$MODE\"",
                    arena_printf(&b.arena, "%s0", values[i]),
                    (char *)values[i],
                    NULL};
    Spawn spawn = {.path = "/bin/sh", .argv = argv, .env = env};
    run(&b, spawn, true);
    assert_string_equal(text_of(&b, b.out),
                        arena_printf(&b.arena, "[%s0] [%s] [%s]", values[i],
                                     values[i], values[i]));
    assert_int_equal(server_count(), 1);
  }
  bench_close(&b);
}

TEST(an_argument_too_long_for_the_server_is_passed_all_the_same) {
  char *longer = mem_alloc(100001);
  memset(longer, 'x', 100000);
  Bench b;
  bench_open(&b);
  char *first[] = {"echo", "a", NULL}, *second[] = {"echo", longer, NULL};
  run_words(&b, first, true);
  run_words(&b, second, true);
  assert_int_equal(strlen(text_of(&b, b.out)), 100001);
  run_words(&b, first, true);
  assert_string_equal(text_of(&b, b.out), "a\n");
  bench_close(&b);
  free(longer);
}

TEST(another_number_of_arguments_makes_another_server) {
  char *one[] = {"echo", "a", NULL}, *two[] = {"echo", "a", "b", NULL};
  Bench b;
  bench_open(&b);
  run_words(&b, one, true);
  run_words(&b, two, true);
  assert_string_equal(text_of(&b, b.out), "a b\n");
  run_words(&b, one, true);
  assert_string_equal(text_of(&b, b.out), "a\n");
  bench_close(&b);
}

TEST(what_the_dynamic_linker_looks_at_is_never_taken_from_an_older_run) {
  Bench b;
  bench_open(&b);
  char *argv[] = {"true", NULL};
  char *quiet[] = {"LD_DEBUG=", NULL}, *loud[] = {"LD_DEBUG=libs", NULL};
  Spawn spawn = {.path = "/bin/true", .argv = argv, .env = quiet};
  run(&b, spawn, true);
  assert_string_equal(text_of(&b, b.errors), "");
  spawn.env = loud;
  run(&b, spawn, true);
  run(&b, spawn, false);
  assert_non_null(strstr(text_of(&b, b.errors), "libc.so"));
  bench_close(&b);
}

TEST(redirections_are_done_in_the_directory_of_the_run) {
  Bench b;
  Err err = {0};
  bench_open(&b);
  char *in = arena_printf(&b.arena, "%s/in", b.dir);
  assert_int_equal(fs_write(in, "hello", 5, &err), 0);
  Redirect redirects[] = {{.mode = REDIRECT_READ, .fd = 0, .path = "in"},
                          {.mode = REDIRECT_WRITE, .fd = 1, .path = "made"},
                          {.mode = REDIRECT_DUP, .fd = 2, .from = 1}};
  char *argv[] = {"sh", "-c", "cat; echo error >&2", NULL};
  Spawn spawn = {
      .path = "/bin/sh", .argv = argv, .redirects = redirects, .nredirects = 3};
  run(&b, spawn, true);
  char *made = arena_printf(&b.arena, "%s/made", b.dir);
  assert_string_equal(text_of(&b, made), "helloerror\n");
  bench_close(&b);
}

TEST(what_cannot_be_opened_is_told_like_in_an_execution) {
  Redirect missing = {.mode = REDIRECT_READ, .fd = 0, .path = "nowhere"};
  char *argv[] = {"cat", NULL};
  Spawn spawn = {
      .path = "/bin/cat", .argv = argv, .redirects = &missing, .nredirects = 1};
  Bench b;
  bench_open(&b);
  Outcome plain = run(&b, spawn, false), served = run(&b, spawn, true);
  assert_int_equal(served.end, END_UNSTARTED);
  assert_string_equal(served.problem, plain.problem);
  spawn.nredirects = 0;
  spawn.cwd = "/nowhere/at/all";
  plain = run(&b, spawn, false);
  served = run(&b, spawn, true);
  assert_int_equal(served.end, END_UNSTARTED);
  assert_string_equal(served.problem, plain.problem);
  bench_close(&b);
}

TEST(a_served_run_is_ended_at_its_timeout_with_all_it_started) {
  Bench b;
  bench_open(&b);
  Spawn spawn = {.timeout = 0.3};
  spawn_shell(&spawn, "sleep 60 & setsid sleep 60 & sleep 60", &b.arena);
  for (int i = 0; i < 2; i++) {
    Outcome o = run(&b, spawn, true);
    assert_int_equal(o.end, END_TIMEOUT);
    assert_true(o.seconds < 5);
    assert_int_equal(server_count(), 1);
  }
  bench_close(&b);
  assert_int_equal(server_count(), 0);
}

TEST(a_killed_server_is_done_without) {
  Bench b;
  pid_t server;
  bench_open(&b);
  run_shell(&b, "echo 1", true);
  assert_int_equal(list_servers(&server, 1), 1);
  kill(server, SIGKILL);
  for (int i = 0; i < 2; i++) {
    Outcome o = run_shell(&b, "echo 2; exit 5", true);
    assert_int_equal(o.status, 5);
    assert_string_equal(text_of(&b, b.out), "2\n");
  }
  bench_close(&b);
}

TEST(scripts_are_executed) {
  Bench b;
  Err err = {0};
  static const char text[] = "#!/bin/sh\necho \"script $1\"\n";
  bench_open(&b);
  char *path = arena_printf(&b.arena, "%s/script", b.dir);
  assert_int_equal(fs_write(path, text, sizeof text - 1, &err), 0);
  chmod(path, 0755);
  assert_false(loadable_with_preload(path));
  char *argv[] = {path, "a", NULL};
  Spawn spawn = {.path = path, .argv = argv};
  run(&b, spawn, true);
  assert_string_equal(text_of(&b, b.out), "script a\n");
  assert_int_equal(server_count(), 0);
  bench_close(&b);
}

TEST(only_dynamic_programs_without_rights_of_their_own_can_be_served) {
  Bench b;
  Err err = {0};
  bench_open(&b);
  assert_true(loadable_with_preload("/bin/cat"));
  assert_false(loadable_with_preload("/nowhere"));
  assert_false(loadable_with_preload("/sbin/ldconfig")); // static, or missing
  char *copy = arena_printf(&b.arena, "%s/cat", b.dir);
  Str program = {0};
  assert_int_equal(fs_read("/bin/cat", 0, &program, &err), 0);
  assert_int_equal(fs_write(copy, program.data, program.len, &err), 0);
  chmod(copy, 0755);
  assert_true(loadable_with_preload(copy));
  chmod(copy, 04755);
  assert_false(loadable_with_preload(copy));
  for (size_t cut = 0; cut < 4096; cut += 97) { // damaged ones: no crash
    assert_int_equal(fs_write(copy, program.data, cut, &err), 0);
    chmod(copy, 0755);
    assert_false(loadable_with_preload(copy));
  }
  str_release(&program);
  bench_close(&b);
}
