namespace kiln {
// Members and templates are in every unit; one of the copies is kept.
template <class T> struct Rack {
	T held[8];
	int many = 0;
	void put(T v) { held[many++ & 7] = v; }
	template <class F> long each(F f) const {
		long sum = 0;
		for (int i = 0; i < many; i++)
			sum += f(held[i]);
		return sum;
	}
};
struct Pot {
	int years;
	explicit Pot(int y) : years(y) {}
	virtual int worth(int by) const { return years * by; }
};
template <int N> inline int fired(int x) { return fired<N - 1>(x * N) + 1; }
template <> inline int fired<0>(int x) { return x; }
int unload(const Rack<int> &r, int by);
} // namespace kiln
