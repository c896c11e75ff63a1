// stats: statistics over a table of numbers read from standard input.
//
//   stats [-s CHAR] [-p DIGITS] [-t] COMMAND [ARGUMENT...]
//
//   summary           all columns: number, missing, range, mean, deviation
//   mean|var|sd|median|mode|iqr COL
//   quantile COL P... with linear interpolation between neighbours
//   corr A B          correlation of values (Pearson) and ranks (Spearman)
//   table A B         contingency table, chi-square and information measure
//   hist COL BINS [LOW HIGH]
//
// Columns are separated by blanks or by the character given with -s; COL is a
// number from 1 or a name from the heading. `#` starts a comment. A field
// that is empty, `-` or `NA` is a missing value. -p sets the digits printed
// after the point (4), -t takes the data as the total population, not as a
// sample. Status: 0 success, 1 wrong data, 2 wrong usage.

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COLS = 12, MAX_NAME = 16, MAX_LINE = 512, MAX_CATEGORIES = 8 };
enum { BAR_WIDTH = 40 };

typedef struct {
  double *cells; // row by row; a NAN is a missing value
  int rows, cols, room;
  bool named;
  char names[MAX_COLS][MAX_NAME];
} Table;

// The values of one column without the missing ones.
typedef struct {
  double *v;
  int n;
} Series;

static char separator = 0; // 0: any blanks
static int digits = 4;
static bool population = false;

static void fail(int status, const char *what, const char *subject) {
  printf("error: %s%s%s\n", what, *subject ? ": " : "", subject);
  exit(status);
}

static void *allocate(size_t count, size_t size) {
  void *p = calloc(count ? count : 1, size);
  if (!p)
    fail(1, "out of memory", "");
  return p;
}

// ---- reading the table ----

static void trim_end(char *s) {
  size_t n = strlen(s);
  while (n > 0 && isspace((unsigned char)s[n - 1]))
    s[--n] = 0;
}

// Cuts `line` into fields in place and returns how many there are.
static int split_fields(char *line, char **field) {
  const char *ends = separator ? (char[]){separator, 0} : " \t";
  char *s = line + strspn(line, " \t");
  int n = 0;
  for (bool more = *s != 0; more;) {
    if (n == MAX_COLS)
      fail(1, "too many columns", "");
    field[n++] = s;
    s += strcspn(s, ends);
    more = *s != 0;
    if (more)
      *s++ = 0;
    trim_end(field[n - 1]);
    s += strspn(s, " \t");
  }
  return n;
}

static bool is_missing(const char *s) {
  return *s == 0 || strcmp(s, "-") == 0 || strcmp(s, "NA") == 0;
}

// Only decimal numbers up to 1e15: strtod alone would take hexadecimal, inf
// and nan.
static bool parse_number(const char *s, double *value) {
  char *end;
  if (*s == 0 || s[strspn(s, "+-.0123456789eE")] != 0)
    return false;
  *value = strtod(s, &end);
  return *end == 0 && fabs(*value) <= 1e15;
}

static bool is_heading(char **field, int n) {
  double ignored;
  while (n > 0 && (is_missing(field[n - 1]) ||
                   parse_number(field[n - 1], &ignored)))
    n--;
  return n > 0;
}

static void take_heading(Table *t, char **field, int n) {
  t->named = true;
  t->cols = n;
  for (int i = 0; i < n; i++) {
    if (strlen(field[i]) >= MAX_NAME)
      fail(1, "name too long", field[i]);
    strcpy(t->names[i], field[i]);
  }
}

static void take_row(Table *t, char **field, int n, int line_number) {
  char place[32];
  snprintf(place, sizeof place, "line %d", line_number);
  if (t->cols == 0)
    t->cols = n;
  if (n != t->cols)
    fail(1, "wrong number of columns", place);
  if (t->rows == t->room) {
    t->room = t->room ? 2 * t->room : 8;
    size_t size = sizeof(double) * (size_t)t->room * (size_t)t->cols;
    t->cells = realloc(t->cells, size);
    if (!t->cells)
      fail(1, "out of memory", "");
  }
  double *row = t->cells + t->rows * t->cols;
  for (int i = 0; i < n; i++) {
    if (is_missing(field[i]))
      row[i] = NAN;
    else if (!parse_number(field[i], &row[i]))
      fail(1, "not a number", place);
  }
  t->rows++;
}

