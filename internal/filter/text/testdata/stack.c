/* gcc -g -O1 -pie -Wl,--build-id stack.c */
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static int ready[2];
static pid_t child;

/* The child examines this process once it is in a system call whose caller can be found,
   which is not so within clone3. */
static __attribute__((noinline)) int show(void) {
  int status;
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  if (write(ready[1], "", 1) != 1)
    return -1;
  waitpid(child, &status, 0);
  return status + 1;
}

static __attribute__((noinline)) int call(void) { return show() + 1; }

int main(void) {
  char byte, parent[16];
  snprintf(parent, sizeof parent, "%d", (int)getpid());
  if (pipe(ready) != 0 || (child = fork()) < 0)
    return 1;
  if (child == 0) {
    dup2(1, 2);
    if (read(ready[0], &byte, 1) == 1)
      execlp("eu-stack", "eu-stack", "-bm", "-p", parent, (char *)0);
    return 1;
  }
  return call() + 1;
}
