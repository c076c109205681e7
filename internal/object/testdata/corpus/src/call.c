/* Every calling convention of Windows, with names that begin with up to two
   underscores. The system decorates most of them. */
#define STD __attribute__((stdcall))
#define FAST __attribute__((fastcall))
#define VECTOR __attribute__((vectorcall))
#define APART static __attribute__((noinline))

int plain(int a) { return a + 1; }
int _plain(int a) { return a + 2; }
int __plain(int a) { return a + 3; }
int STD std(int a, int b) { return a * b + 4; }
int STD _std(int a, int b) { return a * b + 5; }
int STD __std(int a, int b) { return a * b + 6; }
int FAST fast(int a, int b, int c) { return a * b + c + 7; }
int FAST _fast(int a, int b, int c) { return a * b + c + 8; }
int FAST __fast(int a, int b, int c) { return a * b + c + 9; }
int VECTOR vector(int a, int b) { return a * b + 10; }
int VECTOR _vector(int a, int b) { return a * b + 11; }
int VECTOR __vector(int a, int b) { return a * b + 12; }
APART int STD own(int a) { return a + 20; }
APART int FAST _own(int a) { return a + 21; }
APART int VECTOR __own(int a) { return a + 22; }
int all(int a) { return own(a) + _own(a) + __own(a); }
