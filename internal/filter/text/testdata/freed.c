/* clang -g -O1 -fsanitize=address freed.c */
#include <stdlib.h>

static inline __attribute__((always_inline)) int load(volatile int *p) { return p[0]; }

__attribute__((noinline)) int next(volatile int *p) { return load(p) + 1; }

int main(void) {
  int *p = malloc(8);
  free(p);
  return next(p);
}
