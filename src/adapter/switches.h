// The switch that builds a project's tests, where its build directory lists
// none: an option of CMake or Meson whose name says test and which is off, or a
// variable of such a name that a CMakeLists.txt asks for and nothing sets.
#ifndef CULPRIT_ADAPTER_SWITCHES_H
#define CULPRIT_ADAPTER_SWITCHES_H

#include <stdbool.h>

#include "util/err.h"

typedef struct {
  char *name, *place;   // "BUILD_TESTING", "CMakeLists.txt:12"
  const char *on, *off; // its values
  bool declared;        // as an option; else it is only asked for
} TestSwitch;

// The switch in this build directory. False: there is none.
bool cmake_test_switch(const char *dir, TestSwitch *s);
bool meson_test_switch(const char *dir, TestSwitch *s);
void test_switch_release(TestSwitch *s);

// Fails with "ctest lists no tests in DIR; CMakeLists.txt:12 has option
// BUILD_TESTING: try `culprit run --build-option -DBUILD_TESTING=ON`" or,
// without such an option, with what else to do.
int cmake_lists_none(const char *dir, Err *err);
int meson_lists_none(const char *dir, Err *err);

// Has Meson configured this directory without any test?
bool meson_has_no_tests(const char *dir);

#endif
