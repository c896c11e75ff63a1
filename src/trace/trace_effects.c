// What functions of the C library write: see trace_effects.h.
#include "trace/trace_effects.h"

#include <stdlib.h>
#include <string.h>

// In alphabetical order.
static const TraceEffect effects[] = {
    {"__asprintf_chk", EFFECT_NEW_TEXT, 0, -1},
    {"__fgets_chk", EFFECT_TEXT_IF_SET, 0, -1},
    {"__fgets_unlocked_chk", EFFECT_TEXT_IF_SET, 0, -1},
    {"__fread_chk", EFFECT_BYTES, 0, 2},
    {"__fread_unlocked_chk", EFFECT_BYTES, 0, 2},
    {"__getcwd_chk", EFFECT_TEXT_IF_SET, 0, -1},
    {"__getdelim", EFFECT_LINE, 0, -1},
    {"__isoc23_strtol", EFFECT_POINTER, 1, -1},
    {"__isoc23_strtoll", EFFECT_POINTER, 1, -1},
    {"__isoc23_strtoul", EFFECT_POINTER, 1, -1},
    {"__isoc23_strtoull", EFFECT_POINTER, 1, -1},
    {"__pread_chk", EFFECT_BYTES, 1, -1},
    {"__read_chk", EFFECT_BYTES, 1, -1},
    {"__realpath_chk", EFFECT_TEXT_IF_SET, 1, -1},
    {"__recv_chk", EFFECT_BYTES, 1, -1},
    {"__snprintf_chk", EFFECT_SIZED_TEXT, 0, 1},
    {"__sprintf_chk", EFFECT_TEXT, 0, -1},
    {"__strtol_internal", EFFECT_POINTER, 1, -1},
    {"__vasprintf_chk", EFFECT_NEW_TEXT, 0, -1},
    {"__vsnprintf_chk", EFFECT_SIZED_TEXT, 0, 1},
    {"__vsprintf_chk", EFFECT_TEXT, 0, -1},
    {"asprintf", EFFECT_NEW_TEXT, 0, -1},
    {"fgets", EFFECT_TEXT_IF_SET, 0, -1},
    {"fgets_unlocked", EFFECT_TEXT_IF_SET, 0, -1},
    {"fread", EFFECT_BYTES, 0, 1},
    {"fread_unlocked", EFFECT_BYTES, 0, 1},
    {"getcwd", EFFECT_TEXT_IF_SET, 0, -1},
    {"getdelim", EFFECT_LINE, 0, -1},
    {"getline", EFFECT_LINE, 0, -1},
    {"pread", EFFECT_BYTES, 1, -1},
    {"pread64", EFFECT_BYTES, 1, -1},
    {"qsort", EFFECT_ARRAY, 0, 2},
    {"qsort_r", EFFECT_ARRAY, 0, 2},
    {"read", EFFECT_BYTES, 1, -1},
    {"realpath", EFFECT_TEXT_IF_SET, 1, -1},
    {"recv", EFFECT_BYTES, 1, -1},
    {"snprintf", EFFECT_SIZED_TEXT, 0, 1},
    {"sprintf", EFFECT_TEXT, 0, -1},
    {"strftime", EFFECT_BYTES, 0, -1},
    {"strsep", EFFECT_POINTER, 0, -1},
    {"strtod", EFFECT_POINTER, 1, -1},
    {"strtof", EFFECT_POINTER, 1, -1},
    {"strtol", EFFECT_POINTER, 1, -1},
    {"strtold", EFFECT_POINTER, 1, -1},
    {"strtoll", EFFECT_POINTER, 1, -1},
    {"strtoul", EFFECT_POINTER, 1, -1},
    {"strtoull", EFFECT_POINTER, 1, -1},
    {"vasprintf", EFFECT_NEW_TEXT, 0, -1},
    {"vsnprintf", EFFECT_SIZED_TEXT, 0, 1},
    {"vsprintf", EFFECT_TEXT, 0, -1},
};

static int by_name(const void *name, const void *effect) {
  return strcmp(name, ((const TraceEffect *)effect)->name);
}

const TraceEffect *trace_effect(const char *name) {
  return bsearch(name, effects, sizeof effects / sizeof *effects,
                 sizeof *effects, by_name);
}
