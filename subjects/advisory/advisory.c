// advisory: tells a pilot how to avoid another aircraft.
//
//   advisory OWN_ALT OWN_RATE OTHER_ALT OTHER_RATE RANGE CLOSURE HEIGHT
//            LEVEL INTENT MODE LAST AGE
//
//   OWN_ALT, OTHER_ALT    feet            OWN_RATE, OTHER_RATE  feet a minute
//   RANGE                 tens of metres  CLOSURE               metres a
//   second,
//                                         negative: moving apart
//   HEIGHT   feet above ground            LEVEL   1-5, 0: by altitude
//   INTENT   of the other: 0 none, 1 will climb, 2 will descend
//   MODE     0 full, 1 traffic only, 2 standby
//   LAST     our advisory before: 0 none, 1 climb, 2 descend
//   AGE      seconds since LAST
//
// Prints the threat, the advisory, the rate to fly and, if any, remarks.
// Status: 0 clear, 1 traffic, 2 advisory given, 3 bad arguments.

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum {
  FIELDS = 12,
  NEVER = 9999, // seconds
  MIN_DESCEND_HEIGHT = 1100,
  MIN_WARN_HEIGHT = 400,
  CEILING = 41000, // no climb above
  NORMAL_RATE = 1500,
  STRONG_RATE = 2500,
  REVERSAL_GAIN = 200, // feet that a change of mind must be worth
  MIN_AGE = 5          // seconds before a change of mind
};

typedef enum { SENSE_NONE, SENSE_CLIMB, SENSE_DESCEND } Sense;
typedef enum { MODE_FULL, MODE_TRAFFIC_ONLY, MODE_STANDBY } Mode;
typedef enum {
  THREAT_NONE,
  THREAT_NEAR,
  THREAT_TRAFFIC,
  THREAT_SERIOUS
} Threat;

typedef struct {
  int own_alt, own_rate, other_alt, other_rate, range, closure, height, level;
  int intent, mode, last, age;
} Situation;

// How careful to be at a level: seconds ahead, and feet and range in between.
typedef struct {
  int traffic_time, serious_time, min_range, traffic_alt, serious_alt;
} Limits;

static const Limits limits[] = {
    {20, 0, 30, 850, 0},    {25, 15, 35, 850, 300},   {30, 20, 55, 850, 350},
    {40, 25, 80, 850, 400}, {45, 30, 110, 1200, 600},
};

typedef struct {
  Sense sense;
  int rate;      // feet a minute to fly
  bool reversed; // the opposite of the last advisory
  bool forced;   // the better sense was not to be had
} Advisory;

// --- Input ---

static bool read_fields(char **argv, Situation *s) {
  int *const fields[FIELDS] = {&s->own_alt,    &s->own_rate, &s->other_alt,
                               &s->other_rate, &s->range,    &s->closure,
                               &s->height,     &s->level,    &s->intent,
                               &s->mode,       &s->last,     &s->age};
  for (int i = 0; i < FIELDS; i++) {
    char *end;
    errno = 0;
    long value = strtol(argv[i], &end, 10);
    if (end == argv[i] || *end || errno || value < -99999 || value > 99999)
      return false;
    *fields[i] = (int)value;
  }
  return true;
}

static bool is_sane(const Situation *s) {
  if (s->range < 0 || s->height < 0 || s->age < 0)
    return false;
  if (abs(s->own_rate) > 6000 || abs(s->other_rate) > 10000)
    return false;
  if (s->level < 0 || s->level > 5)
    return false;
  return s->intent >= SENSE_NONE && s->intent <= SENSE_DESCEND &&
         s->mode >= MODE_FULL && s->mode <= MODE_STANDBY &&
         s->last >= SENSE_NONE && s->last <= SENSE_DESCEND;
}

// --- Threat ---

static int effective_level(const Situation *s) {
  int level = s->level;
  if (level == 0) {
    if (s->own_alt < 2350)
      level = 2;
    else if (s->own_alt < 10000)
      level = 3;
    else if (s->own_alt < 20000)
      level = 4;
    else
      level = 5;
  }
  if (s->height < 1000 && level > 2)
    level = 2;
  return level;
}

// Seconds until the range is `min_range`; NEVER if it does not shrink.
static int time_to_meet(const Situation *s, int min_range) {
  if (s->range <= min_range)
    return 0;
  if (s->closure <= 0)
    return NEVER;
  int seconds = (s->range - min_range) * 10 / s->closure;
  return seconds < NEVER ? seconds : NEVER;
}

// Vertical distance `seconds` from now if we fly at `rate`; the other above is
// positive.
static int gap_after(const Situation *s, int rate, int seconds) {
  int now = s->other_alt - s->own_alt;
  return now + (s->other_rate - rate) * seconds / 60;
}

// Do the altitudes come or stay within `feet` until the meeting?
static bool altitudes_meet(const Situation *s, int seconds, int feet) {
  int now = gap_after(s, s->own_rate, 0);
  int then = gap_after(s, s->own_rate, seconds);
  if (abs(now) < feet || abs(then) < feet)
    return true;
  return (now < 0) != (then < 0);
}

