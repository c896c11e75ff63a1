// ledger: keeps accounts from a list of commands and prints reports.
//
//   ledger [-q] [-e COMMANDS | FILE]
//
// Reads commands, one a line or divided by ';', from COMMANDS, FILE or the
// standard input; # starts a comment. -q leaves out the lines that confirm
// a command. Dates are YYYY-MM-DD, amounts 12, 12.5 or 1,234.50.
//
//   account NAME asset|debt|income|expense|equity [OPENING]
//   limit NAME AMOUNT            refuse what takes NAME below -AMOUNT
//   budget CATEGORY AMOUNT       per month
//   add DATE FROM TO AMOUNT [CATEGORY [NOTE...]]
//   every day|week|month|quarter|year DATE FROM TO AMOUNT CATEGORY
//         [until DATE | times N]
//   run DATE                     enter what recurs up to DATE
//   void ID                      strike out an entry
//   balance [DATE]               all accounts and what is owned
//   statement NAME DATE DATE     entries of an account, running balance
//   month YYYY-MM                categories against budgets
//   top N DATE DATE              the largest entries
//   interest NAME PERCENT DATE DATE
//   find WORD                    entries with WORD in their note
//   days DATE DATE     weekday DATE
//
// Money moves from one account to another, so all balances sum to zero.
// A command that fails prints "line N: ..." and the status is 1 at the end.

#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  MAX_ACCOUNTS = 16,
  MAX_CATEGORIES = 16,
  MAX_RULES = 16,
  MAX_NAME = 12,
  MAX_NOTE = 32,
  MAX_WORDS = 20,
  MAX_LINE = 160,
  FIRST_YEAR = 1900,
  LAST_YEAR = 2199
};

typedef enum { ASSET, DEBT, INCOME, EXPENSE, EQUITY, TYPES } Type;
typedef enum { DAY, WEEK, MONTH, QUARTER, YEAR, PERIODS } Period;

static const char *const type_names[] = {"asset", "debt", "income", "expense",
                                         "equity"};
static const char *const period_names[] = {"day", "week", "month", "quarter",
                                           "year"};

// Dates are days since 1900-01-01, a Monday; amounts are cents.
typedef struct {
  char name[MAX_NAME + 1];
  Type type;
  long opening;
  bool limited;
  long limit;
} Account;

typedef struct {
  char name[MAX_NAME + 1];
  long budget; // 0: none
} Category;

typedef struct {
  int id;
  int day;
  int from, to;
  int category; // -1: none
  long cents;
  bool voided;
  char note[MAX_NOTE + 1];
} Entry;

// Occurrence k of a rule is k periods after its start.
typedef struct {
  Period period;
  int start, until;
  int done, times; // occurrences entered, and how many there may be
  int from, to, category;
  long cents;
} Rule;

typedef struct {
  Account accounts[MAX_ACCOUNTS];
  int account_count;
  Category categories[MAX_CATEGORIES];
  int category_count;
  Rule rules[MAX_RULES];
  int rule_count;
  Entry *entries; // by day, then id
  int entry_count, entry_room;
  int next_id;
  bool quiet;
  int line, errors;
} Ledger;

// The words of one command.
typedef struct {
  char *words[MAX_WORDS];
  int count;
} Command;

// Complains about the command; always false.
static bool fail(Ledger *l, const char *format, ...) {
  va_list args;
  va_start(args, format);
  printf("line %d: ", l->line);
  vprintf(format, args);
  printf("\n");
  va_end(args);
  l->errors++;
  return false;
}

// ---- Dates ------------------------------------------------------------------

