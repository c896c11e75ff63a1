#include <stdio.h>

#include "span.h"

extern int failures;

#define CHECK(e)                                                               \
  do {                                                                         \
    if (!(e)) {                                                                \
      failures++;                                                              \
      fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__, #e);    \
    }                                                                          \
  } while (0)

void parse_test(void);
void parse_nothing_test(void);
void length_test(void);
void meet_itself_test(void);
void meet_less_test(void);
void meet_none_test(void);
void meet_rest_test(void);
