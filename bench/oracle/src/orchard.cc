#include "orchard.h"
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace {
int season = 3;

struct Ladder {
	int rungs;
	int climb(int by) const { return rungs > by ? rungs - by : 0; }
};

__attribute__((noinline)) int shake(int x) {
	Ladder l{x};
	return l.climb(season) * 2;
}
} // namespace

namespace orchard {

/* A local class, a lambda that catches, a lambda inside of it. */
__attribute__((noinline)) int pick(Basket<int> &b, int n) {
	struct Picker {
		int pace;
		explicit Picker(int n) : pace(n) {}
		int operator()(int v) const { return v * pace; }
		virtual int rest(int m) { return pace - m; }
	};
	Picker p{n};
	auto outer = [&](int v) {
		auto inner = [v](int w) { return v + w + season; };
		b.put(inner(v));
		return inner(v) * 2 + p.rest(v);
	};
	return static_cast<int>(b.each(p) + outer(n));
}

static int guarded(int x) {
	try {
		Basket<std::string> names;
		names.put(std::string(static_cast<size_t>(x), 'x'));
		return static_cast<int>(names.each([](const std::string &s) { return s.size(); }));
	} catch (const std::string &why) {
		std::fputs(why.c_str(), stderr);
		return -1;
	}
}
} // namespace orchard

int main(int argc, char **) {
	using namespace orchard;
	Basket<int> b;
	for (int i = 0; i < argc; i++)
		b.put(i);
	std::unique_ptr<Tree> t(argc > 1 ? static_cast<Tree *>(new Apple(3)) : new Pear(4));
	int r = pick(b, argc) + harvest(b, 7) + guarded(argc) + t->yield(2) + shake(argc);
	r += steps<4>(argc) + Basket<long>::Label::size();
	std::printf("%d %s\n", r, t->name());
	return r == 77;
}
