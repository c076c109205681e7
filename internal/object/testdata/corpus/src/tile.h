/* Tiles are fired one by one; what is inline here is so in every unit. */
struct tile { int size, heat; };
int crack(int at);
int fire(struct tile *t, int n);
int sort_out(int kind, int x);
static inline int warm(struct tile *t, int by) {
	if (__builtin_expect(t->heat + by < 0, 0))
		return crack(by);
	t->heat += by;
	return t->heat * 3;
}
static inline int bake(struct tile *t, int by) {
	int a = warm(t, by);
	t->size -= a & 7;
	return a + warm(t, -by / 2);
}
