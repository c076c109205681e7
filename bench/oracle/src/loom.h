#ifndef LOOM_H
#define LOOM_H
/* A small loom: threads are numbers, a weave mixes them. */
struct thread { int tension; unsigned knots; };
int weave(struct thread *t, int n);
int pattern(int kind, int x);
int snapped(int at);
int raw_entry(int);
static inline int pull(struct thread *t, int by) {
	if (__builtin_expect(t->tension + by < 0, 0))
		return snapped(by);
	t->tension += by;
	return t->tension * 3;
}
static inline int knot(struct thread *t, int by) {
	int a = pull(t, by);
	t->knots += a & 7;
	return a + pull(t, -by / 2);
}
#endif
