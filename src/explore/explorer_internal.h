// The explorer's own data, shared by explorer.c (threads and turns),
// explorer_turn.c (what a worker does in its turn) and checkpoint.c.
#ifndef CULPRIT_EXPLORE_EXPLORER_INTERNAL_H
#define CULPRIT_EXPLORE_EXPLORER_INTERNAL_H

#include <pthread.h>

#include "explore/accounts.h"
#include "explore/app_driver.h"
#include "explore/condition_outcomes.h"
#include "explore/survey/entry_pages.h"
#include "explore/explorer.h"
#include "explore/follow_ups.h"
#include "explore/odd_values.h"
#include "explore/reproduction.h"
#include "explore/survey/script_survey.h"
#include "explore/solve/good_values.h"
#include "explore/solve/request_solver.h"
#include "explore/state_graph.h"
#include "php/source/php_scripts.h"
#include "php/record/sql_tables.h"
#include "run/app_instance.h"

// The response to a worker's request, not yet submitted.
typedef struct {
  Answer answer;
  Judged judged;
  SqlTables tables;
  bool is_run;
  bool scripted;       // scripts of the page make forms or requests
  bool cut;            // the budget ended before the answer came
  QueueItems next;     // what its page leads to
  HiddenFields hidden; // of its page
  const PathStep *steps;
  size_t nsteps;
  Arena arena;
} RequestResult;

// A submitted request whose comparisons are solved for outside of the lock. Its
// worker offers the solutions in its next turn.
typedef struct {
  bool open;
  QueueItem item;
  uint32_t run;
  bool vary, lucky;
  StatePath path;
  RequestResult result;
  ARRAY(uint32_t) solved; // numbers of the comparisons to solve for
  QueueItems next;        // the solutions
} PendingSolve;

typedef struct {
  Explorer *explorer;
  int number;
  pthread_t thread;
  bool started, gone;
  AppDriver driver;
  Hashmap routes;
  Bitset near; // states that its instance was in
  bool busy;
  QueueItem item;    // the request it makes
  bool given;        // ... is of the user's list
  bool near_failing; // ... was chosen by its nearness to a failing one
  uint32_t run;      // number of the request; 0: answered without PHP
  StatePath path;
  RequestResult result;
  PendingSolve pending;
  RequestSolver *solver;
} ExploreWorker;

typedef struct {
  char *signature;
  uint32_t number; // of the request with the shortest path that shows it
  Reproduction reproduction; // made at the end
} FoundFailure;

// A login of the user whose answer was a redirect: its run, later that of the
// page it led to if that redirects too; 0: checked.
typedef struct {
  uint32_t run, role;
} RedirectedLogin;

struct Explorer {
  const ExplorerOptions *options;
  Scripts *scripts;
  char *maps;
  Queue queue;
  OutcomeGoals goals;
  Accounts accounts;
  GoodValues good;
  OddTexts texts;
  size_t logged_in; // states that the login of a made account led to
  StateGraph graph;
  TargetFailure target;
  Bitset lines, conditions; // executed
  ConditionOutcomes outcomes;
  SolveMemory *solve_memory;
  Hashmap odd; // scripts, value and kind -> how often it came up
  Hashmap units;
  Hashmap signatures; // -> number in `failures`
  Hashmap solved;     // comparison and outcome -> how often
  Hashmap of_line;    // line and outcome -> how often of this request
  size_t branches;    // solved for of this request,
  size_t news;        // and of them: for the first time
  unsigned round;     // how often nothing was left
  ARRAY(FoundFailure) failures;
  ARRAY(UnitId) scripts_seen;
  ExplorerProgress progress;
  double begin, saved_at, logged;
  double until; // the budget's end
  EntryPages entries;
  Arena arena; // of entries and texts
  Hashmap routes;
  ScriptSurvey survey;
  size_t statements;     // of other scripts that this process has seen:
  Hashmap others;        // path -> statements
  size_t resumed;        // statements that the resumed exploration knew
  uint32_t numbers;      // given to requests so far
  bool near_fails;       // the last request chosen by nearness failed
  Texts scripted;        // paths of such pages
  ARRAY(uint32_t) roles; // states that the user's visitors have reached
  ARRAY(RedirectedLogin) redirected;
  size_t given;      // requests of the user's list that were taken
  size_t given_late; // of them: had no answer in time
  uint32_t reached;  // the state that the last of them left behind,
  HiddenFields page; // and the hidden fields of its page
  // Turns:
  pthread_mutex_t lock;
  pthread_cond_t passed;
  ExploreWorker *workers;
  int nworkers, turn, idle;
  bool stop, failed;
  Err err;
};

// --- a worker's turn (explorer_turn.c) --------------------------------------

// Stores the result as a run, enters its state, offers what follows from it.
int explore_worker_submit(Explorer *e, ExploreWorker *p, Err *err);
// Takes the next request; false: there is none now.
bool explore_worker_take(Explorer *e, ExploreWorker *p);
// Outside of a turn: solves for the request that was submitted last.
void explore_worker_solve(ExploreWorker *p);
// Offers the solutions.
void explore_worker_offer(Explorer *e, ExploreWorker *p);
// Must the worker solve within its turn, because no other worker can go on?
bool explore_worker_solves_alone(const Explorer *e, const ExploreWorker *p);
void request_result_release(RequestResult *r);
void pending_solve_release(PendingSolve *t);

// --- who is logged in (explorer_logins.c) -----------------------------------

// Makes the user's requests again in the new state: the editor logs in after a
// visitor has sent something. Leaves out requests that need the page before
// them. Logins that were found are as good.
void explorer_offer_given(Explorer *e, uint32_t state, Arena *arena);
void explorer_add_role(Explorer *e, uint32_t state);
// A login with a name that was found beside another one has led to `state`: it
// is kept if it has worked, as far as one can see.
void explorer_take_found(Explorer *e, const ExploreWorker *p, uint32_t state);
// Logs in with an account that the request has made, if it has.
void explorer_offer_logins(Explorer *e, ExploreWorker *p, uint32_t after);
// Logs in with names that the page shows beside those of the user's logins.
void explorer_offer_beside(Explorer *e, ExploreWorker *p);
// The request was given: says so if it is a login that failed.
void explorer_check_login(Explorer *e, const ExploreWorker *p, uint32_t after);
// The same with what the answer to the login redirects to.
void explorer_check_redirected(Explorer *e, const ExploreWorker *p);

// Shows the progress. False: a limit is reached, or a signal came.
bool explorer_may_go_on(Explorer *e);
void explorer_offer(Explorer *e, QueueItem item);
// What the item's state decides: its depth, and how it was reached.
void explorer_place(const Explorer *e, QueueItem *item);
// Pages that no link leads to.
void explorer_offer_entries(Explorer *e, uint32_t state, RequestOrigin origin,
                            bool early);
// Computes all scores again.
void explorer_rescore(Explorer *e);
// Is a request of the user's list left to be made, or being made?
bool explorer_is_given_left(const Explorer *e);
bool explorer_is_directed(const Explorer *e);
// Appends a row to saved.tsv, one a second; `now`: in any case.
void explorer_log(Explorer *e, bool now);
void explorer_take_script(Explorer *e, const UnitId *unit);
void explorer_add_failure(Explorer *e, const char *signature, uint32_t number);

#endif
