#include "quarry.h"

static inline int wheel(int x, int turns) {
	int r = hauled;
	for (int i = 0; i < turns; i++)
		r = r * 31 + x;
	return r;
}

static inline int axle(int x) {
	int a = wheel(x, 2);
	return a & 1 ? wheel(a, 3) : a;
}

int haul(int load, ...) {
	__builtin_va_list list;
	int sum = 0;
	__builtin_va_start(list, load);
	for (int i = 0; i < load; i++)
		sum += axle(__builtin_va_arg(list, int));
	__builtin_va_end(list);
	return sum;
}

/* The same bodies as in another unit. */
int cart_load(int x) { return x * 9 + 4; }
static __attribute__((noinline)) int __stdcall brake(int x) { return x > hauled ? -x : axle(x); }
static __attribute__((noinline)) int __fastcall slope(int x, int y) { return x * y - brake(y); }

int tip(int kind, int x) {
	switch (kind) {
	case 0: return wheel(x, 9);
	case 1: return axle(x) - axle(kind);
	case 2: return cart_load(x);
	case 3: return slope(x, kind);
	default: return kind > 40 ? tip(kind / 2, x) : brake(x);
	}
}
