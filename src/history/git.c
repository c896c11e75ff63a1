// Runs git: see git.h.
#include "history/git.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/array.h"
#include "util/mem.h"

extern char **environ;

// --- what git gets -----------------------------------------------------------

// These say where the configuration lies, and where to stop looking for a
// repository.
static const char *const kept[] = {
    "GIT_CONFIG_GLOBAL=",       "GIT_CONFIG_SYSTEM=", "GIT_CONFIG_NOSYSTEM=",
    "GIT_CEILING_DIRECTORIES=", "GIT_EXEC_PATH=",     NULL};

typedef ARRAY(char *) OwnedWords; // each is freed

static void words_release(OwnedWords *w) {
  for (size_t i = 0; i < w->len; i++)
    free(w->items[i]);
  array_release(w);
}

static void add_variable(OwnedWords *env, const char *name, const char *value) {
  if (value)
    array_push(env, mem_printf("%s=%s", name, value));
}

// In a list of directories, a name with ':' or '"' is quoted.
static char *quoted_directory(const char *git_dir) {
  Str s = {0};
  str_addc(&s, '"');
  for (const char *p = git_dir; *p; p++) {
    if (*p == '"' || *p == '\\')
      str_addc(&s, '\\');
    str_addc(&s, *p);
  }
  str_add(&s, "\"");
  return str_take(&s);
}

static void add_objects(OwnedWords *env, const Repository *r) {
  if (!r->objects)
    return;
  char *theirs = mem_printf("%s/objects", r->common);
  char *quoted = quoted_directory(theirs);
  add_variable(env, "GIT_OBJECT_DIRECTORY", r->objects);
  add_variable(env, "GIT_ALTERNATE_OBJECT_DIRECTORIES", quoted);
  free(quoted);
  free(theirs);
}

static void git_environment(OwnedWords *env, const Repository *r) {
  for (char **v = environ; *v; v++)
    if (!text_starts(*v, "GIT_") || text_starts_one_of(*v, kept))
      array_push(env, mem_strdup(*v));
  add_variable(env, "LC_ALL", "C");
  add_variable(env, "GIT_OPTIONAL_LOCKS", "0");
  add_variable(env, "GIT_TERMINAL_PROMPT", "0");
  add_variable(env, "GIT_ALLOW_PROTOCOL", "none");
  add_variable(env, "GIT_LITERAL_PATHSPECS", "1");
  add_variable(env, "GIT_DIR", r->git_dir);
  if (r->git_dir)
    add_variable(env, "GIT_WORK_TREE", r->work_tree ? r->work_tree : r->top);
  add_variable(env, "GIT_INDEX_FILE", r->index);
  add_objects(env, r);
  // Commits that are made for the search.
  add_variable(env, "GIT_AUTHOR_NAME", "culprit");
  add_variable(env, "GIT_AUTHOR_EMAIL", "culprit@localhost");
  add_variable(env, "GIT_AUTHOR_DATE", "@1 +0000");
  add_variable(env, "GIT_COMMITTER_NAME", "culprit");
  add_variable(env, "GIT_COMMITTER_EMAIL", "culprit@localhost");
  add_variable(env, "GIT_COMMITTER_DATE", "@1 +0000");
  array_push(env, NULL);
}

static void git_words(OwnedWords *argv, const char *const *words) {
  static const char *const first[] = {"git",
                                      "-c",
                                      "core.hooksPath=/dev/null",
                                      "-c",
                                      "core.fsmonitor=false",
                                      "-c",
                                      "core.splitIndex=false",
                                      "-c",
                                      "core.quotePath=true",
                                      "-c",
                                      "commit.gpgSign=false",
                                      "-c",
                                      "color.ui=false",
                                      NULL};
  for (size_t i = 0; first[i]; i++)
    array_push(argv, mem_strdup(first[i]));
  for (size_t i = 0; words[i]; i++)
    array_push(argv, mem_strdup(words[i]));
  array_push(argv, NULL);
}

// --- running it --------------------------------------------------------------

enum { IN, OUT, ERROR, STREAMS };

typedef struct {
  int ends[STREAMS]; // ours; -1: closed
  const GitInput *input;
  size_t given;
  Str *out, error;
} GitTalk;

static void close_end(GitTalk *t, int stream) {
  if (t->ends[stream] >= 0)
    close(t->ends[stream]);
  t->ends[stream] = -1;
}

static void give(GitTalk *t) {
  const char *data = t->input->data;
  ssize_t n = write(t->ends[IN], data + t->given, t->input->size - t->given);
  if (n > 0)
    t->given += (size_t)n;
  if ((n < 0 && errno != EINTR && errno != EAGAIN) ||
      t->given == t->input->size)
    close_end(t, IN);
}

static void take(GitTalk *t, int stream, Str *to) {
  char buffer[65536];
  ssize_t n = read(t->ends[stream], buffer, sizeof buffer);
  if (n > 0 && to)
    str_addn(to, buffer, (size_t)n);
  else if (!n || (n < 0 && errno != EINTR && errno != EAGAIN))
    close_end(t, stream);
}

static void converse(GitTalk *t) {
  if (!t->input || !t->input->size)
    close_end(t, IN);
  while (t->ends[OUT] >= 0 || t->ends[ERROR] >= 0) {
    struct pollfd fds[] = {{.fd = t->ends[IN], .events = POLLOUT},
                           {.fd = t->ends[OUT], .events = POLLIN},
                           {.fd = t->ends[ERROR], .events = POLLIN}};
    if (poll(fds, STREAMS, -1) < 0)
      continue;
    if (fds[IN].revents)
      give(t);
    if (fds[OUT].revents)
      take(t, OUT, t->out);
    if (fds[ERROR].revents)
      take(t, ERROR, &t->error);
  }
  close_end(t, IN);
}

