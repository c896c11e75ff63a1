// Executes a program with the streams of a recorded start: see program_start.h.
//
// Output to pipes and to files outside of the tree is collected and handed over
// at the end, so that a start is judged by the same bytes whoever reads them.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/capture_format.h"
#include "capture/program_start.h"

enum {
  CHUNK = 65536,
  OUTPUT_MOST = 64 << 20, // bytes: who writes more has nobody to read it
};

// Both ends of a stream.
typedef struct {
  int child; // -1: closed
  int own;   // -1: none. Of a pipe the other end, of a file the same
} StreamEnds;

typedef struct {
  ProgramStart *start;
  bool own_streams;
  StreamEnds ends[3];
  size_t written; // of standard input
  bool read_all;  // there is no more of it
  StartDeed *deed;
} StartRun;

// --- streams ----------------------------------------------------------------

static int open_pipe(StreamEnds *e, bool input) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC))
    return -1;
  e->child = ends[input ? 0 : 1];
  e->own = ends[input ? 1 : 0];
  return fcntl(e->own, F_SETFL, O_NONBLOCK);
}

static int open_copy(StreamEnds *e, const StartStream *s, bool input) {
  int fd = memfd_create("stream", MFD_CLOEXEC);
  struct timespec times[2] = {s->time, s->time};
  if (fd < 0)
    return -1;
  e->child = e->own = fd;
  if (!input)
    return s->flags & O_APPEND ? fcntl(fd, F_SETFL, O_APPEND) : 0;
  return write(fd, str_text(&s->data), s->data.len) == (ssize_t)s->data.len &&
                 !futimens(fd, times) && lseek(fd, s->offset, SEEK_SET) >= 0
             ? 0
             : -1;
}

static int open_named(StreamEnds *e, const char *path, const StartStream *s) {
  e->child = e->own =
      open(path, (s->flags & (O_ACCMODE | O_APPEND)) | O_CLOEXEC);
  if (e->child >= 0 && s->kind == STREAM_INSIDE)
    lseek(e->child, s->offset, SEEK_SET);
  return e->child < 0 ? -1 : 0;
}

static int open_stream(StartRun *r, int fd) {
  static const char *const devices[STREAM_KINDS] = {[STREAM_NULL] = "/dev/null",
                                                    [STREAM_ZERO] = "/dev/zero",
                                                    [STREAM_FULL] =
                                                        "/dev/full"};
  const StartStream *s = &r->start->streams[fd];
  StreamEnds *e = &r->ends[fd];
  switch (s->kind) {
  case STREAM_CLOSED:
    return 0;
  case STREAM_SAME:
    e->child = r->ends[1].child;
    return 0;
  case STREAM_PIPE:
    return open_pipe(e, fd == 0);
  case STREAM_FILE:
    if (fd || !r->own_streams)
      return open_copy(e, s, fd == 0);
    break;
  default:
    break;
  }
  if (!r->own_streams)
    return open_named(
        e, devices[s->kind] ? devices[s->kind] : str_text(&s->path), s);
  e->child = e->own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
  return e->child < 0 ? -1 : 0;
}

// --- the program ------------------------------------------------------------

static void set_limits(const ProgramStart *s) {
  for (int i = 0; i < RLIM_NLIMITS; i++)
    setrlimit((__rlimit_resource_t)i, &s->limits[i]);
}

static void become(StartRun *r, const char *program, char **env,
                   const struct sigaction *pipe) {
  const ProgramStart *s = r->start;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (int fd = 0; fd < 3; fd++) // out of the way of the others
    if (r->ends[fd].child >= 0)
      r->ends[fd].child = fcntl(r->ends[fd].child, F_DUPFD_CLOEXEC, 10);
  for (int fd = 0; fd < 3; fd++) {
    close(fd);
    if (r->ends[fd].child >= 0)
      dup2(r->ends[fd].child, fd);
  }
  umask(s->mask);
  if (!r->own_streams)
    set_limits(s);
  sigaction(SIGPIPE, pipe, NULL);
  if (!chdir(str_text(&s->cwd)))
    execve(program, s->argv.items, env);
  _exit(127);
}

// --- while it runs ----------------------------------------------------------

// One piece of standard input from our own, for the program and the record.
static void read_more(StartRun *r) {
  char piece[CHUNK];
  ssize_t n = read(0, piece, sizeof piece);
  if (n > 0)
    str_addn(&r->start->streams[0].data, piece, (size_t)n);
  else if (n == 0 || errno != EINTR)
    r->read_all = true;
}

static void write_input(StartRun *r) {
  const Str *data = &r->start->streams[0].data;
  ssize_t n = write(r->ends[0].own, str_text(data) + r->written,
                    data->len - r->written);
  if (n > 0)
    r->written += (size_t)n;
  else if (n < 0 && errno != EAGAIN && errno != EINTR) {
    close(r->ends[0].own); // nobody reads it
    r->ends[0].own = -1;
  }
}

