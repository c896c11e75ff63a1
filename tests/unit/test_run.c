// Executing tests: words, tests files, processes, the scratch area, sessions.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adapter/adapter.h"
#include "adapter/driver_context.h"
#include "adapter/logdriver.h"
#include "adapter/spool.h"
#include "process/process.h"
#include "process/words.h"
#include "program/turns_watch.h"
#include "run/scratch.h"
#include "run/summary.h"
#include "run/testfile.h"
#include "test.h"
#include "util/clock.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/stop.h"

extern char **environ;

// --- helpers ----------------------------------------------------------------

static char *make_dir(void) {
  char *dir = mem_strdup("/tmp/culprit-test-XXXXXX");
  assert_non_null(mkdtemp(dir));
  return dir;
}

static void drop_dir(char *dir) {
  fs_remove_tree(dir);
  free(dir);
}

static void write_text(const char *dir, const char *name, const char *text) {
  Err err = {0};
  char *path = mem_printf("%s/%s", dir, name);
  assert_int_equal(fs_write(path, text, strlen(text), &err), 0);
  free(path);
}

static char *read_text(const char *dir, const char *name) {
  Err err = {0};
  Str s = {0};
  char *path = mem_printf("%s/%s", dir, name);
  fs_read(path, 0, &s, &err);
  free(path);
  return str_take(&s);
}

static void assert_text(const char *dir, const char *name,
                        const char *expected) {
  char *text = read_text(dir, name);
  assert_string_equal(text, expected);
  free(text);
}

static unsigned random_below(unsigned n) {
  static uint64_t state = 88172645463325252u;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (unsigned)(state >> 33) % n;
}

// Executes one process with output in dir/out and dir/err.
static Outcome execute(const char *dir, Spawn spawn) {
  Err err = {0};
  Pool *pool;
  char *out = mem_printf("%s/out", dir), *errors = mem_printf("%s/err", dir);
  assert_int_equal(pool_open(&pool, 1, &err), 0);
  spawn.out = out;
  spawn.err = errors;
  spawn.cwd = spawn.cwd ? spawn.cwd : dir;
  spawn.env = spawn.env ? spawn.env : environ;
  pool_start(pool, 0, &spawn);
  size_t slot;
  Outcome outcome;
  assert_int_equal(pool_wait(pool, -1, &slot, &outcome), POOL_ENDED);
  pool_close(pool);
  free(out);
  free(errors);
  return outcome;
}

static Outcome execute_shell(const char *dir, const char *text, Spawn spawn) {
  Arena arena = {0};
  spawn_shell(&spawn, text, &arena);
  Outcome outcome = execute(dir, spawn);
  arena_release(&arena);
  return outcome;
}

static bool is_alive(const char *dir, const char *pid_file) {
  char *text = read_text(dir, pid_file);
  long pid = strtol(text, NULL, 10);
  free(text);
  return pid > 0 && kill((pid_t)pid, 0) == 0;
}

// --- words ------------------------------------------------------------------

static void add_random(Str *s, const char *alphabet, unsigned max) {
  for (unsigned n = random_below(max); n; n--)
    str_addc(s, alphabet[random_below((unsigned)strlen(alphabet))]);
}

// Lines without redirections, each shown by sh as words ended by "\n", the line
// ended by "\001\n".
TEST(words_are_those_that_sh_sees) {
  static const char alphabet[] = "ab1=-_.,/:%^@+]\\\\\\''''\"\"\"\"    \t$`;|&*"
                                 "?[~(){}!#\x81\x82\x88\xc3\xa9\r";
  char *dir = make_dir();
  Str script = {0}, expected = {0}, line = {0};
  str_add(&script, "show() { for w do printf '%s\\n' \"$w\"; done; "
                   "printf '\\001\\n'; }\n");
  int accepted = 0;
  for (int i = 0; i < 20000; i++) {
    Arena arena = {0};
    Words w;
    str_clear(&line);
    add_random(&line, alphabet, 14);
    if (words_parse(&w, str_text(&line), &arena)) {
      accepted++;
      str_addf(&script, "show %s\n", str_text(&line));
      for (size_t k = 0; k < w.argc; k++)
        str_addf(&expected, "%s\n", w.argv[k]);
      str_add(&expected, "\001\n");
    }
    arena_release(&arena);
  }
  assert_true(accepted > 1000);
  write_text(dir, "script", script.data);
  Outcome o = execute_shell(dir, "sh script", (Spawn){0});
  assert_int_equal(o.status, 0);
  assert_text(dir, "out", expected.data);
  str_release(&script);
  str_release(&expected);
  str_release(&line);
  drop_dir(dir);
}

// Executes a line as the runner would and, with `shell`, as sh would.
static char *run_line(const char *line, bool shell) {
  char *dir = make_dir();
  Arena arena = {0};
  Spawn spawn = {0};
  Test test = {.name = "1", .line = line};
  write_text(dir, "in", "input\n");
  if (shell)
    spawn_shell(&spawn, test_command(&test, "/bin/cat", &arena), &arena);
  else
    test_prepare(&test, "/bin/cat", &arena, &spawn);
  execute(dir, spawn);
  static const char *const names[] = {"out", "err", "x", "y"};
  Str all = {0};
  for (int i = 0; i < 4; i++) {
    char *text = read_text(dir, names[i]);
    str_addf(&all, "%s:%s\n", names[i], text);
    free(text);
  }
  arena_release(&arena);
  drop_dir(dir);
  return str_take(&all);
}