static void table_read(Table *t, FILE *in) {
  char line[MAX_LINE];
  char *field[MAX_COLS];
  for (int number = 1; fgets(line, sizeof line, in); number++) {
    if (strlen(line) == sizeof line - 1)
      fail(1, "line too long", "");
    line[strcspn(line, "#\r\n")] = 0;
    trim_end(line);
    int n = split_fields(line, field);
    if (n == 0)
      continue;
    if (t->cols == 0 && is_heading(field, n))
      take_heading(t, field, n);
    else
      take_row(t, field, n, number);
  }
  if (t->rows == 0)
    fail(1, "no data", "");
}

static double cell(const Table *t, int row, int col) {
  return t->cells[row * t->cols + col];
}

// The column that an argument names, by heading or by number from 1.
static int find_column(const Table *t, const char *name) {
  if (t->named)
    for (int i = 0; i < t->cols; i++)
      if (strcmp(t->names[i], name) == 0)
        return i;
  char *end;
  long number = strtol(name, &end, 10);
  if (*name == 0 || *end != 0 || number < 1 || number > t->cols)
    fail(2, "no such column", name);
  return (int)number - 1;
}

static Series column_series(const Table *t, int col) {
  Series s = {allocate((size_t)t->rows, sizeof(double)), 0};
  for (int r = 0; r < t->rows; r++)
    if (!isnan(cell(t, r, col)))
      s.v[s.n++] = cell(t, r, col);
  return s;
}

// The rows in which neither of two columns is missing.
static int paired_series(const Table *t, int a, int b, Series *x, Series *y) {
  *x = (Series){allocate((size_t)t->rows, sizeof(double)), 0};
  *y = (Series){allocate((size_t)t->rows, sizeof(double)), 0};
  for (int r = 0; r < t->rows; r++) {
    if (isnan(cell(t, r, a)) || isnan(cell(t, r, b)))
      continue;
    x->v[x->n++] = cell(t, r, a);
    y->v[y->n++] = cell(t, r, b);
  }
  return x->n;
}

// ---- measures of one series; NAN if there are too few values ----

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void series_sort(Series s) {
  qsort(s.v, (size_t)s.n, sizeof(double), compare_doubles);
}

static double series_mean(Series s) {
  double sum = 0;
  for (int i = 0; i < s.n; i++)
    sum += s.v[i];
  return s.n > 0 ? sum / s.n : NAN;
}

static double squared_deviations(Series s) {
  double mean = series_mean(s), sum = 0;
  for (int i = 0; i < s.n; i++)
    sum += (s.v[i] - mean) * (s.v[i] - mean);
  return sum;
}

static double series_variance(Series s) {
  int freedom = population ? s.n : s.n - 1;
  return freedom > 0 ? squared_deviations(s) / freedom : NAN;
}

// The quantile of a sorted series, for 0 <= p <= 1.
static double series_quantile(Series s, double p) {
  if (s.n == 0)
    return NAN;
  double position = p * (s.n - 1);
  int below = (int)floor(position);
  if (below + 1 >= s.n)
    return s.v[s.n - 1];
  double share = position - below;
  return s.v[below] + share * (s.v[below + 1] - s.v[below]);
}

// The most frequent value of a sorted series, the least one if several are.
static double series_mode(Series s) {
  double mode = NAN;
  int most = 0;
  for (int i = 0; i < s.n;) {
    int run = 1;
    while (i + run < s.n && s.v[i + run] == s.v[i])
      run++;
    if (run > most) {
      most = run;
      mode = s.v[i];
    }
    i += run;
  }
  return mode;
}