static Threat assess(const Situation *s, const Limits *l, int *meeting) {
  *meeting = time_to_meet(s, l->min_range);
  if (s->mode == MODE_STANDBY)
    return THREAT_NONE;
  if (*meeting <= l->serious_time && s->mode == MODE_FULL &&
      altitudes_meet(s, *meeting, l->serious_alt))
    return THREAT_SERIOUS;
  if (*meeting <= l->traffic_time &&
      altitudes_meet(s, *meeting, l->traffic_alt))
    return THREAT_TRAFFIC;
  if (s->range < 1100 && abs(s->other_alt - s->own_alt) < 1200)
    return THREAT_NEAR;
  return THREAT_NONE;
}

// --- Advisory ---

// The distance above or below the other that a sense gains in the end.
static int clearance(const Situation *s, Sense sense, int rate, int seconds) {
  if (sense == SENSE_CLIMB)
    return -gap_after(s, rate, seconds);
  return gap_after(s, -rate, seconds);
}

static bool is_possible(const Situation *s, Sense sense) {
  if (sense == SENSE_CLIMB)
    return s->own_alt <= CEILING;
  return s->height >= MIN_DESCEND_HEIGHT;
}

static Sense opposite(Sense sense) {
  return sense == SENSE_CLIMB ? SENSE_DESCEND : SENSE_CLIMB;
}

static Sense best_sense(const Situation *s, int meeting) {
  if (s->intent == SENSE_CLIMB)
    return SENSE_DESCEND;
  if (s->intent == SENSE_DESCEND)
    return SENSE_CLIMB;
  int up = clearance(s, SENSE_CLIMB, NORMAL_RATE, meeting);
  int down = clearance(s, SENSE_DESCEND, NORMAL_RATE, meeting);
  if (up == down)
    return s->own_rate >= 0 ? SENSE_CLIMB : SENSE_DESCEND;
  return up > down ? SENSE_CLIMB : SENSE_DESCEND;
}

// Stays with the last sense unless the new one is clearly better.
static Sense keep_or_reverse(const Situation *s, Sense best, int meeting) {
  if (s->last == SENSE_NONE || (int)best == s->last)
    return best;
  if (s->intent == s->last)
    return best;
  if (s->age < MIN_AGE)
    return (Sense)s->last;
  int gain = clearance(s, best, NORMAL_RATE, meeting) -
             clearance(s, (Sense)s->last, NORMAL_RATE, meeting);
  return gain > REVERSAL_GAIN ? best : (Sense)s->last;
}

// The rate that clears the other by `feet`: what we fly, or more if needed.
static int needed_rate(const Situation *s, Sense sense, int meeting, int feet) {
  int own = sense == SENSE_CLIMB ? s->own_rate : -s->own_rate;
  if (own < 0)
    own = 0;
  if (clearance(s, sense, own, meeting) >= feet)
    return own;
  if (clearance(s, sense, NORMAL_RATE, meeting) >= feet && own <= NORMAL_RATE)
    return NORMAL_RATE;
  return own > STRONG_RATE ? own : STRONG_RATE;
}

static Advisory advise(const Situation *s, const Limits *l, int meeting) {
  Advisory advisory = {0};
  Sense sense = best_sense(s, meeting);
  sense = keep_or_reverse(s, sense, meeting);
  if (!is_possible(s, sense)) {
    sense = opposite(sense);
    advisory.forced = true;
    if (!is_possible(s, sense))
      return advisory;
  }
  advisory.sense = sense;
  advisory.rate = needed_rate(s, sense, meeting, l->serious_alt);
  advisory.reversed = s->last != SENSE_NONE && s->last != (int)sense;
  return advisory;
}

// --- Output ---

static void print_advisory(const Advisory *advisory) {
  static const char *const verbs[] = {"none", "climb", "descend"};
  const char *verb = verbs[advisory->sense];
  if (advisory->sense == SENSE_NONE)
    printf("advisory none\n");
  else if (advisory->rate == 0)
    printf("advisory do not %s\n", verbs[opposite(advisory->sense)]);
  else if (advisory->rate >= STRONG_RATE)
    printf("advisory %s now at %d\n", verb, advisory->rate);
  else
    printf("advisory %s at %d\n", verb, advisory->rate);
  if (advisory->reversed)
    printf("reversed\n");
  if (advisory->forced)
    printf("forced\n");
}

int main(int argc, char **argv) {
  static const char *const threats[] = {"none", "near", "traffic", "serious"};
  Situation situation;
  if (argc != FIELDS + 1 || !read_fields(argv + 1, &situation) ||
      !is_sane(&situation)) {
    printf("bad arguments\n");
    return 3;
  }
  int level = effective_level(&situation);
  const Limits *l = &limits[level - 1];
  int meeting;
  Threat threat = assess(&situation, l, &meeting);
  printf("level %d\nthreat %s\n", level, threats[threat]);
  if (meeting < NEVER)
    printf("meeting in %d s\n", meeting);
  if (threat != THREAT_SERIOUS)
    return threat == THREAT_TRAFFIC;
  if (situation.height < MIN_WARN_HEIGHT) {
    printf("too low\n");
    return 1;
  }
  Advisory advisory = advise(&situation, l, meeting);
  print_advisory(&advisory);
  return 2;
}
