#include "orchard.h"
#include <algorithm>

namespace orchard {
Pear::~Pear() { years = 0; }
int Pear::yield(int rain) const { return rain > 3 ? steps<3>(years) : Tree::yield(rain); }

namespace {
class Scale {
	double factor = 1.5;

public:
	template <class T> int operator()(T v) const { return static_cast<int>(v * factor); }
	operator bool() const { return factor > 1; }
};
} // namespace

int harvest(const Basket<int> &b, int rain) {
	Scale s;
	std::vector<int> parts;
	long sum = b.each([&](int v) {
		parts.push_back(s(v) + rain);
		return v + (s ? 1 : 0);
	});
	std::sort(parts.begin(), parts.end(), [](int x, int y) { return x > y; });
	Basket<std::string> empty;
	empty.put("none");
	return static_cast<int>(sum) + (parts.empty() ? 0 : parts.front());
}
} // namespace orchard
