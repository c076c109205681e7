/* Every calling convention of Windows, with names that begin with up to two
   underscores. The system decorates most of them. */
#define STD __attribute__((stdcall))
#define FAST __attribute__((fastcall))
#ifndef VECTOR /* whose names linkers for MinGW do not tell apart */
#define VECTOR __attribute__((vectorcall))
#endif
#ifndef EXPORT
#define EXPORT
#endif
#define APART static __attribute__((noinline))

EXPORT int plain(int a) { return a + 1; }
EXPORT int _plain(int a) { return a + 2; }
EXPORT int __plain(int a) { return a + 3; }
EXPORT int STD std(int a, int b) { return a * b + 4; }
EXPORT int STD _std(int a, int b) { return a * b + 5; }
EXPORT int STD __std(int a, int b) { return a * b + 6; }
EXPORT int FAST fast(int a, int b, int c) { return a * b + c + 7; }
EXPORT int FAST _fast(int a, int b, int c) { return a * b + c + 8; }
EXPORT int FAST __fast(int a, int b, int c) { return a * b + c + 9; }
EXPORT int VECTOR vector(int a, int b) { return a * b + 10; }
EXPORT int VECTOR _vector(int a, int b) { return a * b + 11; }
EXPORT int VECTOR __vector(int a, int b) { return a * b + 12; }
APART int STD own(int a) { return a + 20; }
APART int FAST _own(int a) { return a + 21; }
APART int VECTOR __own(int a) { return a + 22; }
EXPORT int all(int a) { return own(a) + _own(a) + __own(a); }