// ---- measures of two series ----

static double correlation(Series x, Series y) {
  double mx = series_mean(x), my = series_mean(y), sum = 0;
  double spread = squared_deviations(x) * squared_deviations(y);
  for (int i = 0; i < x.n; i++)
    sum += (x.v[i] - mx) * (y.v[i] - my);
  return spread > 0 ? sum / sqrt(spread) : NAN;
}

// The rank of every value from 1; equal values share their mean rank.
static Series series_ranks(Series s) {
  Series ranks = {allocate((size_t)s.n, sizeof(double)), s.n};
  for (int i = 0; i < s.n; i++) {
    int smaller = 0, equal = 0;
    for (int j = 0; j < s.n; j++) {
      if (s.v[j] < s.v[i])
        smaller++;
      else if (s.v[j] == s.v[i])
        equal++;
    }
    ranks.v[i] = smaller + (equal + 1) / 2.0;
  }
  return ranks;
}

// ---- contingency tables ----

typedef struct {
  double rows[MAX_CATEGORIES], cols[MAX_CATEGORIES]; // the values, ascending
  int nrows, ncols, total;
  int count[MAX_CATEGORIES][MAX_CATEGORIES];
  int row_sum[MAX_CATEGORIES], col_sum[MAX_CATEGORIES];
} Contingency;

// Collects the different values of a series and returns how many there are.
static int categories(Series s, double *value) {
  Series sorted = {allocate((size_t)s.n, sizeof(double)), s.n};
  memcpy(sorted.v, s.v, sizeof(double) * (size_t)s.n);
  series_sort(sorted);
  int n = 0;
  for (int i = 0; i < sorted.n; i++) {
    if (n > 0 && value[n - 1] == sorted.v[i])
      continue;
    if (n == MAX_CATEGORIES)
      fail(1, "too many categories", "");
    value[n++] = sorted.v[i];
  }
  free(sorted.v);
  return n;
}

static int category_of(const double *value, int n, double x) {
  int i = 0;
  while (i < n - 1 && value[i] != x)
    i++;
  return i;
}

static void contingency_build(Contingency *c, Series x, Series y) {
  memset(c, 0, sizeof *c);
  c->nrows = categories(x, c->rows);
  c->ncols = categories(y, c->cols);
  for (int i = 0; i < x.n; i++) {
    int row = category_of(c->rows, c->nrows, x.v[i]);
    int col = category_of(c->cols, c->ncols, y.v[i]);
    c->count[row][col]++;
    c->row_sum[row]++;
    c->col_sum[col]++;
    c->total++;
  }
}

static double contingency_chi_square(const Contingency *c) {
  double sum = 0;
  for (int i = 0; i < c->nrows; i++)
    for (int j = 0; j < c->ncols; j++) {
      double expected = (double)c->row_sum[i] * c->col_sum[j] / c->total;
      double d = c->count[i][j] - expected;
      sum += d * d / expected;
    }
  return sum;
}

// Kullback's information about independence, in nats. Empty cells add nothing.
static double contingency_information(const Contingency *c) {
  double sum = 0;
  for (int i = 0; i < c->nrows; i++)
    for (int j = 0; j < c->ncols; j++) {
      double n = c->count[i][j];
      if (n > 0)
        sum += n * log(n * c->total / c->row_sum[i] / c->col_sum[j]);
    }
  return sum;
}

// The upper incomplete gamma function Q(a, x), by the series for small x and
// by Lentz's continued fraction for large x.
static double gamma_q(double a, double x) {
  if (x <= 0)
    return 1;
  double scale = exp(a * log(x) - x - lgamma(a));
  if (x < a + 1) {
    double term = 1 / a, sum = term;
    for (int i = 1; i < 500 && term > sum * 1e-15; i++) {
      term *= x / (a + i);
      sum += term;
    }
    return 1 - scale * sum;
  }
  double b = x + 1 - a, c = 1e300, d = 1 / b, h = d;
  for (int i = 1; i < 500; i++) {
    double an = i * (a - i);
    b += 2;
    d = 1 / (an * d + b);
    c = b + an / c;
    h *= d * c;
    if (fabs(d * c - 1) < 1e-15)
      break;
  }
  return scale * h;
}