TEST(redirections_do_what_sh_does) {
  static const char *const parts[] = {
      "< in", "<in",  "> x",    ">x",     ">>y",  "1>> x",  "2> y",
      "2>x",  "2>&1", "1>&2",   ">&2",    "0<in", "nofile", "-n",
      "in",   "-",    "'in'>x", ">\"x\"", "2>& 1"};
  for (int i = 0; i < 60; i++) {
    Str line = {0};
    str_add(&line, "");
    for (unsigned n = 1 + random_below(4); n; n--)
      str_addf(&line, "%s ", parts[random_below(sizeof parts / sizeof *parts)]);
    Arena arena = {0};
    Words w;
    assert_true(words_parse(&w, line.data, &arena));
    arena_release(&arena);
    char *ours = run_line(line.data, false);
    char *theirs = run_line(line.data, true);
    if (strcmp(ours, theirs) != 0)
      print_error("%s\n", line.data);
    assert_string_equal(ours, theirs);
    free(ours);
    free(theirs);
    str_release(&line);
  }
}

TEST(what_only_a_shell_understands_is_refused) {
  static const char *const lines[] = {
      "a $HOME", "a `b`",  "a; b",    "a | b",   "a & b",    "a *",
      "a ?",     "a [x]",  "a ~",     "(a)",     "{ a; }",   "! a",
      "a # b",   "a << E", "a <> f",  "a >| f",  "a <& 3",   "a 3> f",
      "a >&-",   "a 2>&f", "a 'b",    "a \"b",   "a \"$b\"", "a b\\",
      "a <",     "a > ",   "a < < b", "a 12> b", "a \"`b`\""};
  Arena arena = {0};
  Words w;
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    if (words_parse(&w, lines[i], &arena))
      fail_msg("accepted: %s", lines[i]);
  arena_release(&arena);
}

TEST(a_quoted_word_reads_back_as_itself) {
  for (int i = 0; i < 2000; i++) {
    Arena arena = {0};
    Str word = {0}, quoted = {0};
    str_add(&word, "");
    for (unsigned n = random_below(9); n; n--)
      str_addc(&word, (char)(1 + random_below(255)));
    words_quote(&quoted, word.data);
    Words w;
    assert_true(words_parse(&w, quoted.data, &arena));
    assert_int_equal(w.argc, 1);
    assert_string_equal(w.argv[0], word.data);
    str_release(&word);
    str_release(&quoted);
    arena_release(&arena);
  }
}

// --- tests file -------------------------------------------------------------

static int parse_tests(Testfile *f, const char *text, size_t n, Err *err) {
  return testfile_parse(f, "t.txt", text, n, "", err);
}

TEST(a_test_of_a_project_has_a_minute) {
  static const struct {
    const char *file, *adapter;
    double timeout;
  } rows[] = {{"CTestTestfile.cmake", "ctest", 60},
              {"tests/a.sh", "script", 60},
              {"t/a.t", "tap", 60}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char *dir = make_dir();
    Err err = {0};
    char *below = mem_printf("%s/%c", dir, rows[i].file[0]);
    char *folder = mem_printf("%s/tests", dir);
    assert_int_equal(fs_mkdirs(rows[i].file[1] == '/' ? below : folder, &err),
                     0);
    write_text(dir, rows[i].file, "");
    RunOptions o = {.cwd = dir};
    const Adapter *a = NULL;
    assert_int_equal(adapter_find(&a, &o, &err), 0);
    assert_string_equal(a->name, rows[i].adapter);
    assert_true(a->timeout == rows[i].timeout);
    free(folder);
    free(below);
    drop_dir(dir);
  }
}

TEST(a_test_is_named_by_its_physical_line) {
  Testfile f = {0};
  Err err = {0};
  static const char text[] = "# comment\n\n-a\n  \t\n  # b\n x < y";
  assert_int_equal(parse_tests(&f, text, strlen(text), &err), 0);
  assert_int_equal(f.ntests, 2);
  assert_string_equal(f.tests[0].name, "3");
  assert_string_equal(f.tests[0].line, "-a");
  assert_string_equal(f.tests[1].name, "6");
  testfile_release(&f);
}

TEST(a_nul_byte_in_a_tests_file_is_an_error_that_names_the_line) {
  Testfile f = {0};
  Err err = {0};
  assert_int_equal(parse_tests(&f, "a\nb\0c\n", 6, &err), -1);
  assert_non_null(strstr(err.text, "t.txt:2: the line contains a NUL byte"));
  testfile_release(&f);
}

TEST(an_overlong_line_is_an_error_that_names_the_line) {
  Testfile f = {0};
  Err err = {0};
  size_t n = TEST_LINE_MAX + 3;
  char *text = mem_alloc(n);
  memset(text, 'x', n);
  text[0] = '\n';
  assert_int_equal(parse_tests(&f, text, n, &err), -1);
  assert_non_null(strstr(err.text, "t.txt:2: the line has 1048578 bytes"));
  testfile_release(&f);
  assert_int_equal(parse_tests(&f, text, n - 2, &err), 0);
  testfile_release(&f);
  free(text);
}

TEST(a_tests_file_without_a_test_is_an_error) {
  Testfile f = {0};
  Err err = {0};
  assert_int_equal(parse_tests(&f, "# only\n\n", 8, &err), -1);
  assert_non_null(strstr(err.text, "no test in it"));
  testfile_release(&f);
}

TEST(simple_lines_are_executed_without_a_shell_and_others_with_one) {
  Arena arena = {0};
  Spawn s = {0};
  test_prepare(&(Test){.line = "a 'b c'"}, "/my prog", &arena, &s);
  assert_string_equal(s.path, "/my prog");
  assert_string_equal(s.argv[2], "b c");
  test_prepare(&(Test){.line = "$HOME; x"}, "/my prog", &arena, &s);
  assert_string_equal(s.argv[2], "'/my prog' $HOME; x");
  test_prepare(&(Test){.line = "cat x"}, NULL, &arena, &s);
  assert_non_null(strstr(s.path, "/cat"));
  test_prepare(&(Test){.line = "exit 3"}, NULL, &arena, &s);
  assert_string_equal(s.path, "/bin/sh");
  test_prepare(&(Test){.line = "A=b cat"}, NULL, &arena, &s);
  assert_string_equal(s.path, "/bin/sh");
  arena_release(&arena);
}

// --- processes --------------------------------------------------------------

