/* gcc -g -O1 -pie -Wl,--build-id stack.c */
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static __attribute__((noinline)) int show(void) {
  char command[64];
  snprintf(command, sizeof command, "eu-stack -bm -p %d 2>&1", (int)getpid());
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  return system(command) + 1;
}

static __attribute__((noinline)) int call(void) { return show() + 1; }

int main(void) { return call() + 1; }
