#include "quarry.h"

namespace quarry {
int Vein::weigh(int on) const { return *this ? Rock::weigh(on) + size : chip(on); }

int Vein::rich(int by) volatile {
	size = size + by;
	return size > 3 ? split(size, by) : -1;
}

int Vein::operator()(long double d, const char *const (&names)[3]) const {
	return static_cast<int>(d) + names[size % 3][0];
}

static int sift(int x) {
	int r = 0;
	while (x > 0) {
		r += chip(x);
		x -= r & 3 ? 2 : 1;
	}
	return r;
}

int measure(Vein &v, Way w, Reach r, Grade g) {
	const Rock *rock = &v;
	int a = (v.*w)(3) + v.*r;
	if (g == Grade::rich)
		a += rock->weigh(a) + sift(a & 15);
	Vein other;
	return v < other ? all(a, 2) : sift(a);
}

int carry(int (&grid)[2][3], int (*then)(int, ...), decltype(nullptr)) {
	Stack<long long, 4> s;
	for (auto &row : grid)
		for (int v : row)
			s.put(v);
	return s.each([then](long long v) { return then(1, static_cast<int>(v)); });
}
} // namespace quarry
