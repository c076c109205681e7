#include "tile.h"

static inline __attribute__((always_inline)) int glaze(int x, int coats) {
	int r = 0;
	for (int i = 0; i < coats; i++)
		r = r * 31 + (x >> i);
	return r;
}

/* Two functions of the same code. */
int left(int x) { return x * 7 + 3; }
int right(int x) { return x * 7 + 3; }

int sort_out(int kind, int x) {
	struct tile t = {x, kind};
	switch (kind) {
	case 0: return glaze(x, 3);
	case 1: return bake(&t, glaze(x, 2));
	case 2: return left(x) - glaze(kind, x);
	case 5: return crack(x);
	default: return kind > 9 ? warm(&t, kind) : right(x);
	}
}