static bool is_leap(int year) {
  return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int days_in_year(int year) { return is_leap(year) ? 366 : 365; }

static int days_in_month(int year, int month) {
  static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap(year) ? 29 : days[month - 1];
}

static int day_of(int year, int month, int day) {
  int n = day - 1;
  for (int y = FIRST_YEAR; y < year; y++)
    n += days_in_year(y);
  for (int m = 1; m < month; m++)
    n += days_in_month(year, m);
  return n;
}

static void split_day(int n, int *year, int *month, int *day) {
  *year = FIRST_YEAR;
  while (n >= days_in_year(*year)) {
    n -= days_in_year(*year);
    ++*year;
  }
  *month = 1;
  while (n >= days_in_month(*year, *month)) {
    n -= days_in_month(*year, *month);
    ++*month;
  }
  *day = n + 1;
}

// `months` later; the last of the month if that month is too short.
static int add_months(int n, int months) {
  int year, month, day;
  split_day(n, &year, &month, &day);
  month += months;
  while (month > 12) {
    month -= 12;
    year++;
  }
  if (day > days_in_month(year, month))
    day = days_in_month(year, month);
  return day_of(year, month, day);
}

static const char *show_day(int n, char text[16]) {
  int year, month, day;
  split_day(n, &year, &month, &day);
  snprintf(text, 16, "%04d-%02d-%02d", year % 10000, month % 100, day % 100);
  return text;
}

// Reads `count` digits and moves on; -1 if there are fewer.
static int take_digits(const char **p, int count) {
  int n = 0;
  while (count-- > 0) {
    if (!isdigit((unsigned char)**p))
      return -1;
    n = n * 10 + (*(*p)++ - '0');
  }
  return n;
}

static bool parse_month(const char **p, int *year, int *month) {
  *year = take_digits(p, 4);
  if (*year < FIRST_YEAR || *year > LAST_YEAR || *(*p)++ != '-')
    return false;
  *month = take_digits(p, 2);
  return *month >= 1 && *month <= 12;
}

static bool parse_date(Ledger *l, const char *text, int *out) {
  const char *p = text;
  int year, month, day = 0;
  if (parse_month(&p, &year, &month) && *p++ == '-')
    day = take_digits(&p, 2);
  if (day < 1 || *p != '\0' || day > days_in_month(year, month))
    return fail(l, "bad date %s", text);
  *out = day_of(year, month, day);
  return true;
}

// ---- Money
// --------------------------------------------------------------------

// Digits with commas between thousands, then one or two after a point.
static bool parse_amount(Ledger *l, const char *text, long *out) {
  const char *p = text;
  bool negative = *p == '-';
  long cents = 0;
  int digits = 0;
  if (negative)
    p++;
  for (; isdigit((unsigned char)*p) || (*p == ',' && digits > 0); p++) {
    if (*p == ',')
      continue;
    cents = cents * 10 + (*p - '0');
    digits++;
    if (digits > 9)
      return fail(l, "amount %s is too large", text);
  }
  cents *= 100;
  if (*p == '.' && isdigit((unsigned char)p[1])) {
    cents += 10 * (p[1] - '0');
    p += 2;
    if (isdigit((unsigned char)*p))
      cents += *p++ - '0';
  }
  if (digits == 0 || *p != '\0')
    return fail(l, "bad amount %s", text);
  *out = negative ? -cents : cents;
  return true;
}

static const char *show_amount(long cents, char text[32]) {
  char digits[24];
  long rest = cents < 0 ? -cents : cents;
  int len = snprintf(digits, sizeof digits, "%ld", rest / 100);
  int n = 0;
  if (cents < 0)
    text[n++] = '-';
  for (int i = 0; i < len; i++) {
    text[n++] = digits[i];
    if ((len - i) % 3 == 1 && i + 1 < len)
      text[n++] = ',';
  }
  snprintf(text + n, 32 - (size_t)n, ".%02ld", rest % 100);
  return text;
}

// ---- Accounts, categories, entries
// ---------------------------------------------

static int find_account(const Ledger *l, const char *name) {
  for (int i = 0; i < l->account_count; i++)
    if (strcmp(l->accounts[i].name, name) == 0)
      return i;
  return -1;
}

static bool parse_account(Ledger *l, const char *name, int *out) {
  *out = find_account(l, name);
  return *out >= 0 || fail(l, "no account %s", name);
}

// The category of that name, made if need be; -1 if there are too many.
static int find_category(Ledger *l, const char *name) {
  int i = 0;
  while (i < l->category_count && strcmp(l->categories[i].name, name) != 0)
    i++;
  if (i < l->category_count)
    return i;
  if (i == MAX_CATEGORIES || strlen(name) > MAX_NAME) {
    fail(l, "cannot make category %s", name);
    return -1;
  }
  Category *c = &l->categories[l->category_count++];
  strcpy(c->name, name);
  c->budget = 0;
  return i;
}

// What an entry adds to an account.
static long effect(const Entry *e, int account) {
  if (e->voided)
    return 0;
  return (e->to == account ? e->cents : 0) -
         (e->from == account ? e->cents : 0);
}

// The balance at the end of `day`.
static long balance_on(const Ledger *l, int account, int day) {
  long balance = l->accounts[account].opening;
  for (int i = 0; i < l->entry_count && l->entries[i].day <= day; i++)
    balance += effect(&l->entries[i], account);
  return balance;
}

// Would `cents` less on `day` break the limit then or at any later time?
static bool breaks_limit(const Ledger *l, int account, int day, long cents) {
  const Account *a = &l->accounts[account];
  if (!a->limited)
    return false;
  if (balance_on(l, account, day) - cents < -a->limit)
    return true;
  for (int i = 0; i < l->entry_count; i++) {
    int later = l->entries[i].day;
    if (later > day && balance_on(l, account, later) - cents < -a->limit)
      return true;
  }
  return false;
}

static Entry *insert_entry(Ledger *l, int day) {
  if (l->entry_count == l->entry_room) {
    l->entry_room = l->entry_room ? 2 * l->entry_room : 8;
    l->entries =
        realloc(l->entries, (size_t)l->entry_room * sizeof *l->entries);
    if (!l->entries)
      abort();
  }
  int i = l->entry_count++;
  while (i > 0 && l->entries[i - 1].day > day) {
    l->entries[i] = l->entries[i - 1];
    i--;
  }
  return &l->entries[i];
}

static bool post(Ledger *l, Entry e, const char *note) {
  char date[16], amount[32];
  if (breaks_limit(l, e.from, e.day, e.cents))
    return fail(l, "%s has not enough for %s on %s", l->accounts[e.from].name,
                show_amount(e.cents, amount), show_day(e.day, date));
  e.id = l->next_id++;
  e.voided = false;
  snprintf(e.note, sizeof e.note, "%s", note);
  *insert_entry(l, e.day) = e;
  if (!l->quiet)
    printf("#%d %s %s\n", e.id, show_day(e.day, date),
           show_amount(e.cents, amount));
  return true;
}

// ---- Commands that change the ledger
// ---------------------------------------------

static bool command_account(Ledger *l, const Command *c) {
  long opening = 0;
  Type type = ASSET;
  if (c->count < 3 || c->count > 4)
    return fail(l, "usage: account NAME TYPE [OPENING]");
  while (type < TYPES && strcmp(c->words[2], type_names[type]) != 0)
    type++;
  if (type == TYPES)
    return fail(l, "unknown type %s", c->words[2]);
  if (strlen(c->words[1]) > MAX_NAME)
    return fail(l, "name %s is too long", c->words[1]);
  if (find_account(l, c->words[1]) >= 0)
    return fail(l, "account %s exists", c->words[1]);
  if (l->account_count == MAX_ACCOUNTS)
    return fail(l, "too many accounts");
  if (c->count == 4 && !parse_amount(l, c->words[3], &opening))
    return false;
  Account *a = &l->accounts[l->account_count++];
  strcpy(a->name, c->words[1]);
  a->type = type;
  a->opening = type == ASSET || type == EXPENSE ? opening : -opening;
  a->limited = false;
  a->limit = 0;
  return true;
}

static bool command_limit(Ledger *l, const Command *c) {
  int account;
  long cents;
  if (c->count != 3)
    return fail(l, "usage: limit NAME AMOUNT");
  if (!parse_account(l, c->words[1], &account) ||
      !parse_amount(l, c->words[2], &cents))
    return false;
  l->accounts[account].limited = true;
  l->accounts[account].limit = cents;
  return true;
}

static bool command_budget(Ledger *l, const Command *c) {
  long cents;
  if (c->count != 3)
    return fail(l, "usage: budget CATEGORY AMOUNT");
  if (!parse_amount(l, c->words[2], &cents))
    return false;
  int category = find_category(l, c->words[1]);
  if (category < 0)
    return false;
  l->categories[category].budget = cents;
  return true;
}

// FROM TO AMOUNT [CATEGORY] from word `i` on.
static bool parse_transfer(Ledger *l, const Command *c, int i, int *from,
                           int *to, long *cents, int *category) {
  if (!parse_account(l, c->words[i], from) ||
      !parse_account(l, c->words[i + 1], to) ||
      !parse_amount(l, c->words[i + 2], cents))
    return false;
  if (*from == *to)
    return fail(l, "from %s to itself", c->words[i]);
  if (*cents <= 0)
    return fail(l, "amount must be positive");
  *category = -1;
  if (i + 3 < c->count) {
    *category = find_category(l, c->words[i + 3]);
    return *category >= 0;
  }
  return true;
}

static bool command_add(Ledger *l, const Command *c) {
  Entry e = {.id = 0};
  char note[MAX_LINE] = "";
  if (c->count < 5)
    return fail(l, "usage: add DATE FROM TO AMOUNT [CATEGORY [NOTE...]]");
  if (!parse_date(l, c->words[1], &e.day) ||
      !parse_transfer(l, c, 2, &e.from, &e.to, &e.cents, &e.category))
    return false;
  for (int i = 6; i < c->count; i++) {
    if (i > 6)
      strcat(note, " ");
    strcat(note, c->words[i]);
  }
  return post(l, e, note);
}

static bool command_every(Ledger *l, const Command *c) {
  Rule r = {.until = INT_MAX, .times = INT_MAX};
  if (c->count != 7 && c->count != 9)
    return fail(l, "usage: every PERIOD DATE FROM TO AMOUNT CATEGORY "
                   "[until DATE | times N]");
  while (r.period < PERIODS && strcmp(c->words[1], period_names[r.period]) != 0)
    r.period++;
  if (r.period == PERIODS)
    return fail(l, "unknown period %s", c->words[1]);
  if (l->rule_count == MAX_RULES)
    return fail(l, "too many rules");
  if (!parse_date(l, c->words[2], &r.start) ||
      !parse_transfer(l, c, 3, &r.from, &r.to, &r.cents, &r.category))
    return false;
  if (c->count == 9 && strcmp(c->words[7], "until") == 0) {
    if (!parse_date(l, c->words[8], &r.until))
      return false;
  } else if (c->count == 9 && strcmp(c->words[7], "times") == 0) {
    r.times = atoi(c->words[8]);
    if (r.times < 1)
      return fail(l, "bad number %s", c->words[8]);
  } else if (c->count == 9) {
    return fail(l, "neither until nor times: %s", c->words[7]);
  }
  l->rules[l->rule_count++] = r;
  return true;
}

static int occurrence(const Rule *r, int k) {
  switch (r->period) {
  case DAY:
    return r->start + k;
  case WEEK:
    return r->start + 7 * k;
  case MONTH:
    return add_months(r->start, k);
  case QUARTER:
    return add_months(r->start, 3 * k);
  default:
    return add_months(r->start, 12 * k);
  }
}

// The rule whose next occurrence is the earliest up to `day`, or NULL.
static Rule *next_rule(Ledger *l, int day) {
  Rule *best = NULL;
  int earliest = day + 1;
  for (int i = 0; i < l->rule_count; i++) {
    Rule *r = &l->rules[i];
    int due = occurrence(r, r->done);
    if (r->done < r->times && due <= r->until && due < earliest) {
      best = r;
      earliest = due;
    }
  }
  return best;
}

static bool command_run(Ledger *l, const Command *c) {
  int day, entered = 0;
  if (c->count != 2)
    return fail(l, "usage: run DATE");
  if (!parse_date(l, c->words[1], &day))
    return false;
  for (Rule *r = next_rule(l, day); r; r = next_rule(l, day)) {
    Entry e = {.day = occurrence(r, r->done),
               .from = r->from,
               .to = r->to,
               .category = r->category,
               .cents = r->cents};
    r->done++;
    if (post(l, e, "recurring"))
      entered++;
  }
  printf("%d entered\n", entered);
  return true;
}

static bool command_void(Ledger *l, const Command *c) {
  if (c->count != 2)
    return fail(l, "usage: void ID");
  int id = atoi(c->words[1]);
  for (int i = 0; i < l->entry_count; i++) {
    Entry *e = &l->entries[i];
    if (e->id != id)
      continue;
    if (e->voided)
      return fail(l, "entry %d is void already", id);
    e->voided = true;
    return true;
  }
  return fail(l, "no entry %s", c->words[1]);
}

// ---- Reports
// ------------------------------------------------------------------

static void print_entry(const Ledger *l, const Entry *e) {
  char date[16], amount[32];
  printf("#%-3d %s  %-12s %-12s %12s", e->id, show_day(e->day, date),
         l->accounts[e->from].name, l->accounts[e->to].name,
         show_amount(e->cents, amount));
  if (e->category >= 0)
    printf("  %s", l->categories[e->category].name);
  if (e->note[0] != '\0')
    printf(" (%s)", e->note);
  printf("%s\n", e->voided ? " VOID" : "");
}

// Assets and expenses are shown as they are, the others the other way round.
static bool command_balance(Ledger *l, const Command *c) {
  int day = INT_MAX;
  long owned = 0, total = 0;
  char amount[32];
  if (c->count > 2)
    return fail(l, "usage: balance [DATE]");
  if (c->count == 2 && !parse_date(l, c->words[1], &day))
    return false;
  for (int i = 0; i < l->account_count; i++) {
    const Account *a = &l->accounts[i];
    long balance = balance_on(l, i, day);
    total += balance;
    if (a->type == ASSET || a->type == DEBT)
      owned += balance;
    if (a->type != ASSET && a->type != EXPENSE)
      balance = -balance;
    printf("%-12s %-8s %14s\n", a->name, type_names[a->type],
           show_amount(balance, amount));
  }
  printf("%-21s %14s\n", "owned", show_amount(owned, amount));
  if (total != 0)
    printf("%-21s %14s\n", "unbalanced", show_amount(total, amount));
  return true;
}

// Two dates from word `i` on, the first not after the second.
static bool parse_span(Ledger *l, const Command *c, int i, int *first,
                       int *last) {
  if (!parse_date(l, c->words[i], first) ||
      !parse_date(l, c->words[i + 1], last))
    return false;
  return *first <= *last || fail(l, "dates are in the wrong order");
}

static bool command_statement(Ledger *l, const Command *c) {
  int account, first, last;
  char date[16], amount[32], sum[32];
  if (c->count != 4)
    return fail(l, "usage: statement NAME DATE DATE");
  if (!parse_account(l, c->words[1], &account) ||
      !parse_span(l, c, 2, &first, &last))
    return false;
  long balance = balance_on(l, account, first - 1);
  printf("%s %s\n", show_day(first, date), show_amount(balance, sum));
  for (int i = 0; i < l->entry_count; i++) {
    const Entry *e = &l->entries[i];
    long change = effect(e, account);
    if (e->day < first || e->day > last || change == 0)
      continue;
    int other = e->from == account ? e->to : e->from;
    balance += change;
    printf("%s #%-3d %-12s %12s %14s\n", show_day(e->day, date), e->id,
           l->accounts[other].name, show_amount(change, amount),
           show_amount(balance, sum));
  }
  printf("%s %s\n", show_day(last, date), show_amount(balance, sum));
  return true;
}

// Spending is what goes to an expense; a refund (from an expense) counts
// against it.
static long spending(const Ledger *l, const Entry *e) {
  long cents = 0;
  if (e->voided)
    return 0;
  if (l->accounts[e->to].type == EXPENSE)
    cents += e->cents;
  if (l->accounts[e->from].type == EXPENSE)
    cents -= e->cents;
  return cents;
}

static void print_budget(const Category *c, long spent) {
  char amount[32], budget[32];
  printf("%-12s %12s", c->name, show_amount(spent, amount));
  if (c->budget > 0) {
    printf(" of %s, %ld%%", show_amount(c->budget, budget),
           spent * 100 / c->budget);
    if (spent > c->budget)
      printf(" OVER by %s", show_amount(spent - c->budget, amount));
  }
  printf("\n");
}

static bool command_month(Ledger *l, const Command *c) {
  long spent[MAX_CATEGORIES] = {0};
  bool used[MAX_CATEGORIES] = {false};
  long other = 0, total = 0, earned = 0;
  int year, month;
  char amount[32];
  const char *p = c->count == 2 ? c->words[1] : "";
  if (!parse_month(&p, &year, &month) || *p != '\0')
    return fail(l, "usage: month YYYY-MM");
  int first = day_of(year, month, 1);
  int last = first + days_in_month(year, month) - 1;
  for (int i = 0; i < l->entry_count; i++) {
    const Entry *e = &l->entries[i];
    if (e->day < first || e->day > last || e->voided)
      continue;
    if (l->accounts[e->from].type == INCOME)
      earned += e->cents;
    long cents = spending(l, e);
    total += cents;
    if (e->category < 0) {
      other += cents;
    } else {
      spent[e->category] += cents;
      used[e->category] = used[e->category] || cents != 0;
    }
  }
  for (int i = 0; i < l->category_count; i++)
    if (used[i] || l->categories[i].budget > 0)
      print_budget(&l->categories[i], spent[i]);
  if (other != 0)
    printf("%-12s %12s\n", "(none)", show_amount(other, amount));
  printf("%-12s %12s\n", "spent", show_amount(total, amount));
  printf("%-12s %12s\n", "earned", show_amount(earned, amount));
  printf("%-12s %12s\n", "saved", show_amount(earned - total, amount));
  return true;
}

// Larger amounts first, then earlier entries.
static int by_amount(const void *a, const void *b) {
  const Entry *const *x = a, *const *y = b;
  if ((*x)->cents != (*y)->cents)
    return (*x)->cents < (*y)->cents ? 1 : -1;
  return (*x)->id - (*y)->id;
}

static bool command_top(Ledger *l, const Command *c) {
  int first, last, n = 0;
  if (c->count != 4)
    return fail(l, "usage: top N DATE DATE");
  int wanted = atoi(c->words[1]);
  if (wanted < 1)
    return fail(l, "bad number %s", c->words[1]);
  if (!parse_span(l, c, 2, &first, &last))
    return false;
  const Entry **found = malloc((size_t)(l->entry_count + 1) * sizeof *found);
  if (!found)
    abort();
  for (int i = 0; i < l->entry_count; i++) {
    const Entry *e = &l->entries[i];
    if (e->day >= first && e->day <= last && !e->voided)
      found[n++] = e;
  }
  qsort(found, (size_t)n, sizeof *found, by_amount);
  for (int i = 0; i < n && i < wanted; i++)
    print_entry(l, found[i]);
  free(found);
  return true;
}

// Simple interest on the balance at the end of each day from the first up to,
// but without, the last. A leap year has 366 parts; halves are rounded up.
static bool command_interest(Ledger *l, const Command *c) {
  int account, first, last;
  long percent; // in hundredths
  char amount[32];
  if (c->count != 5)
    return fail(l, "usage: interest NAME PERCENT DATE DATE");
  if (!parse_account(l, c->words[1], &account) ||
      !parse_amount(l, c->words[2], &percent) ||
      !parse_span(l, c, 3, &first, &last))
    return false;
  if (percent > 10000 || percent < 0)
    return fail(l, "bad rate %s", c->words[2]);
  double sum = 0;
  for (int day = first; day < last; day++) {
    int year, month, day_in_month;
    split_day(day, &year, &month, &day_in_month);
    sum += (double)balance_on(l, account, day) * (double)percent / 10000 /
           days_in_year(year);
  }
  long cents = (long)(sum < 0 ? sum - 0.5 : sum + 0.5);
  printf("%d days: %s\n", last - first, show_amount(cents, amount));
  return true;
}

static bool command_find(Ledger *l, const Command *c) {
  int found = 0;
  if (c->count != 2)
    return fail(l, "usage: find WORD");
  for (int i = 0; i < l->entry_count; i++) {
    if (!strstr(l->entries[i].note, c->words[1]))
      continue;
    print_entry(l, &l->entries[i]);
    found++;
  }
  printf("%d found\n", found);
  return true;
}

static bool command_days(Ledger *l, const Command *c) {
  int first, last;
  if (c->count != 3)
    return fail(l, "usage: days DATE DATE");
  if (!parse_date(l, c->words[1], &first) || !parse_date(l, c->words[2], &last))
    return false;
  printf("%d\n", last - first);
  return true;
}

static bool command_weekday(Ledger *l, const Command *c) {
  static const char *const names[] = {"Monday",   "Tuesday", "Wednesday",
                                      "Thursday", "Friday",  "Saturday",
                                      "Sunday"};
  int day;
  if (c->count != 2)
    return fail(l, "usage: weekday DATE");
  if (!parse_date(l, c->words[1], &day))
    return false;
  printf("%s\n", names[day % 7]);
  return true;
}

// ---- Reading and running commands
// -----------------------------------------------

static const struct {
  const char *name;
  bool (*run)(Ledger *l, const Command *c);
} commands[] = {
    {"account", command_account},
    {"limit", command_limit},
    {"budget", command_budget},
    {"add", command_add},
    {"every", command_every},
    {"run", command_run},
    {"void", command_void},
    {"balance", command_balance},
    {"statement", command_statement},
    {"month", command_month},
    {"top", command_top},
    {"interest", command_interest},
    {"find", command_find},
    {"days", command_days},
    {"weekday", command_weekday},
};

static void run_line(Ledger *l, char *line) {
  Command c = {.count = 0};
  line[strcspn(line, "#")] = '\0';
  for (char *word = strtok(line, " \t"); word; word = strtok(NULL, " \t")) {
    if (c.count == MAX_WORDS) {
      fail(l, "too many words");
      return;
    }
    c.words[c.count++] = word;
  }
  if (c.count == 0)
    return;
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
    if (strcmp(commands[i].name, c.words[0]) == 0) {
      commands[i].run(l, &c);
      return;
    }
  }
  fail(l, "unknown command %s", c.words[0]);
}