TEST(status_output_and_errors_of_a_process_are_captured) {
  char *dir = make_dir();
  Outcome o = execute_shell(dir, "echo out; echo err >&2; exit 7", (Spawn){0});
  assert_int_equal(o.end, END_EXIT);
  assert_int_equal(o.status, 7);
  assert_text(dir, "out", "out\n");
  assert_text(dir, "err", "err\n");
  drop_dir(dir);
}

TEST(standard_input_is_empty_unless_redirected) {
  char *dir = make_dir();
  Outcome o = execute_shell(dir, "cat; readlink /proc/self/fd/0", (Spawn){0});
  assert_int_equal(o.status, 0);
  assert_text(dir, "out", "/dev/null\n");
  drop_dir(dir);
}

TEST(a_death_by_signal_is_told_from_an_exit_status) {
  char *dir = make_dir();
  Outcome o = execute_shell(dir, "kill -SEGV $$", (Spawn){0});
  assert_int_equal(o.end, END_SIGNAL);
  assert_int_equal(o.status, -SIGSEGV);
  o = execute_shell(dir, "exit 139", (Spawn){0});
  assert_int_equal(o.end, END_EXIT);
  drop_dir(dir);
}

TEST(what_cannot_be_started_says_why) {
  char *dir = make_dir();
  char *none[] = {"./nothing", NULL}, *cat[] = {"cat", NULL};
  Redirect missing = {.mode = REDIRECT_READ, .path = "missing.txt"};
  Outcome o = execute(dir, (Spawn){.path = none[0], .argv = none});
  assert_int_equal(o.end, END_UNSTARTED);
  assert_string_equal(o.problem,
                      "cannot execute ./nothing: No such file or directory");
  o = execute(dir, (Spawn){.path = "/bin/cat",
                           .argv = cat,
                           .redirects = &missing,
                           .nredirects = 1});
  assert_int_equal(o.end, END_UNSTARTED);
  assert_string_equal(o.problem,
                      "cannot open missing.txt: No such file or directory");
  o = execute(dir, (Spawn){.path = "/bin/cat", .argv = cat, .cwd = "/no/dir"});
  assert_int_equal(o.end, END_UNSTARTED);
  assert_non_null(strstr(o.problem, "/no/dir"));
  drop_dir(dir);
}

TEST(a_script_without_a_first_line_for_the_kernel_is_the_shells) {
  char *dir = make_dir();
  write_text(dir, "script", "echo got $1\n");
  char *path = mem_printf("%s/script", dir);
  chmod(path, 0755);
  char *argv[] = {path, "this", NULL};
  Outcome o = execute(dir, (Spawn){.path = path, .argv = argv});
  assert_int_equal(o.status, 0);
  assert_text(dir, "out", "got this\n");
  free(path);
  drop_dir(dir);
}

TEST(a_test_that_never_ends_is_killed_with_its_children) {
  char *dir = make_dir();
  Outcome o = execute_shell(dir, "sleep 1000 & echo $! > pid; wait",
                            (Spawn){.timeout = 0.3});
  assert_int_equal(o.end, END_TIMEOUT);
  assert_true(o.seconds > 0.25 && o.seconds < 5);
  assert_false(is_alive(dir, "pid"));
  drop_dir(dir);
}

TEST(a_child_that_outlives_its_test_is_killed) {
  char *dir = make_dir();
  double start = clock_now();
  Outcome o = execute_shell(dir, "sleep 1000 & echo $! > pid", (Spawn){0});
  assert_int_equal(o.status, 0);
  assert_true(clock_now() - start < 5);
  assert_false(is_alive(dir, "pid"));
  drop_dir(dir);
}

TEST(a_daemon_is_found_and_killed) {
  char *dir = make_dir();
  Outcome o = execute_shell(
      dir,
      "setsid sh -c 'setsid sh -c \"echo \\$\\$ > pid; sleep 1000 & sleep 999; "
      ":\" & sleep 0.1' & sleep 0.3",
      (Spawn){0});
  assert_int_equal(o.status, 0);
  char *pid = read_text(dir, "pid");
  assert_true(strlen(pid) > 1);
  free(pid);
  assert_false(is_alive(dir, "pid"));
  drop_dir(dir);
}

// Two tests at once; each has a daemon; only that of the ended one is killed.
TEST(a_daemon_of_another_running_test_is_left_alone) {
  char *dir = make_dir();
  Err err = {0};
  Pool *pool;
  Arena arena = {0};
  static const char *const texts[] = {
      "setsid sh -c 'echo $$ > pid0; exec sleep 1000' & sleep 0.3",
      "setsid sh -c 'echo $$ > pid1; exec sleep 1000' & sleep 1000"};
  Spawn spawns[2];
  assert_int_equal(pool_open(&pool, 2, &err), 0);
  for (int i = 0; i < 2; i++) {
    char *extra[] = {arena_printf(&arena, "CULPRIT_RUN=%d", i), NULL};
    spawns[i] = (Spawn){
        .cwd = dir, .env = environment_with(extra, &arena), .mark = extra[0]};
    spawn_shell(&spawns[i], texts[i], &arena);
    pool_start(pool, (size_t)i, &spawns[i]);
  }
  size_t slot;
  Outcome o;
  assert_int_equal(pool_wait(pool, -1, &slot, &o), POOL_ENDED);
  assert_int_equal(slot, 0);
  assert_false(is_alive(dir, "pid0"));
  assert_true(is_alive(dir, "pid1"));
  pool_close(pool);
  assert_false(is_alive(dir, "pid1"));
  arena_release(&arena);
  drop_dir(dir);
}

// Each process makes another and goes: the group has always one member.
TEST(a_test_that_forks_for_ever_is_ended_at_the_timeout) {
  char *dir = make_dir();
  Outcome o =
      execute_shell(dir, "f() { f & wait; }; f", (Spawn){.timeout = 0.4});
  assert_true(o.end == END_TIMEOUT || o.end == END_PROCESSES);
  assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
  assert_int_equal(errno, ECHILD);
  drop_dir(dir);
}