// ---- output ----

static void print_number(double x) {
  char text[400];
  if (isnan(x)) {
    printf("undefined");
    return;
  }
  snprintf(text, sizeof text, "%.*f", digits, x);
  // A small negative number must not become -0.0000.
  bool zero = text[strspn(text, "-0.")] == 0;
  printf("%s", text + (zero && text[0] == '-'));
}

static void print_result(const char *name, double x) {
  printf("%s ", name);
  print_number(x);
  printf("\n");
}

static void print_column_name(const Table *t, int col) {
  if (t->named)
    printf("%s", t->names[col]);
  else
    printf("%d", col + 1);
}

// ---- commands ----

static void run_summary(const Table *t) {
  for (int col = 0; col < t->cols; col++) {
    Series s = column_series(t, col);
    double least = NAN, greatest = NAN;
    for (int i = 0; i < s.n; i++) {
      if (i == 0 || s.v[i] < least)
        least = s.v[i];
      if (i == 0 || s.v[i] > greatest)
        greatest = s.v[i];
    }
    print_column_name(t, col);
    printf(" n %d missing %d\n", s.n, t->rows - s.n);
    print_result("  least", least);
    print_result("  greatest", greatest);
    print_result("  mean", series_mean(s));
    print_result("  deviation", sqrt(series_variance(s)));
    free(s.v);
  }
}

// The commands with a single column and no further argument.
static void run_simple(const Table *t, const char *command, const char *col) {
  Series s = column_series(t, find_column(t, col));
  double x = NAN;
  series_sort(s);
  if (strcmp(command, "mean") == 0)
    x = series_mean(s);
  else if (strcmp(command, "var") == 0)
    x = series_variance(s);
  else if (strcmp(command, "sd") == 0)
    x = sqrt(series_variance(s));
  else if (strcmp(command, "median") == 0)
    x = series_quantile(s, 0.5);
  else if (strcmp(command, "mode") == 0)
    x = series_mode(s);
  else if (strcmp(command, "iqr") == 0)
    x = series_quantile(s, 0.75) - series_quantile(s, 0.25);
  else
    fail(2, "no such command", command);
  print_result(command, x);
  free(s.v);
}

static double number_argument(const char *text, double low, double high) {
  double x;
  if (!parse_number(text, &x) || x < low || x > high)
    fail(2, "bad argument", text);
  return x;
}

static void run_quantile(const Table *t, char **args, int n) {
  Series s = column_series(t, find_column(t, args[0]));
  series_sort(s);
  for (int i = 1; i < n; i++)
    print_result(args[i], series_quantile(s, number_argument(args[i], 0, 1)));
  free(s.v);
}

static void run_corr(const Table *t, char **args) {
  Series x, y;
  int a = find_column(t, args[0]), b = find_column(t, args[1]);
  printf("pairs %d\n", paired_series(t, a, b, &x, &y));
  Series rx = series_ranks(x), ry = series_ranks(y);
  print_result("pearson", correlation(x, y));
  print_result("spearman", correlation(rx, ry));
  free(rx.v);
  free(ry.v);
  free(x.v);
  free(y.v);
}

static void print_contingency(const Contingency *c) {
  for (int i = 0; i < c->nrows; i++) {
    printf("%g:", c->rows[i]);
    for (int j = 0; j < c->ncols; j++)
      printf(" %d", c->count[i][j]);
    printf(" | %d\n", c->row_sum[i]);
  }
  printf("all:");
  for (int j = 0; j < c->ncols; j++)
    printf(" %d", c->col_sum[j]);
  printf(" | %d\n", c->total);
}

