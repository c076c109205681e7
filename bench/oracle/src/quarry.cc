#include "quarry.h"

extern "C" {
volatile int hauled = 1;
int _fltused = 1;
}
void operator delete(void *, decltype(sizeof 0)) noexcept {}

namespace {
struct Scale {
	int tare;
	__attribute__((noinline)) int net(int gross) const { return gross > tare ? quarry::chip(gross) - tare : 0; }
};
template <class T> __attribute__((noinline)) T worn(T v) { return v > 100 ? worn(static_cast<T>(v / 2)) + 1 : v; }
} // namespace

namespace quarry {
/* A lambda inside of a lambda, a local class, and a name that counts scopes. */
__attribute__((noinline)) int dig(Stack<int, 8> &s, int n) {
	struct Pick {
		int pace;
		int operator()(int v) const { return split(v, pace); }
	} pick{n};
	auto outer = [&](int v) {
		auto inner = [v](int w) { return chip(v + w); };
		s.put(inner(v));
		return inner(v) + pick(v);
	};
	return s.each(pick) + outer(n) + outer(n + 1);
}

static int blast(int x) {
	switch (x & 7) {
	case 0: return chip(x);
	case 1: return split(x, 2) * chip(x);
	case 2: return all(x, 'c', 3L);
	case 3: return Scale{x}.net(x * 2);
	case 4: return worn(x) + static_cast<int>(worn<unsigned long long>(hauled));
	case 5: return x * 7 + 3;
	default: return haul(2, x, hauled);
	}
}
/* The same body twice: linkers may fold them. */
int cartload(int x) { return x * 9 + 4; }
int barrow(int x) { return x * 9 + 4; }
} // namespace quarry

extern "C" int entry() {
	using namespace quarry;
	Stack<int, 8> s;
	for (int i = 0; i < hauled; i++)
		s.put(i);
	Vein v;
	int grid[2][3] = {{hauled, 2, 3}, {4, 5, 6}};
	static const char *const names[3] = {"a", "b", "c"};
	int r = dig(s, hauled) + measure(v, &Vein::rich, &Rock::size, Grade::rich) + carry(grid, haul, nullptr);
	r += s.through<barrow>() + s.through<cartload>() + v(2.5L, names) + tip(hauled, r);
	for (int i = 0; i < 9; i++)
		r += blast(i + r);
	return r;
}
