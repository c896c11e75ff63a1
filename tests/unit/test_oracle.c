// Oracles: verdicts, failures and their signatures.
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "oracle/failure.h"
#include "oracle/files_equal.h"
#include "oracle/oracle.h"
#include "oracle/sanitizer.h"
#include "test.h"
#include "util/fs.h"
#include "util/mem.h"

// --- helpers ----------------------------------------------------------------

// A trial with its files in a directory of its own.
typedef struct {
  char *dir, *out, *err, *second_out, *second_err;
  Outcome outcome, second;
  Trial trial;
  Run run;
  Err error;
} Case;

static void put(const char *path, const char *text) {
  Err err = {0};
  assert_int_equal(fs_write(path, text, strlen(text), &err), 0);
}

static void case_init(Case *c, End end, int status) {
  *c = (Case){0};
  c->dir = mem_strdup("/tmp/culprit-test-XXXXXX");
  assert_non_null(mkdtemp(c->dir));
  c->out = mem_printf("%s/out", c->dir);
  c->err = mem_printf("%s/err", c->dir);
  c->second_out = mem_printf("%s/out2", c->dir);
  c->second_err = mem_printf("%s/err2", c->dir);
  put(c->out, "");
  put(c->err, "");
  put(c->second_out, "");
  put(c->second_err, "");
  c->outcome = (Outcome){.end = end, .status = status};
  c->trial = (Trial){.test = "7",
                     .number = 7,
                     .root = "/src",
                     .out = c->out,
                     .err = c->err,
                     .outcome = &c->outcome,
                     .timeout = 10,
                     .max_output = 256 << 20,
                     .second_out = c->second_out,
                     .second_err = c->second_err};
}

static void case_release(Case *c) {
  run_release(&c->run);
  fs_remove_tree(c->dir);
  free(c->dir);
  free(c->out);
  free(c->err);
  free(c->second_out);
  free(c->second_err);
}

static void case_second(Case *c, End end, int status) {
  c->second = (Outcome){.end = end, .status = status};
  c->trial.second = &c->second;
}

static int case_judge(Case *c, const char *kind, const char *arg) {
  Oracle o = {oracle_find(kind), arg};
  assert_non_null(o.kind);
  if (oracle_settled(&c->trial, &c->run))
    return 0;
  return oracle_judge(&o, &c->trial, &c->run, &c->error);
}

static void case_add_death(Case *c, const char *how, bool exact) {
  array_push(&c->run.deaths, (Death){.file = mem_strdup("/src/lib/a.c"),
                                     .line = 12,
                                     .function = mem_strdup("parse"),
                                     .how = mem_strdup(how),
                                     .exact = exact});
}

static void assert_failure(const Run *run, size_t i, const char *kind,
                           const char *place, const char *signature) {
  assert_true(i < run->failures.len);
  assert_string_equal(run->failures.items[i].kind, kind);
  assert_string_equal(run->failures.items[i].place, place);
  assert_string_equal(run->failures.items[i].signature, signature);
}

// What the sanitizers' text in standard error makes of a run that exits with 0.
static void assert_report(const char *text, const char *place,
                          const char *signature) {
  Case c;
  case_init(&c, END_EXIT, 0);
  put(c.err, text);
  assert_int_equal(case_judge(&c, "exit", NULL), 0);
  assert_int_equal(c.run.verdict, VERDICT_FAIL);
  assert_int_equal(c.run.failures.len, 1);
  assert_failure(&c.run, 0, "sanitizer", place, signature);
  case_release(&c);
}

// --- the end of the process -------------------------------------------------

TEST(exit_status_zero_passes_and_others_fail) {
  Case c;
  case_init(&c, END_EXIT, 0);
  case_judge(&c, "exit", NULL);
  assert_int_equal(c.run.verdict, VERDICT_PASS);
  assert_int_equal(c.run.failures.len, 0);
  case_release(&c);
  case_init(&c, END_EXIT, 3);
  case_judge(&c, "exit", NULL);
  assert_int_equal(c.run.verdict, VERDICT_FAIL);
  assert_failure(&c.run, 0, "exit", "", "exit status 3");
  assert_false(c.run.imprecise);
  case_release(&c);
}

