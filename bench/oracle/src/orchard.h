#ifndef ORCHARD_H
#define ORCHARD_H
#include <string>
#include <vector>
namespace orchard {

/* Inline members and templates: every unit has its copy, one is kept. */
template <class T> class Basket {
	std::vector<T> held;

public:
	void put(const T &v) {
		if (held.size() > 1000)
			throw std::string("full");
		held.push_back(v);
	}
	template <class F> long each(F f) const {
		long sum = 0;
		for (const auto &v : held)
			sum += f(v);
		return sum;
	}
	struct Label {
		static int size() { return static_cast<int>(sizeof(T)); }
	};
};

class Tree {
public:
	explicit Tree(int age) : years(age) {}
	virtual ~Tree() = default;
	virtual int yield(int rain) const { return years * rain; }
	virtual const char *name() const { return "tree"; }
	friend bool operator<(const Tree &a, const Tree &b) { return a.years < b.years; }

protected:
	int years;
};

inline namespace v2 {
struct Apple : virtual Tree {
	explicit Apple(int age) : Tree(age) {}
	int yield(int rain) const override { return Tree::yield(rain) + 2; }
	const char *name() const override { return "apple"; }
};
} // namespace v2

struct Named {
	virtual ~Named() {}
	virtual int count() const { return 1; }
};
struct Pear : Named, Tree {
	explicit Pear(int age) : Tree(age) {}
	~Pear() override;
	int yield(int rain) const override;
	int count() const override { return years; }
};

template <int N> inline int steps(int x) { return steps<N - 1>(x * N) + 1; }
template <> inline int steps<0>(int x) { return x; }

int harvest(const Basket<int> &b, int rain);
} // namespace orchard
#endif
