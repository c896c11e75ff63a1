// Where a store lies, as --store and CULPRIT_STORE say it: a directory, or a
// PostgreSQL database.
//
//   .culprit                                a directory
//   postgresql://USER@HOST:PORT/DATABASE    or postgres://, as libpq reads it
//   service=NAME                            of pg_service.conf
//
// A password belongs into ~/.pgpass or PGPASSFILE; one that is in the address
// is used, and never shown.
#ifndef CULPRIT_STORE_STORE_ADDRESS_H
#define CULPRIT_STORE_STORE_ADDRESS_H

#include <stdbool.h>

bool address_is_server(const char *store);
// The address without what is secret in it. Caller frees.
char *address_shown(const char *store);
// The directory of what lies beside the store: notes, failing pages, builds. For
// a server it is .culprit/server-HASH. Caller frees.
char *address_directory(const char *store);

#endif