TEST(a_signal_without_a_known_place_fails_and_is_imprecise) {
  Case c;
  case_init(&c, END_SIGNAL, -SIGSEGV);
  case_judge(&c, "exit", NULL);
  assert_failure(&c.run, 0, "signal", "", "SIGSEGV");
  assert_true(c.run.imprecise);
  case_release(&c);
}

TEST(a_signal_with_a_known_place_names_it) {
  Case c;
  case_init(&c, END_SIGNAL, -SIGSEGV);
  case_add_death(&c, "SIGABRT", true);
  case_add_death(&c, "SIGSEGV", true);
  case_judge(&c, "exit", NULL);
  assert_failure(&c.run, 0, "signal", "lib/a.c:12",
                 "SIGSEGV in parse (lib/a.c:12)");
  assert_false(c.run.imprecise);
  case_release(&c);
}

TEST(a_death_that_is_not_exact_leaves_the_run_imprecise) {
  Case c;
  case_init(&c, END_SIGNAL, -SIGSEGV);
  case_add_death(&c, "SIGSEGV", false);
  case_judge(&c, "exit", NULL);
  assert_true(c.run.imprecise);
  case_release(&c);
}

TEST(a_crash_behind_a_shell_is_the_failure_not_the_shells_status) {
  Case c;
  case_init(&c, END_EXIT, 139);
  case_add_death(&c, "SIGSEGV", true);
  case_judge(&c, "exit", NULL);
  assert_failure(&c.run, 0, "signal", "lib/a.c:12",
                 "SIGSEGV in parse (lib/a.c:12)");
  case_release(&c);
}

TEST(a_crash_that_the_test_survives_is_no_failure) {
  Case c;
  case_init(&c, END_EXIT, 0);
  case_add_death(&c, "SIGABRT", true);
  case_judge(&c, "exit", NULL);
  assert_int_equal(c.run.verdict, VERDICT_PASS);
  case_release(&c);
}

TEST(timeouts_and_limits_fail_whatever_the_oracle_says) {
  static const struct {
    End end;
    const char *kind, *signature, *message;
  } ends[] = {{END_TIMEOUT, "timeout", "timeout", "still running after 10 s"},
              {END_OUTPUT, "limit", "too much output",
               "more than 256 MB of output (--max-output allows more)"},
              {END_PROCESSES, "limit", "too many processes",
               "more than 2000 processes at once"}};
  for (size_t i = 0; i < 3; i++) {
    Case c;
    case_init(&c, ends[i].end, -SIGKILL);
    case_judge(&c, "expect", "/no/dir");
    assert_int_equal(c.run.verdict, VERDICT_FAIL);
    assert_failure(&c.run, 0, ends[i].kind, "", ends[i].signature);
    assert_string_equal(c.run.failures.items[0].message, ends[i].message);
    assert_true(c.run.imprecise);
    case_release(&c);
  }
}

TEST(a_test_that_could_not_start_is_an_error_with_its_reason) {
  Case c;
  case_init(&c, END_UNSTARTED, 0);
  strcpy(c.outcome.problem, "cannot open x");
  case_judge(&c, "exit", NULL);
  assert_int_equal(c.run.verdict, VERDICT_ERROR);
  assert_string_equal(c.run.note, "cannot open x");
  case_release(&c);
}

// --- sanitizers -------------------------------------------------------------

