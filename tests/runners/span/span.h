// Spans of whole numbers: what the tests of several frameworks look at.
typedef struct {
  int from, to; // both belong to it; nothing does if from > to
} Span;

int span_parse(const char *text, Span *out); // "3-7"; 0: it is none
int span_length(Span s);
int span_has(Span s, int number);
Span span_meet(Span a, Span b);
