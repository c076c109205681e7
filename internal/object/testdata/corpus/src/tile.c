#include "tile.h"

volatile int sink;

__attribute__((cold, noinline)) int crack(int at) {
	sink = -at;
	return sink;
}

static __attribute__((noinline)) int stack(struct tile *t, int n) {
	int sum = 0;
	for (int i = 0; i < n; i++) {
		sum += bake(&t[i], i);
		if (__builtin_expect(sum > 4096, 0))
			sink = crack(sum) + crack(i);
	}
	return sum;
}

int fire(struct tile *t, int n) {
	int r = stack(t, n);
	for (int i = 0; i + 1 < n; i++)
		r ^= bake(&t[i], r & 15) + sink;
	return r;
}

int start(void) {
	static struct tile t[4];
	return fire(t, 4) + sort_out(sink, 2);
}