// The leader ends at once; its descendants go on forking, each in a session of
// its own.
TEST(a_chain_of_fleeing_processes_is_caught) {
  char *dir = make_dir();
  write_text(dir, "hop", "setsid sh hop & exit");
  Outcome o = execute_shell(dir, "sh hop", (Spawn){.timeout = 10});
  assert_int_equal(o.end, END_EXIT);
  assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
  assert_int_equal(errno, ECHILD);
  drop_dir(dir);
}

TEST(a_fork_bomb_is_ended_before_it_fills_the_machine) {
  char *dir = make_dir();
  Outcome o =
      execute_shell(dir, "f() { f & f & wait; }; f", (Spawn){.timeout = 60});
  assert_int_equal(o.end, END_PROCESSES);
  assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
  assert_int_equal(errno, ECHILD);
  drop_dir(dir);
}

TEST(too_much_output_ends_the_test) {
  char *dir = make_dir();
  Outcome o =
      execute_shell(dir, "yes", (Spawn){.timeout = 60, .max_output = 1 << 20});
  assert_int_equal(o.end, END_OUTPUT);
  assert_true(o.seconds < 30);
  o = execute_shell(dir, "head -c 2000000 /dev/zero",
                    (Spawn){.max_output = 1 << 20});
  assert_int_equal(o.end, END_OUTPUT);
  drop_dir(dir);
}

TEST(a_hundred_megabytes_of_binary_output_are_captured) {
  char *dir = make_dir();
  Outcome o = execute_shell(dir, "head -c 104857600 /dev/zero",
                            (Spawn){.timeout = 60, .max_output = 256 << 20});
  assert_int_equal(o.end, END_EXIT);
  char *path = mem_printf("%s/out", dir);
  struct stat st;
  assert_int_equal(stat(path, &st), 0);
  assert_int_equal(st.st_size, 104857600);
  free(path);
  drop_dir(dir);
}

TEST(an_interruption_is_an_event_and_kills_what_runs) {
  char *dir = make_dir();
  Err err = {0};
  Pool *pool;
  Arena arena = {0};
  Spawn spawn = {.cwd = dir, .env = environ};
  spawn_shell(&spawn, "echo $$ > pid; sleep 1000", &arena);
  stop_orderly(60);
  assert_int_equal(pool_open(&pool, 1, &err), 0);
  pool_start(pool, 0, &spawn);
  size_t slot;
  Outcome o;
  while (!is_alive(dir, "pid"))
    assert_int_equal(pool_wait(pool, 10, &slot, &o), POOL_IDLE);
  raise(SIGINT); // as the user would
  assert_int_equal(pool_wait(pool, -1, &slot, &o), POOL_INTERRUPTED);
  pool_close(pool);
  assert_int_equal(stop_status(0), 130);
  stop_forget();
  assert_false(is_alive(dir, "pid"));
  arena_release(&arena);
  drop_dir(dir);
}

