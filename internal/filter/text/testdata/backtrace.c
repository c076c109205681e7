/* gcc -g -O1 backtrace.c, with and without -no-pie */
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>

static __attribute__((noreturn, noinline)) void fail(void) {
  void *stack[16];
  int n = backtrace(stack, 16);
  backtrace_symbols_fd(stack, n, 2);
  for (int i = 0; i < n; i++) /* as Chromium does */
    fprintf(stderr, "#%d %p <unknown>\n", i, stack[i]);
  for (int i = 0; i < n; i++) /* as Rust does */
    fprintf(stderr, "%4d: %18p - <unknown>\n", i, stack[i]);
  exit(0);
}

/* The return address of its call is that of the next function. */
static __attribute__((noinline)) void last(void) { fail(); }

int main(void) {
  char text[4096];
  size_t n;
  FILE *maps = fopen("/proc/self/maps", "r");
  while ((n = fread(text, 1, sizeof text, maps)) > 0)
    fwrite(text, 1, n, stderr);
  last();
  return 0;
}
