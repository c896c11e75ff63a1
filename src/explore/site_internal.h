// The explorer's own data: shared by site.c (workers and their turns),
// site_hand.c (what is done in a turn) and site_keep.c (what is kept on disk).
// Not for others.
#ifndef CULPRIT_EXPLORE_SITE_INTERNAL_H
#define CULPRIT_EXPLORE_SITE_INTERNAL_H

#include <pthread.h>

#include "explore/site.h"
#include "explore/site_atlas.h"
#include "explore/site_desk.h"
#include "explore/site_entry.h"
#include "explore/site_find.h"
#include "explore/site_odd.h"
#include "explore/site_open.h"
#include "explore/site_show.h"
#include "explore/solve/site_solve.h"
#include "php/scripts.h"
#include "run/seat.h"

// What came of a request, not yet handed in.
typedef struct {
  Answer answer;
  Judged judged;
  bool is_run;
  Ideas ideas;
  Hiddens hiddens;
  const PathStep *steps;
  size_t nsteps;
  Arena arena;
} Catch;

// A request that was handed in, and for whose decisions is solved, outside of
// the lock: ideas come with the worker's next turn.
typedef struct {
  bool open;
  QueueItem item;
  uint32_t run;
  bool vary, lucky;
  Way way;
  Catch catch;
  ARRAY(uint32_t) solved; // comparisons that are solved for
  Ideas ideas;
} Thought;

// One worker.
typedef struct {
  Explorer *explorer;
  int number;
  pthread_t thread;
  bool started, gone;
  Desk desk;
  Hashmap routes;
  Bitset near; // worlds that are at this desk
  bool busy;
  QueueItem item;    // what it is about
  bool given;        // by the user's list
  bool near_failing; // chosen by its nearness to what fails
  uint32_t run;      // number of the request; 0: answered without PHP
  Way way;
  Catch catch;
  Thought thought;
  Solving *solving;
} Post;

typedef struct {
  char *signature;
  uint32_t number;
  Showing showing; // once it was made
} Failing;

struct Explorer {
  const SiteOptions *options;
  Scripts *scripts;
  SolveMemory *memory;
  char *maps;
  Queue queue;
  Seen seen;
  Atlas atlas;
  Target target;
  Bitset lines, conditions;
  Outcomes outcomes;
  Hashmap odd; // scripts, value and kind -> how often it came up
  Hashmap units, signatures;
  Hashmap solved;       // comparison and outcome -> how often
  Hashmap of_line;      // line and outcome -> how often of this request
  size_t branches;      // solved for of this request
  unsigned round;       // how often nothing was left
  ARRAY(Failing) shown; // by number of the signature
  ARRAY(const char *) scripts_seen;
  SiteProgress progress;
  double begin, saved_at, logged;
  Entries entries;
  Arena arena; // of entries and texts
  Hashmap routes;
  size_t statements; // of the scripts that this process has seen
  uint32_t numbers;  // given to requests so far
  bool near_fails;   // the last one that was chosen by nearness failed
  size_t given;      // requests of the user's list that were taken
  uint32_t reached;  // the world that the last of them left behind
  Hiddens page;      // and the hidden fields of its page
  // Turns:
  pthread_mutex_t lock;
  pthread_cond_t passed;
  Post *posts;
  int nposts, turn, idle;
  bool stop, failed;
  Err err;
};

// --- in a turn (site_hand.c) ------------------------------------------------

// What the worker has done becomes a run, worlds and ideas.
int post_hand_in(Explorer *e, Post *p, Err *err);
// The next request for it; false: there is none now.
bool post_take(Explorer *e, Post *p);
void catch_release(Catch *c);
// Outside of a turn: solves for what was handed in last.
void post_think(Post *p);
// In a turn: what came of it is offered.
void post_tell(Explorer *e, Post *p);
// The worker's thinking has an end with this turn: nobody waits for it.
bool post_thinks_alone(const Explorer *e, const Post *p);
void thought_release(Thought *t);
// Shows the progress. False: a budget is spent, or someone wants an end.
bool explorer_may_go_on(Explorer *e);
// Pages that nothing leads to may still be asked for; `early`: QueueItem.
void explorer_offer_entries(Explorer *e, uint32_t world, Why why, bool early);
void explorer_offer(Explorer *e, QueueItem item);
// All scores anew.
void explorer_rescore(Explorer *e);
// Is there more of the user's list, or is some of it being asked?
bool explorer_is_given_left(const Explorer *e);
bool explorer_is_directed(const Explorer *e);
void explorer_take_script(Explorer *e, const UnitId *unit);

// --- on disk (site_keep.c) --------------------------------------------------

int explorer_save(Explorer *e, Err *err);
int explorer_load(Explorer *e, Err *err);
// What was reached, a row a second; `now`: whenever the last one was.
void explorer_log(Explorer *e, bool now);

#endif