TEST(a_process_starts_with_default_signals_and_nothing_blocked) {
  char *dir = make_dir();
  for (int sig = 1; sig < 32; sig++)
    signal(sig, SIG_DFL); // whatever whoever runs this test ignores
  // Signals 32 and 33 are libc's own; make leaves them ignored.
  execute_shell(dir,
                "grep -E 'SigBlk|SigIgn' /proc/self/status |"
                " sed -E 's/(SigIgn:\t0000000)[01][08]/\\100/'",
                (Spawn){0});
  assert_text(dir, "out",
              "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
  drop_dir(dir);
}

TEST(our_descriptors_do_not_leak_into_tests) {
  char *dir = make_dir();
  for (int fd = 3; fd < 1024; fd++) // those of whoever runs this test
    fcntl(fd, F_SETFD, FD_CLOEXEC);
  execute_shell(dir, "exec ls /proc/self/fd", (Spawn){0});
  assert_text(dir, "out", "0\n1\n2\n3\n"); // 3: ls reads the directory
  drop_dir(dir);
}

// --- scratch ----------------------------------------------------------------

TEST(a_scratch_area_is_made_where_asked_and_removed) {
  char *dir = make_dir();
  Err err = {0};
  Scratch s;
  setenv("CULPRIT_TMPDIR", dir, 1);
  assert_int_equal(scratch_open(&s, "/nowhere", &err), 0);
  assert_true(text_starts(s.dir, dir));
  char *inside = mem_printf("%s/a", s.dir), *area = mem_strdup(s.dir);
  assert_int_equal(dir_make_empty(inside, &err), 0);
  scratch_close(&s);
  assert_false(fs_exists(area));
  unsetenv("CULPRIT_TMPDIR");
  free(inside);
  free(area);
  drop_dir(dir);
}

TEST(areas_of_killed_runs_are_removed_but_not_those_in_use) {
  char *dir = make_dir();
  Err err = {0};
  Scratch used, next;
  setenv("CULPRIT_TMPDIR", dir, 1);
  char *left = mem_printf("%s/culprit-scratch-aB3xyz", dir);
  char *mine = mem_printf("%s/culprit-scratch-mine", dir);
  assert_int_equal(mkdir(left, 0755), 0);
  assert_int_equal(mkdir(mine, 0755), 0);
  write_text(left, "file", "");
  assert_int_equal(scratch_open(&used, "/nowhere", &err), 0);
  // However young it is.
  assert_int_equal(scratch_open(&next, "/nowhere", &err), 0);
  assert_false(fs_exists(left));
  assert_true(fs_exists(mine));
  assert_true(fs_exists(used.dir));
  scratch_close(&used);
  scratch_close(&next);
  unsetenv("CULPRIT_TMPDIR");
  free(left);
  free(mine);
  drop_dir(dir);
}

TEST(a_directory_is_emptied_whatever_a_test_did_to_it) {
  char *dir = make_dir();
  Err err = {0};
  char *slot = mem_printf("%s/slot", dir);
  Str script = {0};
  static const char *const deeds[] = {
      "touch slot/a slot/b",
      "mkdir -p slot/a/b; touch slot/a/b/c",
      "rmdir slot",
      "rmdir slot; ln -s /usr slot",
      "chmod 0 slot",
      "mkdir -p slot/x/y; chmod 0 slot/x/y slot/x",
      "rmdir slot; touch slot"};
  for (size_t i = 0; i < sizeof deeds / sizeof *deeds; i++) {
    assert_int_equal(dir_make_empty(slot, &err), 0);
    execute_shell(dir, deeds[i], (Spawn){0});
    assert_int_equal(dir_make_empty(slot, &err), 0);
    execute_shell(dir, "ls -A slot; stat -c %a slot", (Spawn){0});
    assert_text(dir, "out", "1777\n");
  }
  str_release(&script);
  free(slot);
  drop_dir(dir);
}

// --- processes that hang ----------------------------------------------------

static volatile unsigned turned;

static void turn_for_ever(void) {
  while (!(turned & 1))
    turned += 2;
}

// What is seen of a process that turns for ever.
static void watch_turns(bool steps, Str *seen) {
  pid_t pid = fork();
  if (!pid) {
    turn_for_ever();
    _exit(0);
  }
  turns_watch(pid, steps, seen);
  kill(pid, SIGKILL);
  assert_int_equal(waitpid(pid, NULL, 0), pid);
}

// It may not be in its loop yet when it is watched, and on a busy machine it may
// hardly run meanwhile: then another one is watched, for as long as it takes.
static void assert_turns_are_seen(bool steps) {
  Str seen = {0};
  double give_up = clock_now() + 120;
  while (!seen.len && clock_now() < give_up)
    watch_turns(steps, &seen);
  const char *rest = str_text(&seen);
  DeathCaller t = {0};
  assert_true(death_caller(&rest, &t));
  assert_true(t.file_size > 10 &&
              !memcmp(t.file + t.file_size - 10, "test_run.c", 10));
  assert_true(strtoull(t.function, NULL, 10) > 0);
  str_release(&seen);
}

TEST(a_process_that_comes_back_to_a_place_is_counted_there) {
  assert_turns_are_seen(false);
}

TEST(a_process_is_followed_step_by_step_without_debug_registers) {
  assert_turns_are_seen(true);
}

TEST(a_process_that_waits_has_no_turns_and_goes_on_as_it_was) {
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  pid_t pid = fork();
  if (!pid) {
    char c;
    _exit(read(ends[0], &c, 1) == 1 ? 7 : 1);
  }
  Str seen = {0};
  int status;
  turns_watch(pid, false, &seen);
  assert_int_equal(seen.len, 0);
  assert_int_equal(write(ends[1], "x", 1), 1);
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  close(ends[0]);
  close(ends[1]);
}

// --- between run and log driver ---------------------------------------------

TEST(a_record_of_the_spool_comes_back_as_it_was) {
  char *dir = make_dir();
  Err err = {0};
  SpoolRecord in = {.test = "sub/a b.sh",
                    .command = "cd sub && x 'y z'",
                    .context = "/s/ctx-7",
                    .nresults = 2},
              out;
  in.results[0] =
      (SpoolResult){"FAIL", 1, END_EXIT, 0.25, 0, "/l/a.log", "/r1"};
  in.results[1] = (SpoolResult){"", -1, END_TIMEOUT, 60, 15, "/l/b.log", "/r2"};
  assert_int_equal(spool_take_record(dir, &out, &err), 0);
  assert_int_equal(spool_write_record(dir, &in, &err), 0);
  assert_int_equal(spool_take_record(dir, &out, &err), 1);
  assert_string_equal(out.test, in.test);
  assert_string_equal(out.command, in.command);
  assert_string_equal(out.context, in.context);
  assert_int_equal(out.nresults, 2);
  assert_string_equal(out.results[0].result, "FAIL");
  assert_int_equal(out.results[0].status, 1);
  assert_string_equal(out.results[1].result, "");
  assert_int_equal(out.results[1].end, END_TIMEOUT);
  assert_int_equal(out.results[1].sent, 15);
  assert_string_equal(out.results[1].run, "/r2");
  spool_record_release(&out);
  assert_int_equal(spool_take_record(dir, &out, &err), 0);
  drop_dir(dir);
}

TEST(how_a_log_driver_was_started_comes_back_as_it_was) {
  char *argv[] = {"sh", "test-driver", "--", "a\nb", "", NULL};
  Arena arena = {0};
  Str text = {0};
  DriverContext c;
  setenv("MAKEFLAGS", "-j", 1);
  setenv("LOOK_TEST", "two\nlines", 1);
  driver_context_write(argv, &text);
  unsetenv("MAKEFLAGS");
  unsetenv("LOOK_TEST");
  assert_true(driver_context_read(&c, text.data, text.len, &arena));
  for (size_t i = 0; i < sizeof argv / sizeof *argv - 1; i++)
    assert_string_equal(c.argv[i], argv[i]);
  assert_null(c.argv[sizeof argv / sizeof *argv - 1]);
  bool kept = false;
  for (char **e = c.env; *e; e++) {
    kept |= !strcmp(*e, "LOOK_TEST=two\nlines");
    assert_int_not_equal(strncmp(*e, "MAKEFLAGS=", 10), 0);
  }
  assert_true(kept);
  assert_false(driver_context_read(&c, text.data, text.len - 1, &arena));
  assert_false(driver_context_read(&c, text.data, 0, &arena));
  str_release(&text);
  arena_release(&arena);
}

TEST(the_result_of_an_automake_test_is_read_from_its_files) {
  char *dir = make_dir();
  Arena arena = {0};
  char *path = mem_printf("%s/t", dir);
  write_text(dir, "t",
             ":test-result: PASS 1\n:test-result: FAIL 2\n"
             ":global-test-result: FAIL\n:recheck: yes\n");
  assert_string_equal(trs_result(path, &arena), "FAIL");
  write_text(dir, "t", ":test-result: XPASS\n");
  assert_string_equal(trs_result(path, &arena), "XPASS");
  write_text(dir, "t", "garbage\0");
  assert_string_equal(trs_result(path, &arena), "");
  assert_string_equal(trs_result("/no/file", &arena), "");
  write_text(dir, "t", "(exit status: 4)\n...\nFAIL t (exit status: 139)\n");
  assert_int_equal(log_status(path), 139);
  write_text(dir, "t", "");
  assert_int_equal(log_status(path), -1);
  free(path);
  arena_release(&arena);
  drop_dir(dir);
}

TEST(log_drivers_are_found_and_overridden) {
  LogDrivers l = {0};
  WordList words = {0};
  logdrivers_parse(&l, "/b",
                   "A = b\n"
                   "LOG_DRIVER = $(SHELL) $(top_srcdir)/test-driver\n"
                   "SH_LOG_DRIVER=env X=1 \\\n\t$(SHELL) tap\n"
                   "AM_LOG_DRIVER_FLAGS = x\n"
                   "#PL_LOG_DRIVER = no\n"
                   "\t$(LOG_DRIVER) = x\n");
  logdrivers_parse(&l, "/b/sub",
                   "LOG_DRIVER = $(SHELL) other\n"
                   "SH_LOG_DRIVER = env X=1 $(SHELL) tap\n");
  logdrivers_override(&l, "culprit automake-driver", &words);
  static const char *const expected[] = {
      "LOG_DRIVER=culprit automake-driver "
      "$(culprit_LOG_DRIVER_$(abs_builddir))",
      "culprit_LOG_DRIVER_/b=$(SHELL) $(top_srcdir)/test-driver",
      "SH_LOG_DRIVER=culprit automake-driver env X=1 $(SHELL) tap",
      "culprit_LOG_DRIVER_/b/sub=$(SHELL) other"};
  assert_int_equal(words.len, 4);
  for (size_t i = 0; i < words.len; i++)
    assert_string_equal(words.items[i], expected[i]);
  array_release(&words);
  logdrivers_release(&l);
}

// --- sessions ---------------------------------------------------------------

// One `culprit run` over a tests file of whole commands, in `dir`.
typedef struct {
  RunOptions options;
  char *tests, *store;
  size_t finished, already, overran, hung;
  double slowest; // of tests before; 0: none
  bool interrupted;
} Session;

static void session_options(Session *s, const char *dir) {
  *s = (Session){0};
  s->tests = mem_printf("%s/tests.txt", dir);
  s->store = mem_printf("%s/.culprit", dir);
  s->options = (RunOptions){.tests = s->tests,
                            .cwd = dir,
                            .jobs = 1,
                            .timeout = 5,
                            .max_output = 1 << 20,
                            .rerun = true};
}

static int session_run(Session *s, Suite *suite, Err *err) {
  const Adapter *adapter;
  Store *store;
  Runner r = {.command = "culprit run", .root = s->options.cwd};
  stop_orderly(60);
  assert_int_equal(adapter_find(&adapter, &s->options, err), 0);
  assert_int_equal(store_open(&store, s->store, STORE_CREATE, err), 0);
  r.store = store;
  r.slowest = s->slowest;
  int rc = runner_open(&r, &s->options, err);
  if (!rc)
    rc = adapter->run(&r, err);
  Err second = {0};
  assert_int_equal(runner_close(&r, !rc && !r.interrupted, &second), 0);
  s->finished = r.finished;
  s->already = r.already;
  s->interrupted = r.interrupted;
  stop_forget();
  s->overran = r.overran;
  s->hung = r.hung;
  if (!rc)
    assert_int_equal(store_load(store, 0, suite, err), 0);
  store_close(store);
  return rc;
}

static void session_release(Session *s, Suite *suite) {
  suite_release(suite);
  free(s->tests);
  free(s->store);
}

static const RunInfo *find_run(const Suite *s, const char *test) {
  for (size_t i = 0; i < s->nruns; i++)
    if (!strcmp(s->runs[i].test, test))
      return &s->runs[i];
  return NULL;
}

TEST(a_session_keeps_the_verdict_of_every_test) {
  char *dir = make_dir();
  Session s;
  Suite suite = {0};
  Err err = {0};
  session_options(&s, dir);
  s.options.jobs = 3;
  s.options.timeout = 0.5;
  write_text(dir, "tests.txt",
             "true\nfalse\nexit 3\nkill -ABRT $$\nsleep 30\n"
             "cat < missing\nexit 3\nyes\nprintf '\\0\\377'\n");
  assert_int_equal(session_run(&s, &suite, &err), 0);
  assert_int_equal(suite.nruns, 9);
  assert_int_equal(find_run(&suite, "1")->verdict, VERDICT_PASS);
  assert_int_equal(find_run(&suite, "2")->verdict, VERDICT_FAIL);
  assert_int_equal(find_run(&suite, "3")->status, 3);
  assert_int_equal(find_run(&suite, "4")->status, -SIGABRT);
  assert_true(find_run(&suite, "4")->imprecise);
  assert_int_equal(find_run(&suite, "5")->verdict, VERDICT_FAIL);
  assert_int_equal(find_run(&suite, "6")->verdict, VERDICT_ERROR);
  assert_non_null(strstr(find_run(&suite, "6")->note, "cannot open missing"));
  assert_int_equal(find_run(&suite, "8")->verdict, VERDICT_FAIL);
  assert_int_equal(find_run(&suite, "9")->verdict, VERDICT_PASS);
  // exit 1, exit 3 (twice), SIGABRT, timeout, too much output
  assert_int_equal(suite.nfailures, 5);
  assert_string_equal(suite.failures[0].signature, "exit status 3");
  session_release(&s, &suite);
  drop_dir(dir);
}

TEST(a_test_that_fails_only_once_is_flaky) {
  char *dir = make_dir();
  Session s;
  Suite suite = {0};
  Err err = {0};
  session_options(&s, dir);
  write_text(dir, "tests.txt",
             "if [ -e a ]; then exit 0; else touch a; exit 1; fi\n"
             "true\n"
             "exit 1\n");
  assert_int_equal(session_run(&s, &suite, &err), 0);
  assert_int_equal(find_run(&suite, "1")->verdict, VERDICT_FLAKY);
  assert_non_null(
      strstr(find_run(&suite, "1")->note, "flaky: exit status 1; again: pass"));
  assert_int_equal(find_run(&suite, "3")->verdict, VERDICT_FAIL);
  session_release(&s, &suite);
  drop_dir(dir);
}

TEST(a_test_that_fails_each_time_in_another_way_fails) {
  char *dir = make_dir();
  Session s;
  Suite suite = {0};
  Err err = {0};
  session_options(&s, dir);
  write_text(dir, "tests.txt",
             "if [ -e a ]; then exit 2; else touch a; kill -SEGV $$; fi\n"
             "true\n");
  assert_int_equal(session_run(&s, &suite, &err), 0);
  const RunInfo *run = find_run(&suite, "1");
  assert_int_equal(run->verdict, VERDICT_FAIL);
  assert_non_null(strstr(run->note, "fails in a different way each time: "));
  assert_non_null(strstr(run->note, "SIGSEGV"));
  assert_non_null(strstr(run->note, "; again: exit status 2"));
  // The first one's, whose lines are recorded.
  assert_int_equal(suite.nfailures, 1);
  assert_non_null(strstr(suite.failures[0].signature, "SIGSEGV"));
  Str text = {0};
  summary_write(&suite, 1, &text);
  assert_non_null(strstr(text.data, "2 tests: 1 passed, 1 failed"));
  assert_non_null(strstr(text.data, "  fail 1: "));
  str_release(&text);
  session_release(&s, &suite);
  drop_dir(dir);
}

// The limit is derived from a time that we pretend was measured: results must
// not depend on the machine.
static void expect_limits(const char *line, double full, double slowest,
                          Verdict verdict, size_t overran, size_t hung,
                          const char *executions) {
  char *dir = make_dir();
  Session s;
  Suite suite = {0};
  Err err = {0};
  session_options(&s, dir);
  s.options.timeout = full;
  s.slowest = slowest;
  write_text(dir, "tests.txt", line);
  assert_int_equal(session_run(&s, &suite, &err), 0);
  assert_int_equal(find_run(&suite, "1")->verdict, verdict);
  assert_int_equal(s.overran, overran);
  assert_int_equal(s.hung, hung);
  assert_text(dir, "log", executions);
  if (hung) {
    assert_int_equal(suite.nfailures, 1);
    assert_string_equal(suite.failures[0].signature, "timeout");
  }
  session_release(&s, &suite);
  drop_dir(dir);
}

TEST(a_test_that_hangs_meets_the_full_limit_once) {
  expect_limits("echo x >> log; exec sleep 60\n", 2, 1e-3, VERDICT_FAIL, 1, 1,
                "x\nx\n");
}

TEST(a_test_slower_than_the_derived_limit_has_the_verdict_of_the_full_one) {
  expect_limits("echo x >> log; exec sleep 2\n", 30, 1e-3, VERDICT_PASS, 1, 0,
                "x\nx\n");
  expect_limits("echo x >> log; sleep 2; exit 1\n", 30, 1e-3, VERDICT_FAIL, 1,
                0, "x\nx\nx\n");
}

TEST(without_a_test_that_ended_the_full_limit_holds) {
  expect_limits("echo x >> log; exec sleep 60\n", 1.5, 0, VERDICT_FAIL, 0, 0,
                "x\nx\n");
}

TEST(ten_times_the_slowest_test_is_never_above_the_full_limit) {
  expect_limits("echo x >> log; exec sleep 60\n", 1.5, 1, VERDICT_FAIL, 0, 0,
                "x\nx\n");
}

TEST(many_tests_that_hang_are_all_found_beside_those_that_pass) {
  char *dir = make_dir();
  Session s;
  Suite suite = {0};
  Err err = {0};
  session_options(&s, dir);
  s.options.timeout = 2;
  s.options.jobs = 4;
  s.slowest = 1e-3;
  write_text(dir, "tests.txt",
             "sleep 60\ntrue\nsleep 60\nsleep 60\ntrue\nsleep 60\n"
             "sleep 60\nexit 1\nsleep 60\ntrue\n");
  assert_int_equal(session_run(&s, &suite, &err), 0);
  assert_int_equal(suite.nruns, 10);
  assert_int_equal(suite_count(&suite).verdicts[VERDICT_PASS], 3);
  assert_int_equal(suite_count(&suite).verdicts[VERDICT_FAIL], 7);
  session_release(&s, &suite);
  drop_dir(dir);
}

// Stands for the user: a signal of a test would be ignored.
static void *interrupt_when_started(void *path) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, NULL);
  while (!fs_exists(path))
    usleep(1000);
  kill(getpid(), SIGTERM);
  return NULL;
}

