#include "kiln.h"

namespace kiln {
struct Jug : Pot {
	explicit Jug(int y) : Pot(y) {}
	int worth(int by) const override { return by > 3 ? fired<3>(years) : Pot::worth(by); }
};

int unload(const Rack<int> &r, int by) {
	Jug j(by);
	const Pot *p = &j;
	Rack<int> copy;
	long sum = r.each([&](int v) {
		copy.put(v + by);
		return v;
	});
	return static_cast<int>(sum) + p->worth(copy.held[0]);
}
} // namespace kiln
