// Sends open files through a Unix socket, with a message of fixed size.
#ifndef CULPRIT_CONFINE_SEND_FILES_H
#define CULPRIT_CONFINE_SEND_FILES_H

#include <stdbool.h>
#include <stddef.h>

enum { SEND_FILES_MOST = 2 };

// False with errno: it could not be sent. System calls only.
bool files_send(int socket, const void *message, size_t size, const int *files,
                size_t nfiles);
// Receives a message of this size with `nfiles` files, close-on-exec; waits for
// it if `wait`. Returns the number of files, 0 if it has others than that many,
// or -1: there is no message.
int files_receive(int socket, void *message, size_t size, int *files,
                  size_t nfiles, bool wait);

#endif