TEST(an_interrupted_session_keeps_its_runs_and_goes_on) {
  char *dir = make_dir();
  Session s;
  Suite suite = {0};
  Err err = {0};
  session_options(&s, dir);
  write_text(dir, "tests.txt",
             "echo one >> log\n"
             "echo two >> log; : > started; [ -e again ] || sleep 30\n"
             "echo three >> log\n");
  char *started = mem_printf("%s/started", dir);
  pthread_t user;
  assert_int_equal(pthread_create(&user, NULL, interrupt_when_started, started),
                   0);
  assert_int_equal(session_run(&s, &suite, &err), 0);
  pthread_join(user, NULL);
  free(started);
  assert_true(s.interrupted);
  assert_int_equal(suite.nruns, 1);
  suite_release(&suite);
  suite = (Suite){0};
  write_text(dir, "again", "");
  assert_int_equal(session_run(&s, &suite, &err), 0);
  assert_false(s.interrupted);
  assert_int_equal(s.already, 1);
  assert_int_equal(s.finished, 2);
  assert_int_equal(suite.nruns, 3);
  assert_text(dir, "log", "one\ntwo\ntwo\nthree\n");
  session_release(&s, &suite);
  drop_dir(dir);
}

TEST(failed_tests_alone_can_be_run_again) {
  char *dir = make_dir();
  Session s;
  Suite suite = {0};
  Err err = {0};
  session_options(&s, dir);
  write_text(dir, "tests.txt", "echo 1 >> log\n[ -e fixed ]\nexit 4\n");
  assert_int_equal(session_run(&s, &suite, &err), 0);
  suite_release(&suite);
  suite = (Suite){0};
  write_text(dir, "fixed", "");
  s.options.failed = true;
  assert_int_equal(session_run(&s, &suite, &err), 0);
  assert_int_equal(s.finished, 2);
  assert_int_equal(find_run(&suite, "1")->verdict, VERDICT_PASS);
  assert_int_equal(find_run(&suite, "2")->verdict, VERDICT_PASS);
  assert_int_equal(find_run(&suite, "3")->verdict, VERDICT_FAIL);
  assert_text(dir, "log", "1\n");
  session_release(&s, &suite);
  drop_dir(dir);
}

