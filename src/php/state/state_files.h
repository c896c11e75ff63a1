// The files of an application's state: sessions, SQLite databases, uploads.
// Part of app_state.h.
//
// A snapshot lists what is there; contents are kept once each, under their
// hash, in scratch/blobs. Whether a file has changed is told by its stat, and
// by its bytes only where that cannot tell. Restoring writes the bytes that
// differ, in place, and gives files their old time back.
//
// The tree of a confined application is looked at once something was written in
// its view, and kept as what differs from the tree outside. What is called a
// log or lies in a directory for caches, logs or temporary files is brought
// back too, but does not tell one state from another (file_entries_digest),
// unless the user named it. A file above 16 MB that the user did not name is as
// it was at first in every state, and so is the rest once 1 GB is kept.
//
// Limits: owners, extended attributes, hard links, devices and sockets are not
// kept. Of a confined application the files are those of its view, wherever a
// link in the view leads. A file of a place named X brings X-wal, X-shm and
// X-journal with it.
#ifndef CULPRIT_PHP_STATE_STATE_FILES_H
#define CULPRIT_PHP_STATE_STATE_FILES_H

#include <stdint.h>

#include "php/state/app_state.h"
#include "php/state/file_entries.h"

#define SESSION_FILE "sess_" // and the session's id: how PHP names them

typedef struct FileState FileState;

int file_state_open(FileState **f, const StatePlaces *places,
                    const char *scratch, Err *err);
void file_state_close(FileState *f);

// Lists what is there. Strings belong to `f`, the array to the caller.
int file_state_save(FileState *f, FileEntries *out, Err *err);
// *restored: how many files were written, made or removed.
int file_state_restore(FileState *f, const FileEntries *target,
                       size_t *restored, Err *err);
// The same for equal contents wherever they lie: of paths below `dir` the rest
// counts, of session files (in `sessions`) not even the name, which is drawn by
// lot. Times do not count.
uint64_t file_entries_digest(const FileState *f, const FileEntries *entries,
                             const char *dir, const char *sessions);

#endif
