// The switch that builds a project's tests, where its build directory lists
// none: an option of CMake or Meson whose name says test and which is off.
#ifndef CULPRIT_ADAPTER_SWITCHES_H
#define CULPRIT_ADAPTER_SWITCHES_H

#include "util/err.h"

// Fails with "ctest lists no tests in DIR; CMakeLists.txt:12 has option
// BUILD_TESTING: try `culprit run --build-option -DBUILD_TESTING=ON`" or,
// without such an option, with what else to do.
int cmake_lists_none(const char *dir, Err *err);
int meson_lists_none(const char *dir, Err *err);

// The option of the project's that builds its tests and is off in this build
// directory of CMake. Caller frees; NULL: none.
char *cmake_test_switch(const char *dir);

#endif