TEST(added_tests_do_not_replace_those_of_another_file) {
  char *dir = make_dir();
  Session s;
  Suite suite = {0};
  Err err = {0};
  session_options(&s, dir);
  write_text(dir, "tests.txt", "true\n");
  assert_int_equal(session_run(&s, &suite, &err), 0);
  suite_release(&suite);
  suite = (Suite){0};
  s.options.add = true;
  write_text(dir, "tests.txt", "false\n");
  assert_int_equal(session_run(&s, &suite, &err), 0);
  assert_int_equal(suite.nruns, 2);
  assert_int_equal(find_run(&suite, "1")->verdict, VERDICT_PASS);
  assert_int_equal(find_run(&suite, "tests.txt:1")->verdict, VERDICT_FAIL);
  session_release(&s, &suite);
  drop_dir(dir);
}

TEST(each_test_may_have_a_fresh_directory) {
  char *dir = make_dir();
  Session s;
  Suite suite = {0};
  Err err = {0};
  session_options(&s, dir);
  s.options.scratch = true;
  write_text(dir, "tests.txt",
             "mkdir a\nmkdir a\n[ -e $CULPRIT_DIR/tests.txt ]"
             "\n");
  assert_int_equal(session_run(&s, &suite, &err), 0);
  for (size_t i = 0; i < suite.nruns; i++)
    assert_int_equal(suite.runs[i].verdict, VERDICT_PASS);
  session_release(&s, &suite);
  drop_dir(dir);
}

