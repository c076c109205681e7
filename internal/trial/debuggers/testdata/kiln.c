#include <stdio.h>

__attribute__((noinline)) int boil(int water)
{
	printf("%d\n", water);
	return water * 2;
}

int main(int argc, char **argv)
{
	return boil(argc) - 2;
}
