/* A program that spends its time in work. The tests build it:
   gcc -O0 -fuse-ld=lld -o spin spin.c */
static volatile unsigned sum;

__attribute__((noinline)) void work(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sum += i;
}

__attribute__((noinline)) void outer(unsigned n)
{
	work(n);
	sum++;
}

int main(void)
{
	for (int i = 0; i < 40; i++)
		outer(1000000);
	return 0;
}
