#include "kiln.h"

extern volatile int sink;
volatile int sink;

namespace {
struct Door {
	int open;
	int wide(int by) const { return open > by ? open - by : 0; }
};
__attribute__((noinline)) int peek(int x) {
	Door d{x};
	return d.wide(sink) * 2;
}
} // namespace

namespace kiln {
__attribute__((noinline)) int load(Rack<int> &r, int n) {
	struct Local {
		int pace;
		int operator()(int v) const { return v * pace; }
	};
	auto outer = [&](int v) {
		auto inner = [v](int w) { return v + w + sink; };
		r.put(inner(v));
		return inner(v) * 2;
	};
	return static_cast<int>(r.each(Local{n}) + outer(n));
}
} // namespace kiln

extern "C" int start() {
	kiln::Rack<int> r;
	r.put(sink);
	kiln::Pot p(sink);
	const kiln::Pot *any = &p;
	return kiln::load(r, 3) + kiln::unload(r, sink) + any->worth(2) + peek(sink) + kiln::fired<4>(sink);
}
