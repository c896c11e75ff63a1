// Confinement: the view, the copy, and what is refused. What this system cannot
// do is left out: e2e/confine says what the user is told then.
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "confine/confine.h"
#include "confine/copy.h"
#include "test.h"
#include "util/fs.h"
#include "util/mem.h"

// --- helpers ----------------------------------------------------------------

typedef struct {
  char *dir, *scratch, *own; // own: the user's directory
  ConfinePlan plan;
  Confine *confine;
} Place;

static void put(const char *dir, const char *name, const char *text) {
  Err err = {0};
  char *path = mem_printf("%s/%s", dir, name);
  assert_int_equal(fs_write(path, text, strlen(text), &err), 0);
  free(path);
}

static char *get(const char *dir, const char *name) {
  Err err;
  Str s = {0};
  char *path = mem_printf("%s/%s", dir, name);
  fs_read(path, 0, &s, &err);
  free(path);
  return str_take(&s);
}

static void assert_text(const char *dir, const char *name, const char *text) {
  char *there = get(dir, name);
  assert_string_equal(there ? there : "", text);
  free(there);
}

// `means`: CULPRIT_CONFINE.
static void place_open(Place *p, const char *means) {
  Err err = {0};
  p->dir = mem_strdup("/tmp/culprit-test-XXXXXX");
  assert_non_null(mkdtemp(p->dir));
  p->scratch = mem_printf("%s/scratch", p->dir);
  p->own = mem_printf("%s/own", p->dir);
  mkdir(p->scratch, 0755);
  mkdir(p->own, 0755);
  put(p->own, "file", "as it was");
  setenv("CULPRIT_CONFINE", means, 1);
  p->plan = (ConfinePlan){.scratch = p->scratch, .copied = p->own};
  assert_int_equal(confine_open(&p->confine, &p->plan, &err), 0);
  unsetenv("CULPRIT_CONFINE");
}

static void place_close(Place *p) {
  confine_close(p->confine);
  fs_remove_tree(p->dir);
  free(p->own);
  free(p->scratch);
  free(p->dir);
}

