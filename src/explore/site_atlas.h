// What an exploration has been to: the requests that were made, and the worlds
// they led to. A world is what a request starts from: the application's state
// (sessions, files, database) and the visitor's cookies. World 0 is the start.
//
// Each world knows the request that led to it, and so the way from the start:
// whoever has it not at hand (another worker, an exploration that is resumed)
// goes that way again (site_desk.h).
//
// Memory: everything lies in the atlas' arena and stays; what a World or Asked
// points to may be read by other threads while more is added.
#ifndef CULPRIT_EXPLORE_SITE_ATLAS_H
#define CULPRIT_EXPLORE_SITE_ATLAS_H

#include <stddef.h>
#include <stdint.h>

#include "model/similarity.h"
#include "php/request.h"
#include "php/site_ask.h"
#include "php/worker.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/hashmap.h"

// --- cookies ----------------------------------------------------------------

// A cookie that an answer set, and those before it: all that a jar is made of.
typedef struct Crumb Crumb;
struct Crumb {
  const Crumb *before;
  const char *path, *value;
};

// The crumbs after an answer to a request of `path`. Of a way that sets more
// and more of them, what comes after the first hundred is ignored.
const Crumb *crumbs_take(const Crumb *last, const char *path,
                         const Headers *headers, Arena *arena);
// The crumbs of a visitor who brought the cookies of such a request: nobody set
// them, and they are to be there in the next request too (a cookie that stands
// for a password keeps its visitor logged in).
const Crumb *crumbs_bring(const Crumb *last, const Headers *headers,
                          Arena *arena);
// Does the visitor have this cookie from there, and no answer set another one?
bool crumbs_brought(const Crumb *crumbs, const char *name);
// What a visitor has from the start.
const Crumb *crumbs_start(void);
// A browser that was given them. To be freed.
CookieJar *crumbs_jar(const Crumb *crumbs);
// What is sent to `path`; NULL: nothing.
const char *crumbs_header(const Crumb *crumbs, const char *path, Arena *arena);

// --- hidden fields ----------------------------------------------------------

// What a page's hidden fields hold: tokens among them, which are others when
// the page is asked for again.
typedef struct {
  const char *form, *name, *value; // form: where it is sent to
} Hidden;
typedef struct {
  const Hidden *items;
  size_t len;
} Hiddens;

Hiddens hiddens_of(const Links *links, Arena *arena);
Hiddens hiddens_copy(const Hiddens *h, Arena *arena);

// --- requests and worlds ----------------------------------------------------

// A request that became a run.
typedef struct {
  Ask ask;
  uint32_t world;  // it began in
  uint32_t page;   // number of the request whose page it was found on; 0: none
  Hiddens hiddens; // of its page
  const PathStep *steps; // its path (site_path.h)
  size_t nsteps;
} Asked;

typedef struct {
  uint64_t key;
  const Crumb *crumbs;
  uint32_t from;  // the world before
  uint32_t by;    // number of the request that led here from there
  unsigned depth; // requests from the start
} World;

typedef struct {
  ARRAY(World) worlds;
  ARRAY(Asked) asked; // request number n is asked.items[n - 1]
  Hashmap index;      // key of a world -> its number
  Arena arena;
} Atlas;

#define SESSION_ID "culpritvisitor0000000001"

// With world 0. Every visitor has a session cookie from the start, and its
// session is there, empty: so that the first request starts no other one.
void atlas_init(Atlas *a);
void atlas_begin(Atlas *a, uint64_t key); // that of world 0, once it is known
void atlas_release(Atlas *a);

// The request's number. Copies the ask and what goes with it.
uint32_t atlas_add(Atlas *a, const Asked *asked);
const Asked *atlas_asked(const Atlas *a, uint32_t number);

// The world with that key; a new one, reached from world `from` by request
// `by`, if there is none.
uint32_t atlas_find(Atlas *a, uint64_t key, const Crumb *crumbs, uint32_t from,
                    uint32_t by);
// That request led to `world` too. The shortest way is kept: ways only get
// shorter, so they never run in a circle.
void atlas_shorten(Atlas *a, uint32_t world, uint32_t from, uint32_t by);

// --- ways -------------------------------------------------------------------

// One request on the way to a world.
typedef struct {
  uint32_t world; // that it leads to
  uint32_t from;
  Ask ask;
  Hiddens hiddens; // of the page it showed when it was first made
} Stage;
typedef ARRAY(Stage) Way;

// From the start to `world`; empty for world 0. Points into the atlas.
void atlas_way(const Atlas *a, uint32_t world, Way *out);

#endif