TEST(an_address_sanitizer_report_is_placed_in_the_users_code) {
  assert_report(
      "=================================================================\n"
      "==22022==ERROR: AddressSanitizer: heap-buffer-overflow on address "
      "0x502000000014 at pc 0x55b896760f5a bp 0x7fff2a759bc0\n"
      "WRITE of size 12 at 0x502000000014 thread T0\n"
      "    #0 0x55b896760f59 in strcpy (/b/prog+0xb2f59) (BuildId: ce82)\n"
      "    #1 0x55b8967ba558 in copy /src/a.c:7:44\n"
      "    #2 0x55b8967b9ee0 in main /src/a.c:11:38\n\n"
      "SUMMARY: AddressSanitizer: heap-buffer-overflow (/b/prog+0xb2f59) in "
      "strcpy\n",
      "a.c:7", "heap-buffer-overflow in copy (a.c:7)");
  assert_report(
      "==9==ERROR: AddressSanitizer: attempting double-free on 0x60 in T0:\n"
      "    #0 0x7f1 in __interceptor_free ../../../../src/libsanitizer/asan/"
      "asan_malloc_linux.cpp:52\n"
      "    #1 0x563 in main /other/a.c:16\n"
      "SUMMARY: AddressSanitizer: double-free ../../../../src/libsanitizer/"
      "asan/asan_malloc_linux.cpp:52 in __interceptor_free\n",
      "/other/a.c:16", "double-free in main (/other/a.c:16)");
}

TEST(a_report_without_line_numbers_has_no_addresses_in_its_signature) {
  assert_report("==9==ERROR: AddressSanitizer: SEGV on unknown address 0x0 (pc "
                "0x55d1)\n"
                "    #0 0x55d1 in main (/b/prog+0x55d1) (BuildId: ab12)\n"
                "SUMMARY: AddressSanitizer: SEGV (/b/prog+0x55d1) (BuildId: "
                "ab12) in main\n",
                "", "SEGV in main");
}

TEST(undefined_behaviour_fails_even_with_exit_status_0) {
  assert_report("a.c:12:39: runtime error: signed integer overflow: 2147483647 "
                "+ 2 cannot be represented in type 'int'\n"
                "SUMMARY: UndefinedBehaviorSanitizer: undefined-behavior "
                "a.c:12:39 \n",
                "a.c:12", "signed integer overflow (a.c:12)");
  assert_report("/src/b.c:18:28: runtime error: index 9 out of bounds for type "
                "'int [3]'\n"
                "/src/b.c:18:32: runtime error: store to address 0x7ffed50c7904"
                " with insufficient space for an object of type 'int'\n",
                "b.c:18", "index N out of bounds for type 'int [N]' (b.c:18)");
}

TEST(leaks_races_and_uninitialised_values_are_recognised) {
  assert_report("==23244==ERROR: LeakSanitizer: detected memory leaks\n\n"
                "Direct leak of 10 byte(s) in 1 object(s) allocated from:\n"
                "    #0 0x7f6e in malloc (/b/prog+0xcb)\n"
                "    #1 0x563c in main /src/a.c:13\n\n"
                "SUMMARY: AddressSanitizer: 10 byte(s) leaked in 1 "
                "allocation(s).\n",
                "a.c:13", "memory-leak in main (a.c:13)");
  assert_report("WARNING: ThreadSanitizer: data race (pid=23904)\n"
                "  Write of size 4 at 0x55e1036a8698 by main thread:\n"
                "    #0 main /src/a.c:15:58 (ct+0xe47be) (BuildId: dfa9)\n"
                "SUMMARY: ThreadSanitizer: data race /src/a.c:15:58 in main\n"
                "ThreadSanitizer: reported 1 warnings\n",
                "a.c:15", "data race in main (a.c:15)");
  assert_report("==1==WARNING: MemorySanitizer: use-of-uninitialized-value\n"
                "    #0 0x55e8 in f /src/a.c:14:41\n"
                "SUMMARY: MemorySanitizer: use-of-uninitialized-value "
                "/src/a.c:14:41 in f\n",
                "a.c:14", "use-of-uninitialized-value in f (a.c:14)");
}

TEST(the_abort_of_a_sanitizer_is_no_second_failure) {
  Case c;
  case_init(&c, END_SIGNAL, -SIGABRT);
  put(c.err, "/src/a.c:1:2: runtime error: division by zero\n");
  case_judge(&c, "exit", NULL);
  assert_int_equal(c.run.failures.len, 1);
  assert_failure(&c.run, 0, "sanitizer", "a.c:1", "division by zero (a.c:1)");
  case_release(&c);
}