// Runs a shell command confined, in the user's directory. Its exit status.
static int run(const Place *p, const char *command) {
  char *cwd = confine_inside(p->confine, p->own);
  int status = 0;
  pid_t pid = fork();
  if (pid == 0) {
    if (confine_enter(p->confine) || chdir(cwd))
      _exit(126);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
  }
  assert_int_equal(waitpid(pid, &status, 0), pid);
  free(cwd);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool has_view(const Place *p) { return confine_has_view(p->confine); }

static void note(void *ctx, const Refused *r) {
  Str *text = ctx;
  str_addf(text, "%s %s;", confine_verb(r->kind), r->what);
}

// --- the view ---------------------------------------------------------------

TEST(what_a_run_writes_is_in_its_view_only) {
  Place p;
  place_open(&p, "namespaces,landlock,seccomp");
  if (has_view(&p)) {
    assert_int_equal(run(&p, "echo changed > file; rm -f nothing; mkdir d &&"
                             " test \"$(cat file)\" = changed"),
                     0);
    assert_text(p.own, "file", "as it was");
    char *inside = confine_outside(p.confine, p.own);
    assert_text(inside, "file", "changed\n");
    free(inside);
  }
  place_close(&p);
}

TEST(a_view_is_dirty_after_any_change_and_clean_after_a_reset) {
  static const char *const changes[] = {
      "echo x > new",    "rm file",
      "chmod 600 file",  "mkdir d",
      "ln -s x link",    "mv file other",
      "touch file",      "echo x >> file",
      "echo x > /tmp/y", "echo x > /dev/shm/y"};
  Place p;
  Err err = {0};
  place_open(&p, "namespaces,landlock,seccomp");
  for (size_t i = 0; has_view(&p) && i < sizeof changes / sizeof *changes;
       i++) {
    unsigned before = confine_generation(p.confine);
    assert_false(confine_is_dirty(p.confine));
    assert_int_equal(run(&p, "cat file > /dev/null"), 0);
    assert_false(confine_is_dirty(p.confine));
    assert_int_equal(run(&p, changes[i]), 0);
    assert_true(confine_is_dirty(p.confine));
    assert_int_equal(confine_reset(p.confine, &err), 0);
    assert_int_not_equal(confine_generation(p.confine), before);
    assert_int_equal(run(&p, "test \"$(cat file)\" = 'as it was'"), 0);
  }
  place_close(&p);
}

TEST(the_scratch_area_is_real) {
  Place p;
  place_open(&p, "namespaces,landlock,seccomp");
  char *command = mem_printf("echo real > %s/x", p.scratch);
  assert_int_equal(run(&p, command), 0);
  assert_text(p.scratch, "x", "real\n");
  free(command);
  place_close(&p);
}

TEST(what_confines_a_run_cannot_be_taken_away) {
  Place p;
  place_open(&p, "namespaces,landlock,seccomp");
  if (has_view(&p)) {
    assert_int_not_equal(run(&p, "umount /tmp 2> /dev/null"), 0);
    assert_int_not_equal(run(&p, "unshare -m true 2> /dev/null"), 0);
    assert_int_not_equal(
        run(&p, "echo 1 2> /dev/null > /proc/sys/vm/swappiness"), 0);
  }
  place_close(&p);
}

// --- without namespaces -----------------------------------------------------

TEST(without_namespaces_a_copy_is_written) {
  Place p;
  Err err = {0};
  place_open(&p, "none");
  assert_false(has_view(&p));
  assert_non_null(confine_gaps(p.confine));
  assert_false(confine_is_dirty(p.confine));
  assert_int_equal(run(&p, "echo changed > file"), 0);
  assert_text(p.own, "file", "as it was");
  assert_true(confine_is_dirty(p.confine));
  assert_int_equal(confine_reset(p.confine, &err), 0);
  assert_int_equal(run(&p, "test \"$(cat file)\" = 'as it was'"), 0);
  place_close(&p);
}

static void refuses_to_write(const char *means) {
  Place p;
  Str refused = {0};
  place_open(&p, means);
  char *command = mem_printf("! echo x 2> /dev/null > %s/file && "
                             "! chmod 600 %s/file 2> /dev/null && "
                             "! rm -f %s/file 2> /dev/null",
                             p.own, p.own, p.own);
  if (!confine_gaps(p.confine)) {
    assert_int_equal(run(&p, command), 0);
    assert_text(p.own, "file", "as it was");
    confine_take_refused(p.confine, note, &refused);
    assert_non_null(strstr(str_text(&refused), "writing "));
    assert_non_null(strstr(str_text(&refused), "/own/file"));
  }
  str_release(&refused);
  free(command);
  place_close(&p);
}

TEST(without_namespaces_writing_elsewhere_is_refused_and_told) {
  refuses_to_write("landlock,seccomp");
  refuses_to_write("seccomp");
}

TEST(a_link_out_of_the_copy_is_no_way_out) {
  Place p;
  place_open(&p, "seccomp");
  char *command =
      mem_printf("ln -s %s/file out; ! echo x 2> /dev/null > out && "
                 "! ln %s/file hard 2> /dev/null",
                 p.own, p.own);
  if (!confine_gaps(p.confine)) {
    assert_int_equal(run(&p, command), 0);
    assert_text(p.own, "file", "as it was");
  }
  free(command);
  place_close(&p);
}

// --- copies -----------------------------------------------------------------

TEST(a_copy_has_the_same_names_contents_modes_and_times) {
  char dir[] = "/tmp/culprit-test-XXXXXX";
  assert_non_null(mkdtemp(dir));
  char *from = mem_printf("%s/from", dir), *to = mem_printf("%s/to", dir);
  char *sub = mem_printf("%s/sub", from),
       *left = mem_printf("%s/.culprit", from);
  char *link = mem_printf("%s/link", from), *pipe = mem_printf("%s/pipe", from);
  Err err = {0};
  mkdir(from, 0755), mkdir(sub, 0750), mkdir(left, 0755);
  put(from, "a", "1"), put(sub, "b", "2"), put(left, "c", "3");
  assert_int_equal(symlink("a", link) | mkfifo(pipe, 0600), 0);
  assert_int_equal(copy_tree(from, to, &err), 0);
  assert_text(to, "a", "1");
  assert_text(to, "sub/b", "2");
  assert_text(to, "link", "1");
  char *none = mem_printf("%s/.culprit", to),
       *copied = mem_printf("%s/sub", to);
  struct stat a, b;
  assert_false(fs_exists(none));
  assert_int_equal(stat(sub, &a) | stat(copied, &b), 0);
  assert_int_equal(a.st_mode, b.st_mode);
  assert_memory_equal(&a.st_mtim, &b.st_mtim, sizeof a.st_mtim);
  fs_remove_tree(dir);
  free(none), free(copied), free(pipe), free(link), free(left), free(sub);
  free(to), free(from);
}