TEST(the_oracle_command_sees_the_test_and_decides) {
  char *dir = make_dir();
  Session s;
  Suite suite = {0};
  Err err = {0};
  session_options(&s, dir);
  s.options.oracle = "echo $CULPRIT_TEST $CULPRIT_STATUS >> seen; "
                     "exit $(cat $CULPRIT_STDOUT)";
  write_text(dir, "tests.txt", "echo 0; exit 9\necho 125\necho 1\n");
  assert_int_equal(session_run(&s, &suite, &err), 0);
  assert_int_equal(find_run(&suite, "1")->verdict, VERDICT_PASS);
  assert_int_equal(find_run(&suite, "2")->verdict, VERDICT_SKIP);
  assert_int_equal(find_run(&suite, "3")->verdict, VERDICT_FAIL);
  assert_text(dir, "seen", "1 9\n2 0\n3 0\n3 0\n");
  suite_release(&suite);
  suite = (Suite){0};
  s.options.oracle = "no-such-command";
  assert_int_equal(session_run(&s, &suite, &err), -1);
  assert_non_null(strstr(err.text, "test 1: the oracle command could not be "
                                   "executed (exit status 127)"));
  session_release(&s, &suite);
  drop_dir(dir);
}

TEST(missing_things_are_named_before_any_test_runs) {
  char *dir = make_dir();
  Session s;
  Suite suite = {0};
  Err err = {0};
  session_options(&s, dir);
  write_text(dir, "tests.txt", "true\n");
  s.options.exe = "/no/such/program";
  assert_int_equal(session_run(&s, &suite, &err), -1);
  assert_non_null(strstr(err.text, "program /no/such/program: No such file"));
  s.options.exe = s.tests;
  assert_int_equal(session_run(&s, &suite, &err), -1);
  assert_non_null(strstr(err.text, "not an executable file"));
  s.options.exe = "/bin/true";
  assert_int_equal(session_run(&s, &suite, &err), -1);
  assert_non_null(strstr(err.text, "culprit-cc"));
  s.options.exe = NULL;
  s.options.reference = "/no/such/golden";
  assert_int_equal(session_run(&s, &suite, &err), -1);
  assert_non_null(strstr(err.text, "reference program /no/such/golden"));
  session_release(&s, &suite);
  drop_dir(dir);
}

TEST(a_summary_counts_verdicts_and_gives_reasons) {
  RunInfo runs[] = {
      {.test = "1", .verdict = VERDICT_PASS, .has_spectrum = true},
      {.test = "2", .verdict = VERDICT_FAIL, .note = "disk full"},
      {.test = "3", .verdict = VERDICT_FLAKY, .note = "flaky: x"},
      {.test = "4", .verdict = VERDICT_ERROR, .note = "cannot open y"}};
  Suite suite = {.runs = runs, .nruns = 4};
  Str text = {0};
  summary_write(&suite, 1.25, &text);
  summary_missing_spectra(&suite, &text);
  assert_string_equal(text.data,
                      "4 tests: 1 passed, 1 failed, 1 flaky, 1 in error "
                      "(1.2 s)\n"
                      "  flaky 3: flaky: x\n"
                      "  error 4: cannot open y\n"
                      "  1 of 2 runs cannot be ranked:\n"
                      "    1: disk full\n");
  str_release(&text);
}
