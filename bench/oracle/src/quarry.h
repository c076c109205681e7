#ifndef QUARRY_H
#define QUARRY_H
/* A quarry: nothing of any library, so that it can be made for Windows. */
#ifdef __cplusplus
extern "C" {
#endif
extern volatile int hauled;
int haul(int load, ...);
int tip(int kind, int x);
#ifdef __cplusplus
}

namespace quarry {
inline int chip(int x) {
	x ^= hauled;
	hauled = x + 1;
	return x * 5;
}
inline int split(int x, int by) {
	int a = chip(x);
	if (a & 8)
		a += chip(by);
	return a - by;
}

template <class T, unsigned N> struct Stack {
	T held[N];
	unsigned used = 0;

	Stack &put(const T &v) {
		if (used < N)
			held[used++] = v;
		return *this;
	}
	template <class F> int each(F &&f) const {
		int sum = 0;
		for (unsigned i = 0; i < used; i++)
			sum += f(held[i]);
		return sum;
	}
	template <int (*G)(int)> int through() const { return G(static_cast<int>(used)); }
};

struct Rock {
	virtual int weigh(int on) const { return split(on, 3); }
	virtual const char *name() const noexcept { return "rock"; }
	int size = 2;
};
struct Vein : virtual Rock {
	int weigh(int on) const override;
	int rich(int by) volatile;
	bool operator<(const Vein &o) const { return size < o.size; }
	int operator()(long double, const char *const (&names)[3]) const;
	explicit operator bool() const & { return size > 1; }
};

using Way = int (Vein::*)(int) volatile;
using Reach = int Rock::*;
enum class Grade : unsigned char { poor, rich };

int measure(Vein &v, Way w, Reach r, Grade g);
int carry(int (&grid)[2][3], int (*then)(int, ...), decltype(nullptr));
template <class... T> inline int all(T... v) { return (0 + ... + split(static_cast<int>(v), 1)); }
} // namespace quarry
#endif
#endif