TEST(ordinary_messages_are_not_taken_for_reports) {
  static const char *const texts[] = {
      "Runtime error (func=(main), adr=3): Divide by zero\n",
      "script.lua:12: runtime error: attempt to call nil\n",
      "prog: runtime error: no memory\n",
      "#0 0x1 in main /src/a.c:1\n",
      "Sanitizer: none\n",
      "\n\n",
      "ERROR: disk\n"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    Case c;
    case_init(&c, END_EXIT, 0);
    put(c.err, texts[i]);
    case_judge(&c, "exit", NULL);
    assert_int_equal(c.run.verdict, VERDICT_PASS);
    case_release(&c);
  }
}

TEST(reports_survive_binary_noise_and_endless_lines) {
  Case c;
  case_init(&c, END_EXIT, 0);
  size_t n = 1 << 20;
  char *noise = mem_alloc(n);
  for (size_t i = 0; i < n; i++)
    noise[i] = (char)(i * 2654435761u >> 24);
  for (size_t i = 0; i < n / 2; i++)
    if (noise[i] == '\n')
      noise[i] = 'x';
  static const char report[] = "\n/src/a.c:3:1: runtime error: shift\n";
  memcpy(noise + n - strlen(report), report, strlen(report));
  Err err = {0};
  assert_int_equal(fs_write(c.err, noise, n, &err), 0);
  case_judge(&c, "exit", NULL);
  assert_failure(&c.run, 0, "sanitizer", "a.c:3", "shift (a.c:3)");
  free(noise);
  case_release(&c);
}

// --- output -----------------------------------------------------------------

TEST(files_are_compared_byte_by_byte_whatever_their_size) {
  Case c;
  case_init(&c, END_EXIT, 0);
  Err err = {0};
  bool equal = false;
  size_t n = (100 << 20) + 17;
  char *data = mem_alloc(n);
  for (size_t i = 0; i < n; i += 4096)
    data[i] = (char)(i >> 12);
  assert_int_equal(fs_write(c.out, data, n, &err), 0);
  assert_int_equal(fs_write(c.second_out, data, n, &err), 0);
  assert_int_equal(files_equal(c.out, c.second_out, &equal, &err), 0);
  assert_true(equal);
  data[n - 1] = 1;
  assert_int_equal(fs_write(c.second_out, data, n, &err), 0);
  assert_int_equal(files_equal(c.out, c.second_out, &equal, &err), 0);
  assert_false(equal);
  assert_int_equal(fs_write(c.second_out, data, n - 1, &err), 0);
  assert_int_equal(files_equal(c.out, c.second_out, &equal, &err), 0);
  assert_false(equal);
  assert_int_equal(files_equal(c.out, "/no/file", &equal, &err), -1);
  assert_non_null(strstr(err.text, "/no/file"));
  free(data);
  case_release(&c);
}

