// One source file as it would be with a change, while the file itself stays as
// it is: patch/patch_build.h has a unit compiled so. The environment tells the
// compiler about it:
//
//   CULPRIT_CHANGED=/src/list.c        absolute
//   CULPRIT_CHANGED_TEXT=/tmp/x/text   what stands in it
//
// Everything that reads sources asks here first. clang itself reads the changed
// text through an overlay (contract/overlay.h).
#ifndef CULPRIT_COMPILE_CHANGED_FILE_H
#define CULPRIT_COMPILE_CHANGED_FILE_H

#define CHANGED_VARIABLE "CULPRIT_CHANGED"
#define CHANGED_TEXT_VARIABLE "CULPRIT_CHANGED_TEXT"

// The file to read instead of `path`; mostly `path` itself.
const char *changed_file_of(const char *path);
// The file that is changed; NULL: none is. `text`: where its text stands.
const char *changed_file(const char **text);

#endif
