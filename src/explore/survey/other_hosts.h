// Does the application call itself by another name? Many have their own address in
// their configuration, and all their links and forms lead there:
//
//   <a href="http://blog.example.org/post/3">    asked from localhost, this leads
//   <form action="http://blog.example.org/...">  off the site: nothing is followed
//
// Pages are counted by the host that most of their links name.
#ifndef CULPRIT_EXPLORE_SURVEY_OTHER_HOSTS_H
#define CULPRIT_EXPLORE_SURVEY_OTHER_HOSTS_H

#include <stddef.h>

#include "util/arena.h"
#include "util/array.h"

typedef struct {
  const char *name;
  size_t pages;
} OtherHost;

typedef struct {
  ARRAY(OtherHost) hosts;
  size_t pages; // with any link
} OtherHosts;

// The host that most of the page's addresses name, if it is not `host` (as
// links_read) and they are more than those on the site; NULL: none. Memory: arena.
const char *other_host_of(const char *page, size_t len, const char *host,
                          Arena *arena);

// A page with links; `name` NULL: to the site itself. The name lives in `arena`.
void other_hosts_note(OtherHosts *o, const char *name, Arena *arena);
// That of most pages; NULL: most stay on the site.
const char *other_hosts_most(const OtherHosts *o);
void other_hosts_release(OtherHosts *o);

#endif