TEST(the_reference_decides_by_output_and_exit_status) {
  static const struct {
    const char *out, *reference_out;
    int status, reference_status;
    Verdict verdict;
    const char *kind, *signature;
  } cases[] = {
      {"a\n", "a\n", 0, 0, VERDICT_PASS, NULL, NULL},
      {"a\n", "a\n", 2, 2, VERDICT_PASS, NULL, NULL},
      {"a\n", "b\n", 0, 0, VERDICT_FAIL, "output",
       "standard output differs from the reference"},
      {"a\n", "a\n", 1, 0, VERDICT_FAIL, "exit", "exit status 1 instead of 0"},
      {"a\n", "b\n", 1, 0, VERDICT_FAIL, "exit", "exit status 1 instead of 0"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Case c;
    case_init(&c, END_EXIT, cases[i].status);
    put(c.out, cases[i].out);
    put(c.second_out, cases[i].reference_out);
    case_second(&c, END_EXIT, cases[i].reference_status);
    assert_int_equal(case_judge(&c, "reference", "/golden"), 0);
    assert_int_equal(c.run.verdict, cases[i].verdict);
    if (cases[i].kind)
      assert_failure(&c.run, 0, cases[i].kind, "", cases[i].signature);
    case_release(&c);
  }
}

TEST(a_test_on_which_the_reference_crashes_or_hangs_is_skipped) {
  static const struct {
    End end;
    int status;
    const char *note;
  } cases[] = {{END_SIGNAL, -SIGSEGV,
                "the reference program /golden itself died by SIGSEGV"},
               {END_TIMEOUT, -SIGKILL, "was still running after"},
               {END_OUTPUT, -SIGKILL, "--max-output allows more"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Case c;
    case_init(&c, END_EXIT, 0);
    case_second(&c, cases[i].end, cases[i].status);
    assert_int_equal(case_judge(&c, "reference", "/golden"), 0);
    assert_int_equal(c.run.verdict, VERDICT_SKIP);
    assert_non_null(strstr(c.run.note, cases[i].note));
    case_release(&c);
  }
}

TEST(a_missing_reference_is_found_before_any_test_runs) {
  Err err = {0};
  Oracle o = {oracle_find("reference"), "/no/golden"};
  assert_int_equal(oracle_check(&o, &err), -1);
  assert_non_null(strstr(err.text, "/no/golden: No such file"));
  o.arg = "/etc/passwd";
  assert_int_equal(oracle_check(&o, &err), -1);
  assert_non_null(strstr(err.text, "not an executable file"));
  o.arg = "/bin/cat";
  assert_int_equal(oracle_check(&o, &err), 0);
}

TEST(expected_output_is_looked_up_by_the_number_of_the_test) {
  Case c;
  case_init(&c, END_EXIT, 5);
  put(c.out, "x");
  assert_int_equal(case_judge(&c, "expect", c.dir), 0);
  assert_int_equal(c.run.verdict, VERDICT_ERROR);
  assert_non_null(strstr(c.run.note, "7.out does not exist"));
  char *out = mem_printf("%s/7.out", c.dir);
  char *status = mem_printf("%s/7.status", c.dir);
  put(out, "x");
  assert_int_equal(case_judge(&c, "expect", c.dir), 0);
  assert_int_equal(c.run.verdict, VERDICT_PASS); // no .status: any
  put(status, "0\n");
  assert_int_equal(case_judge(&c, "expect", c.dir), 0);
  assert_failure(&c.run, 0, "exit", "", "exit status 5 instead of 0");
  put(status, "five\n");
  assert_int_equal(case_judge(&c, "expect", c.dir), -1);
  assert_non_null(strstr(c.error.text, "7.status: not an exit status"));
  free(out);
  free(status);
  case_release(&c);
}

TEST(the_oracle_command_speaks_by_exit_status) {
  static const struct {
    int status;
    Verdict verdict;
  } cases[] = {{0, VERDICT_PASS},
               {125, VERDICT_SKIP},
               {1, VERDICT_FAIL},
               {128, VERDICT_FAIL}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Case c;
    case_init(&c, END_EXIT, 9);
    case_second(&c, END_EXIT, cases[i].status);
    assert_int_equal(case_judge(&c, "command", "check"), 0);
    assert_int_equal(c.run.verdict, cases[i].verdict);
    case_release(&c);
  }
  for (int status = 126; status <= 127; status++) {
    Case c;
    case_init(&c, END_EXIT, 0);
    put(c.second_err, "sh: check: not found\nmore\n");
    case_second(&c, END_EXIT, status);
    assert_int_equal(case_judge(&c, "command", "check"), -1);
    assert_non_null(strstr(c.error.text, "test 7"));
    assert_non_null(strstr(c.error.text, "check: sh: check: not found"));
    case_release(&c);
  }
  Case c;
  case_init(&c, END_EXIT, 0);
  case_second(&c, END_TIMEOUT, -SIGKILL);
  assert_int_equal(case_judge(&c, "command", "check"), 0);
  assert_int_equal(c.run.verdict, VERDICT_ERROR);
  case_release(&c);
}