static void execute(const char *dir, char *const *argv, char *const *env,
                    const int ends[STREAMS]) {
  for (int i = 0; i < STREAMS; i++)
    dup2(ends[i], i);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (dir && chdir(dir))
    _exit(126);
  execvpe("git", argv, env);
  dprintf(2, "git: %s\n", strerror(errno));
  _exit(127);
}

// Starts git and fills in our ends; -1: could not.
static pid_t start(GitTalk *t, const char *dir, char *const *argv,
                   char *const *env) {
  int theirs[STREAMS];
  int all[STREAMS][2];
  for (int i = 0; i < STREAMS; i++) {
    if (pipe2(all[i], O_CLOEXEC)) {
      while (i-- > 0)
        close(all[i][0]), close(all[i][1]);
      return -1;
    }
    theirs[i] = all[i][i != IN];
    t->ends[i] = all[i][i == IN];
  }
  pid_t pid = fork();
  if (pid == 0)
    execute(dir, argv, env, theirs);
  for (int i = 0; i < STREAMS; i++)
    close(theirs[i]);
  fcntl(t->ends[IN], F_SETFL, O_NONBLOCK);
  return pid;
}

// A pipe that git does not read to its end is no reason to die.
static int run_to_end(GitTalk *t, const char *dir, char *const *argv,
                      char *const *env) {
  struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
  int status = -1;
  sigaction(SIGPIPE, &ignore, &before);
  pid_t pid = start(t, dir, argv, env);
  if (pid > 0)
    converse(t);
  while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
    ;
  sigaction(SIGPIPE, &before, NULL);
  return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// The last line, without "fatal: ".
static const char *last_said(Str *error) {
  static const char *const levels[] = {"fatal: ", "error: "};
  while (error->len && error->data[error->len - 1] == '\n')
    error->data[--error->len] = 0;
  const char *said = str_text(error);
  for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
    const char *at = strstr(said, levels[i]);
    if (at)
      return at + strlen(levels[i]);
  }
  return *said ? said : "no message";
}

int git_run(const Repository *r, const char *const *words,
            const GitInput *input, Str *out, Err *err) {
  OwnedWords argv = {0}, env = {0};
  GitTalk t = {.ends = {-1, -1, -1}, .input = input, .out = out};
  git_words(&argv, words);
  git_environment(&env, r);
  int status = run_to_end(&t, r->top, argv.items, env.items), rc = 0;
  if (status == 127)
    rc = err_set(err, "git cannot be started: install git");
  else if (status)
    rc = err_set(err, "git %s: %s", words[0], last_said(&t.error));
  str_release(&t.error);
  words_release(&argv);
  words_release(&env);
  return rc;
}

bool git_asks(const Repository *r, const char *const *words) {
  Err ignored;
  return !git_run(r, words, NULL, NULL, &ignored);
}

int git_line(const Repository *r, const char *const *words, Str *out,
             Err *err) {
  if (git_run(r, words, NULL, out, err))
    return -1;
  if (out->len && out->data[out->len - 1] == '\n')
    out->data[--out->len] = 0;
  return 0;
}

int git_object(const Repository *r, const char *revision, char out[OID_SIZE],
               Err *err) {
  Str line = {0};
  const char *words[] = {"rev-parse",        "--verify", "-q",
                         "--end-of-options", revision,   NULL};
  if (git_line(r, words, &line, err)) {
    str_release(&line);
    return err_set(err, "'%s' names no commit of %s", revision, r->top);
  }
  const char *last = str_text(&line);
  size_t n = strlen(last);
  int rc = n && n < OID_SIZE && strspn(last, "0123456789abcdef") == n
               ? 0
               : err_set(err, "'%s' names no commit of %s", revision, r->top);
  if (!rc)
    memcpy(out, last, n + 1);
  str_release(&line);
  return rc;
}

// --- finding it --------------------------------------------------------------

// Names of directories may hold line ends: one question each.
static int ask(const Repository *at, const char *option, char **out, Err *err) {
  Str line = {0};
  const char *words[] = {"rev-parse", "--path-format=absolute", option, NULL};
  int rc = git_line(at, words, &line, err);
  if (!rc)
    *out = mem_strdup(str_text(&line));
  str_release(&line);
  return rc;
}

int repository_find(Repository *r, const char *dir, Err *err) {
  Repository at = {.top = (char *)dir};
  char *shallow = NULL;
  *r = (Repository){0};
  int rc = ask(&at, "--show-toplevel", &r->top, err) ||
                   ask(&at, "--absolute-git-dir", &r->git_dir, err) ||
                   ask(&at, "--git-common-dir", &r->common, err) ||
                   ask(&at, "--show-prefix", &r->prefix, err) ||
                   ask(&at, "--is-shallow-repository", &shallow, err)
               ? -1
               : 0;
  r->shallow = shallow && !strcmp(shallow, "true");
  free(shallow);
  if (rc)
    repository_release(r);
  return rc;
}

void repository_release(Repository *r) {
  free(r->top);
  free(r->git_dir);
  free(r->common);
  free(r->prefix);
  *r = (Repository){0};
}
