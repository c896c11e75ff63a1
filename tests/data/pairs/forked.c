// A forked child: what it does is its own, what it got is its parent's.
#include <sys/wait.h>
#include <unistd.h>
static int cell;
int main(void) {
  cell = 1;                       // [one]
  pid_t child = fork();           // [fork]
  if (child == 0) {               // <- fork
    cell += 2;                    // [two] <- one
    _exit(cell);                  // <- two
  }
  int status = 0;                 // [zero]
  waitpid(child, &status, 0);     // <- fork
  cell += 3;                      // [three] <- one
  return cell;                    // <- three
}
