#include <stdio.h>
#include <stdlib.h>
#include "loom.h"

static volatile int sink;

__attribute__((cold, noinline)) int snapped(int at) {
	fprintf(stderr, "snapped at %d\n", at);
	return -at;
}

/* loosen stays a function; what it calls is inlined twice deep. */
static __attribute__((noinline)) int loosen(struct thread *t, int n) {
	int sum = 0;
	for (int i = 0; i < n; i++) {
		sum += knot(&t[i], i);
		if (__builtin_expect(sum > 1 << 20, 0)) {
			fputs("too much\n", stderr);
			if (sum & 1)
				abort();
			exit(sum & 3);
		}
	}
	return sum;
}

static int twist(struct thread *t, int by) {
	int a = knot(t, by) ^ knot(t, by + 1);
	if (a & 4)
		a += pull(t, 2);
	return a;
}

int weave(struct thread *t, int n) {
	int r = loosen(t, n);
	for (int i = 0; i + 1 < n; i++) {
		r += twist(&t[i], r & 15);
		r ^= twist(&t[i + 1], sink);
	}
	return r;
}

static int fold(int depth) {
	if (depth <= 0)
		return sink;
	return fold(depth - 1) + fold(depth - 2);
}

int main(int argc, char **argv) {
	struct thread t[8] = {{argc, 0}};
	(void)argv;
	sink = argc;
	int r = weave(t, 8) + pattern(argc, 4) + fold(argc + 3);
	printf("%d\n", r);
	return r == 42;
}
