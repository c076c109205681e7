/* clang -g -O1 -fsanitize=thread race.c */
#include <pthread.h>

int count, done;

static inline __attribute__((always_inline)) void increment(void) { count++; }

void *run(void *unused) {
  increment();
  __atomic_store_n(&done, 1, __ATOMIC_RELAXED); /* orders the writes, but not for the sanitizer */
  return unused;
}

int main(void) {
  pthread_t other;
  pthread_create(&other, 0, run, 0);
  while (!__atomic_load_n(&done, __ATOMIC_RELAXED))
    ;
  increment();
  pthread_join(other, 0);
  return 0;
}
