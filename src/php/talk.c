// One request and its response over a connection: see talk.h.
#include "php/talk.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "php/child.h"
#include "php/fastcgi.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/stop.h"

enum { RECEIVE = 96 << 10 };

typedef struct {
  Talk *t;
  Str out;          // on its way
  size_t sent;      // of it
  size_t body_sent; // bytes of the body that were put into `out`
  bool closed;      // everything is in `out`, or nobody listens any more
  FcgiReader reader;
  FcgiSink sink;
  char *buffer;
  bool end; // of the connection
  Err *err;
} Turn;

// --- sending ----------------------------------------------------------------

// The next piece of the body; the last one with the end of the request.
static void add_piece(Turn *u) {
  unsigned char header[FCGI_RECORD];
  size_t n = u->t->body_len - u->body_sent;
  if (n > FCGI_CONTENT)
    n = FCGI_CONTENT;
  if (n) {
    fcgi_record(header, n);
    str_addn(&u->out, header, sizeof header);
    str_addn(&u->out, u->t->body + u->body_sent, n);
    u->body_sent += n;
  }
  if (u->body_sent == u->t->body_len) {
    fcgi_record(header, 0);
    str_addn(&u->out, header, sizeof header);
    u->closed = true;
  }
}

static bool is_sending(const Turn *u) {
  return u->sent < u->out.len || !u->closed;
}

static void stop_sending(Turn *u) {
  u->sent = u->out.len;
  u->closed = true;
  u->t->reusable = false;
}

static void send_some(Turn *u) {
  while (is_sending(u)) {
    if (u->sent == u->out.len) {
      str_clear(&u->out);
      u->sent = 0;
      add_piece(u);
    }
    ssize_t n = send(u->t->connection, u->out.data + u->sent,
                     u->out.len - u->sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0 && errno == EAGAIN)
      return;
    if (n < 0) // it may still have something to say
      stop_sending(u);
    else
      u->sent += (size_t)n;
  }
}

// --- receiving --------------------------------------------------------------

static int feed(Turn *u, size_t n) {
  size_t used;
  if (fcgi_feed(&u->reader, u->buffer, n, &used, &u->sink, u->err))
    return -1;
  if (u->reader.ended && used < n)
    u->t->reusable = false; // it goes on talking
  return 0;
}

// One portion; -1 if it is not FastCGI. *some: there may be more.
static int receive_some(Turn *u, bool *some) {
  ssize_t n = recv(u->t->connection, u->buffer, RECEIVE, MSG_DONTWAIT);
  *some = n > 0 || (n < 0 && errno == EINTR);
  if (n > 0)
    return feed(u, (size_t)n);
  if (n == 0 || (errno != EAGAIN && errno != EINTR))
    u->end = true;
  return 0;
}

// All that a dead process had sent, but not for longer than the deadline: its
// descendants may hold the other end.
static int receive_rest(Turn *u) {
  bool some = true;
  while (some && !u->end && !u->reader.ended && clock_now() < u->t->deadline)
    if (receive_some(u, &some))
      return -1;
  return 0;
}

// --- both -------------------------------------------------------------------

static int wait_for_news(Turn *u, struct pollfd fds[3], double left) {
  fds[0] = (struct pollfd){.fd = u->t->connection, .events = POLLIN};
  fds[1] = (struct pollfd){.fd = u->t->pidfd, .events = POLLIN};
  fds[2] = (struct pollfd){.fd = stop_fd(), .events = POLLIN};
  if (is_sending(u))
    fds[0].events |= POLLOUT;
  int n = poll(fds, 3, left > 1e6 ? 1000000000 : (int)(left * 1e3) + 1);
  if (n < 0)
    fds[0].revents = fds[1].revents = 0;
  return n;
}

static TalkEnd converse(Turn *u) {
  for (;;) {
    struct pollfd fds[3];
    bool some;
    double left = u->t->deadline - clock_now();
    if (left <= 0 || stop_requested())
      return TALK_LATE;
    wait_for_news(u, fds, left);
    if (fds[0].revents & POLLOUT)
      send_some(u);
    if (fds[0].revents & (POLLIN | POLLHUP | POLLERR) && receive_some(u, &some))
      return TALK_FALSE;
    if (!u->reader.ended && fds[1].revents && receive_rest(u))
      return TALK_FALSE;
    if (u->reader.ended)
      return TALK_DONE;
    if (u->end || fds[1].revents)
      return TALK_BROKEN;
  }
}

TalkEnd talk(Talk *t, Err *err) {
  Turn u = {.t = t, .err = err};
  u.sink = (FcgiSink){t->page, page_output, page_errors};
  u.buffer = mem_realloc(NULL, RECEIVE);
  t->reusable = true;
  fcgi_begin(&u.out);
  fcgi_params(&u.out, t->pairs);
  add_piece(&u);
  send_some(&u);
  TalkEnd end = converse(&u);
  if (end != TALK_DONE || is_sending(&u))
    t->reusable = false;
  str_release(&u.out);
  free(u.buffer);
  return end;
}
