// A scheduler of jobs with three priorities, driven by commands on standard
// input. The running job is the first one of the highest queue that is not
// empty.
//
//   usage: scheduler LOW MEDIUM HIGH    jobs ready at the start, per priority
//
//   new P      a job of priority P (0 low, 1 medium, 2 high) joins its queue
//   raise P N  the N-th job of queue P moves to the end of the next higher one
//   block      the running job waits for an event
//   wake N     the N-th waiting job is ready again, at least at medium priority
//   expire     the running job has used up its quantum: to the end of its
//   queue;
//              every second time in a row it sinks by one priority
//   done       the running job finishes
//   show       print the queues
//
// Whatever is left at the end of the input finishes in order of priority,
// waiting jobs last.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOW, MEDIUM, HIGH, LEVELS };
enum { PATIENCE = 2, MAX_JOBS = 1000 };

typedef struct Job {
  int id;
  int level;
  int expired; // quanta used up since it last blocked or sank
  struct Job *next;
} Job;

typedef struct {
  Job *first, *last;
  int len;
} Queue;

typedef struct {
  Queue ready[LEVELS];
  Queue waiting;
  int started, finished;
} Scheduler;

static void queue_push(Queue *q, Job *job) {
  job->next = NULL;
  if (q->last)
    q->last->next = job;
  else
    q->first = job;
  q->last = job;
  q->len++;
}

// Takes out the n-th job, counted from 1; NULL if there are fewer.
static Job *queue_take(Queue *q, int n) {
  if (n < 1 || n > q->len)
    return NULL;
  Job *before = NULL, *job = q->first;
  while (--n > 0) {
    before = job;
    job = job->next;
  }
  if (before)
    before->next = job->next;
  else
    q->first = job->next;
  if (q->last == job)
    q->last = before;
  q->len--;
  return job;
}

static void queue_print(const char *name, const Queue *q) {
  printf("%s:", name);
  for (const Job *job = q->first; job; job = job->next)
    printf(" %d", job->id);
  putchar('\n');
}

static void complain(const char *what) { printf("error: %s\n", what); }

static void start_job(Scheduler *s, int level) {
  if (level < LOW || level > HIGH) {
    complain("no such priority");
    return;
  }
  if (s->started == MAX_JOBS) {
    complain("too many jobs");
    return;
  }
  Job *job = calloc(1, sizeof *job);
  if (!job)
    exit(1);
  job->id = ++s->started;
  job->level = level;
  queue_push(&s->ready[level], job);
}

// Takes the running job off its queue; complains if no job is ready.
static Job *take_running(Scheduler *s) {
  for (int level = HIGH; level >= LOW; level--)
    if (s->ready[level].len)
      return queue_take(&s->ready[level], 1);
  complain("nothing is running");
  return NULL;
}

static void raise_job(Scheduler *s, int level, int n) {
  if (level < LOW || level >= HIGH) {
    complain("cannot be raised");
    return;
  }
  Job *job = queue_take(&s->ready[level], n);
  if (!job) {
    complain("no such job");
    return;
  }
  job->level = level + 1;
  queue_push(&s->ready[job->level], job);
}

static void block_running(Scheduler *s) {
  Job *job = take_running(s);
  if (!job)
    return;
  job->expired = 0;
  queue_push(&s->waiting, job);
}

static void wake_job(Scheduler *s, int n) {
  Job *job = queue_take(&s->waiting, n);
  if (!job) {
    complain("no such waiting job");
    return;
  }
  if (job->level < MEDIUM)
    job->level = MEDIUM;
  queue_push(&s->ready[job->level], job);
}

static void expire_running(Scheduler *s) {
  Job *job = take_running(s);
  if (!job)
    return;
  job->expired++;
  if (job->expired == PATIENCE) {
    job->expired = 0;
    if (job->level > LOW)
      job->level--;
  }
  queue_push(&s->ready[job->level], job);
}

static void finish_job(Scheduler *s, Job *job) {
  if (!job)
    return;
  printf("job %d done\n", job->id);
  s->finished++;
  free(job);
}

static void show(const Scheduler *s) {
  queue_print("high", &s->ready[HIGH]);
  queue_print("medium", &s->ready[MEDIUM]);
  queue_print("low", &s->ready[LOW]);
  queue_print("waiting", &s->waiting);
}

static void finish_all(Scheduler *s) {
  for (int level = HIGH; level >= LOW; level--)
    while (s->ready[level].len)
      finish_job(s, queue_take(&s->ready[level], 1));
  while (s->waiting.len)
    finish_job(s, queue_take(&s->waiting, 1));
  printf("%d started, %d finished\n", s->started, s->finished);
}

static void obey(Scheduler *s, const char *line) {
  char word[16];
  int a = -1, b = -1;
  int n = sscanf(line, "%15s %d %d", word, &a, &b);
  if (n < 1)
    return;
  if (!strcmp(word, "new"))
    start_job(s, a);
  else if (!strcmp(word, "raise"))
    raise_job(s, a, b);
  else if (!strcmp(word, "block"))
    block_running(s);
  else if (!strcmp(word, "wake"))
    wake_job(s, a);
  else if (!strcmp(word, "expire"))
    expire_running(s);
  else if (!strcmp(word, "done"))
    finish_job(s, take_running(s));
  else if (!strcmp(word, "show"))
    show(s);
  else
    complain("unknown command");
}

int main(int argc, char **argv) {
  Scheduler s = {0};
  if (argc != 1 + LEVELS) {
    fputs("usage: scheduler LOW MEDIUM HIGH < COMMANDS\n", stderr);
    return 2;
  }
  for (int level = HIGH; level >= LOW; level--)
    for (int n = atoi(argv[1 + level]); n > 0; n--)
      start_job(&s, level);
  char line[80];
  while (fgets(line, sizeof line, stdin))
    obey(&s, line);
  finish_all(&s);
  return 0;
}
