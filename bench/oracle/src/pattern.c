#include <string.h>
#include "loom.h"

static const char *const names[] = {"plain", "twill", "satin", "leno", "pile"};

static inline __attribute__((always_inline)) int twill(int x, int over) {
	int r = 0;
	for (int i = 0; i < over; i++) {
		r = r * 31 + x;
		x >>= 1;
	}
	return r;
}

static int satin(struct thread *t, int x) {
	return pull(t, twill(x, 5)) + twill(x + 1, 2);
}

/* The same body twice: linkers may fold them. */
int leno_left(int x) { return x * 7 + 3; }
int leno_right(int x) { return x * 7 + 3; }
extern int leno_again(int) __attribute__((alias("leno_left")));

int pattern(int kind, int x) {
	struct thread t = {x, 0};
	switch (kind) {
	case 0: return twill(x, 3);
	case 1: return satin(&t, x);
	case 2: return satin(&t, x + 1) - twill(kind, x);
	case 3: return (int)strlen(names[x % 5]);
	case 4: return knot(&t, x) * knot(&t, 3);
	case 5: return leno_left(x) ^ leno_right(kind);
	case 9: return snapped(x);
	default: return kind > 100 ? twill(kind, 9) : -1;
	}
}