// The next command of f or *text; false at the end.
static bool next_line(FILE *f, const char **text, char line[MAX_LINE]) {
  int len = 0, c = 0;
  for (;;) {
    c = f ? getc(f) : (unsigned char)**text;
    if (!f && c != '\0')
      ++*text;
    if (c == EOF || c == '\0' || c == '\n' || c == ';')
      break;
    if (len < MAX_LINE - 1)
      line[len++] = (char)c;
  }
  line[len] = '\0';
  return len > 0 || c == '\n' || c == ';';
}

static int run_all(Ledger *l, FILE *f, const char *text) {
  char line[MAX_LINE];
  while (next_line(f, &text, line)) {
    l->line++;
    run_line(l, line);
  }
  free(l->entries);
  return l->errors > 0;
}

int main(int argc, char **argv) {
  Ledger l = {.next_id = 1};
  const char *text = NULL, *path = NULL;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "-q") == 0) {
      l.quiet = true;
    } else if (strcmp(argv[i], "-e") == 0 && i + 1 < argc) {
      text = argv[++i];
    } else if (argv[i][0] == '-' || path) {
      printf("ledger: bad argument %s\n", argv[i]);
      return 2;
    } else {
      path = argv[i];
    }
  }
  if (text)
    return run_all(&l, NULL, text);
  FILE *f = path ? fopen(path, "r") : stdin;
  if (!f) {
    printf("ledger: cannot read %s\n", path);
    return 2;
  }
  int status = run_all(&l, f, NULL);
  if (path)
    fclose(f);
  return status;
}
