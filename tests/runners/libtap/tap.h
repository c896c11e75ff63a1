// A stand-in for libtap: every check is a line of TAP.
int ok_at_loc(const char *file, int line, int test, const char *format, ...);
int is_at_loc(const char *file, int line, const char *got, const char *expected,
              const char *format, ...);
int cmp_ok_at_loc(const char *file, int line, int a, const char *op, int b,
                  const char *format, ...);
void tap_plan(int tests, const char *format, ...);
int exit_status(void);

#define plan(n) tap_plan((n), 0)
#define ok(test, ...) ok_at_loc(__FILE__, __LINE__, !!(test), __VA_ARGS__)
#define is(got, expected, ...)                                                 \
  is_at_loc(__FILE__, __LINE__, (got), (expected), __VA_ARGS__)
#define cmp_ok(a, op, b, ...)                                                  \
  cmp_ok_at_loc(__FILE__, __LINE__, (a), (op), (b), __VA_ARGS__)
#define done_testing() return exit_status()
