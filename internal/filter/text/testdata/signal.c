/* gcc -g -O1 -static-pie signal.c, so that __restore_rt is in the program */
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void handle(int number) {
  void *stack[16];
  int n = backtrace(stack, 16);
  for (int i = 0; i < n; i++) /* as Chromium does */
    fprintf(stderr, "#%d %p <unknown>\n", i, stack[i]);
  _exit(number);
}

/* The signal is that of its first instruction. */
static __attribute__((noinline)) void fail(volatile int *p) { *p = 1; }

int main(void) {
  char text[4096];
  size_t n;
  FILE *maps = fopen("/proc/self/maps", "r");
  while ((n = fread(text, 1, sizeof text, maps)) > 0)
    fwrite(text, 1, n, stderr);
  signal(SIGSEGV, handle);
  fail((int *)16);
  return 0;
}
