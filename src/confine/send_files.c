// Files sent through a socket: see send_files.h.
#include "confine/send_files.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

typedef union {
  char bytes[CMSG_SPACE(SEND_FILES_MOST * sizeof(int))];
  struct cmsghdr align;
} Files;

bool files_send(int socket, const void *message, size_t size, const int *files,
                size_t nfiles) {
  Files room = {0};
  struct iovec part = {(void *)message, size};
  struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
  if (nfiles) {
    m.msg_control = room.bytes;
    m.msg_controllen = CMSG_SPACE(nfiles * sizeof(int));
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(nfiles * sizeof(int));
    memcpy(CMSG_DATA(c), files, nfiles * sizeof(int));
  }
  return sendmsg(socket, &m, MSG_NOSIGNAL) == (ssize_t)size;
}

int files_receive(int socket, void *message, size_t size, int *files,
                  size_t nfiles, bool wait) {
  Files room;
  struct iovec part = {message, size};
  struct msghdr m = {.msg_iov = &part,
                     .msg_iovlen = 1,
                     .msg_control = room.bytes,
                     .msg_controllen = CMSG_SPACE(nfiles * sizeof(int))};
  ssize_t n;
  do
    n = recvmsg(socket, &m, MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT));
  while (n < 0 && errno == EINTR);
  if (n != (ssize_t)size)
    return -1;
  struct cmsghdr *c = CMSG_FIRSTHDR(&m);
  if (!c || c->cmsg_len != CMSG_LEN(nfiles * sizeof(int)))
    return 0;
  memcpy(files, CMSG_DATA(c), nfiles * sizeof(int));
  return (int)nfiles;
}