static bool take_output(StreamEnds *e, Str *to) {
  char piece[CHUNK];
  ssize_t n = read(e->own, piece, sizeof piece);
  if (n > 0)
    str_addn(to, piece, (size_t)n);
  if ((n < 0 && errno != EAGAIN && errno != EINTR) || n == 0 ||
      to->len > OUTPUT_MOST) {
    close(e->own);
    e->own = -1;
  }
  return n > 0;
}

static bool is_pipe(const StartRun *r, int fd) {
  return r->start->streams[fd].kind == STREAM_PIPE && r->ends[fd].own >= 0;
}

static Str *text_of(StartRun *r, int fd) {
  return fd == 1 ? &r->deed->out : &r->deed->err;
}

static void close_input(StartRun *r) {
  if (is_pipe(r, 0) && r->read_all &&
      r->written == r->start->streams[0].data.len) {
    close(r->ends[0].own);
    r->ends[0].own = -1;
  }
}

// Serves the pipes until the process ends.
static void serve(StartRun *r, int pidfd) {
  for (bool ended = false; !ended;) {
    close_input(r);
    bool empty = r->written == r->start->streams[0].data.len;
    struct pollfd list[] = {
        {.fd = pidfd, .events = POLLIN},
        {.fd = is_pipe(r, 1) ? r->ends[1].own : -1, .events = POLLIN},
        {.fd = is_pipe(r, 2) ? r->ends[2].own : -1, .events = POLLIN},
        {.fd = is_pipe(r, 0) && !empty ? r->ends[0].own : -1,
         .events = POLLOUT},
        {.fd = is_pipe(r, 0) && empty && !r->read_all ? 0 : -1,
         .events = POLLIN},
    };
    if (poll(list, sizeof list / sizeof *list, -1) < 0)
      continue;
    ended = list[0].revents;
    for (int fd = 1; fd <= 2; fd++)
      if (list[fd].revents)
        take_output(&r->ends[fd], text_of(r, fd));
    if (list[3].revents)
      write_input(r);
    if (list[4].revents)
      read_more(r);
  }
  for (int fd = 1; fd <= 2; fd++)
    while (is_pipe(r, fd) && take_output(&r->ends[fd], text_of(r, fd)))
      ;
}

// What the program left of a pipe: another one may read it.
static void read_rest(StartRun *r) {
  while (r->own_streams && r->start->streams[0].kind == STREAM_PIPE &&
         !r->read_all && r->start->streams[0].data.len < CAPTURE_STREAM_BYTES)
    read_more(r);
}

static void read_copies(StartRun *r) {
  for (int fd = 1; fd <= 2; fd++) {
    char piece[CHUNK];
    off_t at = 0;
    ssize_t n;
    while (r->start->streams[fd].kind == STREAM_FILE &&
           text_of(r, fd)->len < OUTPUT_MOST &&
           (n = pread(r->ends[fd].own, piece, sizeof piece, at)) > 0) {
      str_addn(text_of(r, fd), piece, (size_t)n);
      at += n;
    }
  }
}

static int finish(StartRun *r, pid_t pid, Err *err) {
  StreamKind in = r->start->streams[0].kind;
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
    ;
  r->deed->status = status;
  r->deed->in_offset = in == STREAM_INSIDE || in == STREAM_FILE
                           ? lseek(r->ends[0].own, 0, SEEK_CUR)
                           : -1;
  read_rest(r);
  read_copies(r);
  if (r->deed->out.len >= CAPTURE_STREAM_BYTES ||
      r->deed->err.len >= CAPTURE_STREAM_BYTES ||
      r->start->streams[0].data.len >= CAPTURE_STREAM_BYTES)
    return err_set(err, "a standard stream is too large");
  return 0;
}

// --- all of it --------------------------------------------------------------

static void close_ends(StartRun *r, bool own) {
  for (int fd = 0; fd < 3; fd++) {
    StreamEnds *e = &r->ends[fd];
    int *end = own ? &e->own : &e->child;
    bool shared =
        e->own == e->child || r->start->streams[fd].kind == STREAM_SAME;
    if (*end >= 0 && (own || !shared))
      close(*end);
    *end = -1;
  }
}

int start_run(ProgramStart *s, const char *program, char **env, bool own,
              StartDeed *out, Err *err) {
  StartRun r = {.start = s,
                .own_streams = own,
                .ends = {{-1, -1}, {-1, -1}, {-1, -1}},
                .read_all = !own,
                .deed = out};
  struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
  int rc = 0;
  sigaction(SIGPIPE, &ignore, &before);
  for (int fd = 0; fd < 3 && !rc; fd++)
    if (open_stream(&r, fd))
      rc = err_set(err, "a standard stream: %s", strerror(errno));
  pid_t pid = rc ? -1 : fork();
  if (pid == 0)
    become(&r, program, env, &before);
  close_ends(&r, false);
  int pidfd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
  if (!rc && pidfd < 0)
    rc = err_set(err, "cannot start %s: %s", program, strerror(errno));
  if (pidfd >= 0) {
    serve(&r, pidfd);
    rc = finish(&r, pid, err);
    close(pidfd);
  }
  close_ends(&r, true);
  sigaction(SIGPIPE, &before, NULL);
  return rc;
}