static void run_table(const Table *t, char **args) {
  Series x, y;
  Contingency c;
  int a = find_column(t, args[0]), b = find_column(t, args[1]);
  if (paired_series(t, a, b, &x, &y) == 0)
    fail(1, "no pairs", "");
  contingency_build(&c, x, y);
  print_contingency(&c);
  int freedom = (c.nrows - 1) * (c.ncols - 1);
  double chi = contingency_chi_square(&c);
  double info = contingency_information(&c);
  printf("freedom %d\n", freedom);
  print_result("chi-square", chi);
  print_result("information", info);
  if (freedom > 0) {
    print_result("p(chi-square)", gamma_q(freedom / 2.0, chi / 2));
    print_result("p(information)", gamma_q(freedom / 2.0, info));
    int least = c.nrows < c.ncols ? c.nrows : c.ncols;
    print_result("cramer", sqrt(chi / (c.total * (least - 1.0))));
  }
  free(x.v);
  free(y.v);
}

static void print_bar(double low, int count, int most) {
  int width = count;
  if (most > BAR_WIDTH)
    width = (count * BAR_WIDTH + most - 1) / most;
  print_number(low);
  printf(" %d ", count);
  for (int i = 0; i < width; i++)
    putchar('#');
  printf("\n");
}

static void run_hist(const Table *t, char **args, int n) {
  Series s = column_series(t, find_column(t, args[0]));
  int bins = (int)number_argument(args[1], 1, 50);
  series_sort(s);
  if (s.n == 0)
    fail(1, "no values", "");
  double low = s.v[0], high = s.v[s.n - 1];
  if (n == 4) {
    low = number_argument(args[2], -1e9, 1e9);
    high = number_argument(args[3], low, 1e9);
  }
  int *count = allocate((size_t)bins, sizeof(int));
  int below = 0, above = 0, most = 0;
  double width = (high - low) / bins;
  for (int i = 0; i < s.n; i++) {
    if (s.v[i] < low) {
      below++;
    } else if (s.v[i] > high) {
      above++;
    } else {
      // The greatest value belongs to the last bin.
      int bin = width > 0 ? (int)((s.v[i] - low) / width) : 0;
      if (bin >= bins)
        bin = bins - 1;
      if (++count[bin] > most)
        most = count[bin];
    }
  }
  for (int i = 0; i < bins; i++)
    print_bar(low + i * width, count[i], most);
  if (below + above > 0)
    printf("below %d above %d\n", below, above);
  free(count);
  free(s.v);
}

static void run_command(const Table *t, const char *command, char **args,
                        int n) {
  if (strcmp(command, "summary") == 0 && n == 0)
    run_summary(t);
  else if (strcmp(command, "quantile") == 0 && n >= 2)
    run_quantile(t, args, n);
  else if (strcmp(command, "corr") == 0 && n == 2)
    run_corr(t, args);
  else if (strcmp(command, "table") == 0 && n == 2)
    run_table(t, args);
  else if (strcmp(command, "hist") == 0 && (n == 2 || n == 4))
    run_hist(t, args, n);
  else if (n == 1)
    run_simple(t, command, args[0]);
  else
    fail(2, "wrong command or number of arguments", command);
}

// Reads the options and returns the index of the first other argument.
static int read_options(int argc, char **argv) {
  int i = 1;
  for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
    if (strcmp(argv[i], "-t") == 0) {
      population = true;
      continue;
    }
    const char *value = i + 1 < argc ? argv[i + 1] : "";
    if (strcmp(argv[i], "-s") == 0 && strlen(value) == 1 && *value != ' ')
      separator = value[0];
    else if (strcmp(argv[i], "-p") == 0)
      digits = (int)number_argument(value, 0, 12);
    else
      fail(2, "bad option", argv[i]);
    i++;
  }
  return i;
}

int main(int argc, char **argv) {
  Table t = {0};
  int first = read_options(argc, argv);
  if (first >= argc)
    fail(2, "no command", "");
  table_read(&t, stdin);
  run_command(&t, argv[first], argv + first + 1, argc - first - 1);
  free(t.cells);
  return 0;
}
