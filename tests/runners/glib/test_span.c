#include <glib.h>

#include "span.h"

static void reading(void) {
  Span s;
  g_assert_true(span_parse("3-7", &s));
  g_assert_cmpint(s.to, ==, 7);
}

static void length(void) {
  g_assert_cmpint(span_length((Span){2, 2}), ==, 1);
}

static void having(gconstpointer number) {
  g_assert_true(span_has((Span){2, 5}, GPOINTER_TO_INT(number)));
}

static void later(void) { g_test_skip("not written yet"); }

static void meeting_itself(void) {
  g_assert_cmpint(span_meet((Span){2, 5}, (Span){2, 5}).to, ==, 5);
}

static void meeting_the_rest(void) {
  g_assert_cmpint(span_meet((Span){2, 5}, (Span){4, 9}).from, ==, 4);
}

static void meeting_less(void) {
  g_assert_cmpint(span_meet((Span){2, 5}, (Span){2, 4}).to, ==, 4);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/span/reading", reading);
  g_test_add_func("/span/length", length);
  g_test_add_data_func("/span/having/2", GINT_TO_POINTER(2), having);
  g_test_add_data_func("/span/having/5", GINT_TO_POINTER(5), having);
  g_test_add_func("/span/later", later);
  g_test_add_func("/span/meeting/itself", meeting_itself);
  g_test_add_func("/span/meeting/the_rest", meeting_the_rest);
  g_test_add_func("/span/meeting/less", meeting_less);
  return g_test_run();
}
