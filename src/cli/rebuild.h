// Waiting for a rebuild: `culprit run --watch`.
#ifndef CULPRIT_CLI_REBUILD_H
#define CULPRIT_CLI_REBUILD_H

// Runs the command, and again after every rebuild: the failed tests, then all
// once none fails. `exe`: the program to wait for; NULL: the session's sources.
// `store`: as for --store. Returns an exit status.
int rebuild_watch(const char *exe, const char *store, int argc, char **argv);

#endif
