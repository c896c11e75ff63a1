// Does the application call itself by another name? See other_hosts.h.
#include "explore/survey/other_hosts.h"

#include <string.h>
#include <strings.h>

#include "php/page_links.h"

enum { HOSTS_MOST = 50, LINKS_LEAST = 3 };

typedef struct {
  const char *at, *end;
} Attributes;

// The value of the next href or action; false: none is left.
static bool next_address(Attributes *a, const char **value, size_t *n) {
  static const char *const names[] = {"href=", "action="};
  for (; a->at < a->end; a->at++)
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
      size_t length = strlen(names[i]);
      if ((size_t)(a->end - a->at) <= length ||
          strncasecmp(a->at, names[i], length) != 0)
        continue;
      a->at += length;
      a->at += *a->at == '"' || *a->at == '\'';
      *value = a->at;
      while (a->at < a->end && !strchr("\"'> \t\r\n", *a->at))
        a->at++;
      *n = (size_t)(a->at - *value);
      return true;
    }
  return false;
}

static OtherHost *host_named(OtherHosts *o, const char *name, Arena *arena) {
  for (size_t i = 0; i < o->hosts.len; i++)
    if (!strcasecmp(o->hosts.items[i].name, name))
      return &o->hosts.items[i];
  if (o->hosts.len >= HOSTS_MOST)
    return NULL;
  array_push(&o->hosts, (OtherHost){arena_strdup(arena, name), 0});
  return &o->hosts.items[o->hosts.len - 1];
}

const char *other_host_of(const char *page, size_t len, const char *host,
                          Arena *arena) {
  OtherHosts named = {0};
  Attributes a = {page, page + (len < LINKS_PAGE ? len : LINKS_PAGE)};
  const char *value, *most = NULL;
  size_t n, own = 0, best = LINKS_LEAST - 1;
  while (next_address(&a, &value, &n)) {
    const char *other =
        link_other_host(arena_strndup(arena, value, n), host, arena);
    OtherHost *h = other ? host_named(&named, other, arena) : NULL;
    own += !other;
    if (h)
      h->pages++;
  }
  for (size_t i = 0; i < named.hosts.len; i++)
    if (named.hosts.items[i].pages > best && named.hosts.items[i].pages > own) {
      best = named.hosts.items[i].pages;
      most = named.hosts.items[i].name;
    }
  other_hosts_release(&named);
  return most;
}

void other_hosts_note(OtherHosts *o, const char *name, Arena *arena) {
  OtherHost *h = name ? host_named(o, name, arena) : NULL;
  o->pages++;
  if (h)
    h->pages++;
}

const char *other_hosts_most(const OtherHosts *o) {
  for (size_t i = 0; i < o->hosts.len; i++)
    if (2 * o->hosts.items[i].pages > o->pages)
      return o->hosts.items[i].name;
  return NULL;
}

void other_hosts_release(OtherHosts *o) { array_release(&o->hosts); }
