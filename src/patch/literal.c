// Constants as C writes them: see literal.h.
#include "patch/literal.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 80 };

// A copy that ends with NUL.
static bool copy(const char *text, size_t len, char *out) {
  if (!len || len >= LONGEST)
    return false;
  memcpy(out, text, len);
  out[len] = '\0';
  return true;
}

// --- reading ----------------------------------------------------------------

static bool escape_value(const char *text, int64_t *value) {
  static const char from[] = "abfnrtv\\'\"?e",
                    to[] = "\a\b\f\n\r\t\v\\'\"?\033";
  char *end;
  const char *at = strchr(from, *text);
  if (*text == 'x')
    *value = (signed char)strtol(text + 1, &end, 16);
  else if (*text >= '0' && *text <= '7')
    *value = (signed char)strtol(text, &end, 8);
  else if (*text && at)
    *value = to[at - from], end = (char *)text + 1;
  else
    return false;
  return !strcmp(end, "'");
}

static bool character_value(const char *text, int64_t *value) {
  if (text[1] == '\\')
    return escape_value(text + 2, value);
  *value = (signed char)text[1];
  return text[1] && text[2] == '\'' && !text[3];
}

bool literal_integer(const char *text, size_t len, int64_t *value) {
  char word[LONGEST], *end;
  if (!copy(text, len, word))
    return false;
  if (*word == '\'')
    return character_value(word, value);
  if (!isdigit((unsigned char)*word))
    return false;
  bool binary = text_starts(word, "0b") || text_starts(word, "0B");
  *value = (int64_t)strtoull(binary ? word + 2 : word, &end, binary ? 2 : 0);
  return strspn(end, "uUlL") == strlen(end);
}

bool literal_real(const char *text, size_t len, double *value) {
  char word[LONGEST], *end;
  if (!copy(text, len, word) ||
      (!isdigit((unsigned char)*word) && *word != '.'))
    return false;
  *value = strtod(word, &end);
  return end > word && strspn(end, "fFlL") == strlen(end);
}

// --- writing ----------------------------------------------------------------

static const char *suffix_of(const char *word, const char *letters) {
  const char *end = word + strlen(word);
  while (end > word && strchr(letters, end[-1]))
    end--;
  return end;
}

void literal_write(Str *out, int64_t value, const char *like, size_t len) {
  char word[LONGEST] = "";
  copy(like, len, word);
  bool hex = text_starts(word, "0x") || text_starts(word, "0X");
  const char *suffix =
      isdigit((unsigned char)*word) ? suffix_of(word, "uUlL") : "";
  uint64_t size = value < 0 ? -(uint64_t)value : (uint64_t)value;
  if (value < 0 && size == (uint64_t)1 << 63) {
    str_add(out, "(-9223372036854775807 - 1)");
    return;
  }
  if (value < 0)
    str_addc(out, '-');
  str_addf(out, hex ? "0x%llx" : "%llu", (unsigned long long)size);
  str_add(out, suffix);
}

void literal_write_real(Str *out, double value, const char *like, size_t len) {
  char word[LONGEST] = "", text[64];
  copy(like, len, word);
  for (int digits = 1; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, value);
    if (strtod(text, NULL) == value)
      break;
  }
  str_add(out, text);
  if (!strpbrk(text, ".en"))
    str_add(out, ".0");
  str_add(out, *word ? suffix_of(word, "fFlL") : "");
}
