// Sources of the names in golden.txt, see the Makefile line beside it.
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>
#include <iostream>

namespace ns {
template <class T> struct is { static constexpr bool v = true; static constexpr int n = 3; template <class U> struct in { static constexpr bool v = true; using type = U; }; typedef T type; template<class U> static U f(U); };
template <bool B, class T = void> struct en { typedef T t; };
struct base { int a, b; int *p; int m(int) const; virtual ~base(); virtual void virt(); };
struct other { virtual ~other(); virtual other *cov(); int z; };
struct derived : base, virtual other { derived(); derived *cov() override; ~derived(); };
}
using namespace ns;
base::~base() {}
void base::virt() {}
int base::m(int x) const { return x; }
other::~other() {}
other *other::cov() { return this; }
derived::derived() {}
derived *derived::cov() { return this; }
derived::~derived() {}

// unresolved names
template <class T> typename en<is<T>::v, int>::t u1(T) { return 0; }
template <class T> typename en<ns::is<T>::v && ns::is<T>::template in<T>::v, is<T>>::t u2(T, is<T>) { return {}; }
template <class T> typename en<(T::n > 2), is<T>>::t u3(T, T) { return {}; }
template <class T> typename en<(ns::is<typename T::type>::n > 2) || std::is_same<T, int>::value, is<T>>::t u4(T, is<T>, T *) { return {}; }
template <template <class> class A, class T> typename en<A<T>::v, A<T>>::t u5(A<T>, A<T>) { return {}; }
template <class T> typename en<std::is_convertible<T, typename T::type>::value && ::ns::is<T>::v, std::vector<T>>::t u6(std::vector<T>, T) { return {}; }
template <class T, class U> auto u7(T t, U u) -> decltype(ns::is<T>::f(u), t.a, t.m(3), t.T::a, is<U>()) { return {}; }
// expressions
template <class T, class U> auto e1(T t, U u) -> decltype((t + u) * 2 - -u * 3 / 1) { return {}; }
template <class T> auto e2(T t) -> decltype(t << 1 >> 2 & 3 | 4 ^ 5) { return {}; }
template <class T> auto e3(T t) -> decltype(t < 1 || t > 2 && t <= 3 == (t >= 4) != !t) { return {}; }
template <class T> auto e4(T *t) -> decltype(t->a, (*t).b, t[0].a, &t->a, ~t->a, +t->b, t->a ? t->b : 3) { return t->a; }
template <class T> auto e5(T &t) -> decltype(t++, ++t, t--, --t, t += 1, t -= 2, t *= 2, t /= 2, t %= 2, t <<= 1, t >>= 1, t &= 1, t |= 1, t ^= 1, t = 1) { return t; }
template <class T> auto e6(T t) -> decltype(static_cast<int>(t), const_cast<const T &>(t), reinterpret_cast<long>(&t), (char)t, int(t), T(), T{}, T(t)) { return t; }
template <class T> auto e7(T t) -> en<sizeof(T) == sizeof(t) && alignof(T), int> { return {}; }
template <class T> auto e8(T t) -> decltype(new T, new T(t), new (&t) T(t), new T[3], delete (T *)0, delete[] (T *)0, 1) { return 1; }
#ifdef __clang__
template <class T> auto e8c(T t) -> decltype(noexcept(t + 1), typeid(T), typeid(t), 1) { return 1; }
#endif
template <class... T> auto e9(T... t) -> en<(sizeof...(T) > 1) && sizeof...(t), int> { return {}; }
template <class... T> auto e10(T... t) -> decltype((t + ...), (... * t), (1 + ... + t), (t && ... && true), 1) { return 1; }
template <class T> auto e11(T t, T *const u) -> decltype(*u, dynamic_cast<base *>(u), throw, 1) { return 1; }
struct agg { int a; int b[2]; int c[2]; };
template <class T> auto e12(T t) -> decltype(is<T>{}, agg{.a = t, .b = {2, 3}}, std::vector<T>{t, t}, 1) { return 1; }
template <class T> void e13(T t, char (*)[sizeof(T) + 1] = 0, decltype(t) * = 0, int (&)[3] = *(int (*)[3])0) {}
template <class T> auto e14(T t) -> decltype(e1(t, 1), e1<T>(t, 2), ::e1(t, t), t.*(&base::a), (&t)->*(&base::m), t.~T(), t.template g<int>(), operator+(t, t)) { return t + t; }
template <class T> void e15(decltype(std::declval<T>() + 1.5 + 2.5f + 'a' + true + nullptr + 3ul + 4ll + L'x' + u'y') *) {}
template <class T> auto e16(T t) -> decltype([](auto x) { return x; }(t), t) { return t; }
template <class T> constexpr bool can = requires(T t, int i) { t + i; { t.f() } noexcept -> std::same_as<int>; typename T::type; requires sizeof(T) > 1; };
// literals as arguments
enum en1 { x1, x2 }; enum class en2 : long { y1 = -3 };
template <auto V> struct val {};
struct lit { int a; char c[4]; const int *p; int base::*m; constexpr bool operator==(const lit &) const = default; };
union un { int i; float f; };
int glob; int garr[4]; struct hold { int x[3]; } gh;
void l1(val<3>, val<'a'>, val<true>, val<-3>, val<3u>, val<4l>, val<5ul>, val<6ll>, val<7ull>, val<x2>, val<en2::y1>, val<nullptr>, val<(short)3>, val<(unsigned char)200>, val<(__int128)5>, val<L'a'>, val<u8'a'>, val<u'b'>, val<U'c'>) {}
void l2(val<&glob>, val<&l1>, val<&base::a>, val<&base::m>, val<(int base::*)nullptr>) {}
#ifdef __clang__
#else
void l3(val<1.5>, val<2.5f>, val<lit{1, "abc", nullptr, nullptr}>, val<lit{-1, {}, &glob, &base::b}>, val<&gh.x[1]>) {}
#endif
// types
typedef int (*fp)(int); typedef int (base::*mp)(int) const; typedef int arr[3][4]; typedef int (*(*fpp)(fp))(char);
void t1(fp, mp, arr &, fpp, int (*)[3], const arr *, int base::*, void (*)(...), int (&&)[2], fp *const, volatile fp &, int (*(&)())[3]) {}
void t2(signed char, unsigned char, char, short, unsigned short, int, unsigned, long, unsigned long, long long, unsigned long long, __int128, unsigned __int128, float, double, long double, __float128, bool, wchar_t, char8_t, char16_t, char32_t, std::nullptr_t, _Complex float, ...) {}
void t3(const volatile int *__restrict, std::string, std::vector<std::string> const &, std::ostream &, std::istream &, std::allocator<int>, std::basic_string<wchar_t>) {}
typedef float v4 __attribute__((vector_size(16)));
void t4(v4, void (*)() noexcept, void (base::*)() const &, void (base::*)() && noexcept, void (base::*)() volatile) {}
template <class T> void t5(void (*)(T) noexcept(sizeof(T) > 2), T *, T &&, const T &) {}
template <class T> void t6(T const &, T *const *, T (&)[3], T (*)(T), T base::*) {}
template <int N> void t7(float __attribute__((vector_size(N * 4))) *) {}
template <template <class...> class V, class... A> void t8(V<A...>, V<A *...>, void (*)(A const &...)) {}
void t9(struct base *, union un *, enum en1 *) {}
#ifdef __clang__
void t10(_BitInt(17), unsigned _BitInt(3), float) {}
void t11(void (^)(int), int (^(^)(void))(char)) {}
void t12() __attribute__((enable_if(1, ""))); void t12() __attribute__((enable_if(1, ""))) {}
#endif
// names
struct [[gnu::abi_tag("x", "y")]] tagged { [[gnu::abi_tag("z")]] void f(); template <class T> void g(T); }; void tagged::f() {}
tagged retag() { return {}; }
struct opers { operator int() const; operator fp(); template <class T> operator T *(); template <class T> operator std::vector<T>() const; opers &operator=(const opers &); opers *operator->(); int operator->*(int); int operator()(int) const &; int operator[](int) &&; void *operator new(size_t); void *operator new[](size_t); void operator delete(void *); void operator delete[](void *); bool operator!(); opers operator,(int); auto operator<=>(const opers &) const; opers &operator++(); opers operator++(int); };
opers::operator int() const { return 0; } opers::operator fp() { return 0; } template <class T> opers::operator T *() { return 0; } template <class T> opers::operator std::vector<T>() const { return {}; }
opers &opers::operator=(const opers &) { return *this; } opers *opers::operator->() { return 0; } int opers::operator->*(int) { return 0; } int opers::operator()(int) const & { return 0; } int opers::operator[](int) && { return 0; }
void *opers::operator new(size_t) { return 0; } void *opers::operator new[](size_t) { return 0; } void opers::operator delete(void *) {} void opers::operator delete[](void *) {} bool opers::operator!() { return 0; } opers opers::operator,(int) { return *this; } auto opers::operator<=>(const opers &) const { return 1 <=> 2; } opers &opers::operator++() { return *this; } opers opers::operator++(int) { return *this; }
int operator""_lit(const char *, size_t) { return 0; } 
template <char... C> int operator""_tl() { return 0; }
namespace { struct hidden { template <class T> void f(T); }; template <class T> void hidden::f(T) {} }
struct anon { struct { int x; } a; struct { int y; } b; enum { e0 } c; }; template <class T> void an(T) {}
struct inh : base { using base::base; template <class T> inh(T, int = 0); inh(); }; template <class T> inh::inh(T, int) {} 
struct basei { basei(int, char); }; basei::basei(int, char) {} struct inh2 : virtual other, basei { using basei::basei; };
template <class T> struct ct { ct(); template <class U> ct(U); ~ct(); template <class U> void f(U, T); struct in { in(T); template <class V> static V s(T, V); }; static int st; static thread_local int tl; };
template <class T> ct<T>::ct() {} template <class T> template <class U> ct<T>::ct(U) {} template <class T> ct<T>::~ct() {} template <class T> template <class U> void ct<T>::f(U, T) {} template <class T> ct<T>::in::in(T) {} template <class T> template <class V> V ct<T>::in::s(T, V v) { return v; } template <class T> int ct<T>::st = glob; template <class T> thread_local int ct<T>::tl = glob;
thread_local std::string tls; std::string &usetls() { return tls; }
const base &tmp = base(); 
std::pair<int, int> mk(); auto [bx, by] = std::pair<int, int>(glob, 2); int usebind() { return bx + by; }
// lambdas and local names
template <class F> void call(F f) {} template <class F, class... A> auto apply(F f, A... a) { return f(a...); }
inline auto g1 = [](int x) { return x; };
void lam() {
  call([] {}); call([](int) {}); auto g = [](auto x, auto &&...r) { call([x](auto y) { return y; }); return x; }; g(1); g('a', 2, 3.0); call(g);
  auto h = []<class T, int N, template <class> class V, class... P>(T t, V<T>, T (&)[N], P...) { static int s; struct loc { void f() {} }; loc().f(); return s; }; int a[3]; h(1, is<int>(), a, 2, 'c');
  auto k = []<std::integral T>(T t) { return t; }; k(3); auto kk = [](std::integral auto t) { return t; }; kk(4);
  static int s1; { static int s2; s2++; } s1++; struct L { int f(int) const { static int q; return q++; } }; L().f(1); call(L());
  auto rec = [](auto self, int n) -> int { return n ? self(self, n - 1) : 0; }; rec(rec, 3);
  apply([](auto... x) { return sizeof...(x); }, 1, 'a', L());
}
struct defarg { int f = [] { return 1; }(); void g(int a = [] { return 2; }(), int b = [] { return 3; }()); }; void defarg::g(int, int) {} void usedef() { defarg d; d.g(); call([d] {}); }
template <class T> void tl1(T t) { call([](T) {}); auto g = [](auto y, T z) { return y; }; g(1, t); struct S { T t; void m(T) {} }; S{t}.m(t); call(S{t}); static T st; call([](auto a, decltype(a) b) { }); auto w = [](auto a) { return [a](auto b) { return b; }; }; w(1)('c'); }
template void tl1(int); template void tl1(std::string);
inline int inlvar = [] { static int z; return z++; }();
// packs
template <class... T> struct tup {}; template <class... T> void p1(tup<T...>, tup<T *, T &>...) {} template <class... A> struct two { template <class... B> static void f(tup<std::pair<A, B>...>, tup<void (*)(A, B)...>) {} };
template <int... I> void p2(std::integer_sequence<int, I...>, tup<val<I>...>) {} template <class... T> typename en<(sizeof...(T) > 0), tup<T...>>::t p3(T &&...) { return {}; } template <template <class...> class... V> void p4(V<int>...) {}
template <auto... V> void p5() {} template <class T, T... V> void p6() {}
// constraints
template <class T> concept big = sizeof(T) > 2; template <class T> requires big<T> void c1(T) {} template <big T> void c2(T) {} void c3(big auto) {} template <class T> void c4(T) requires big<T> && (!std::is_same_v<T, long>) {} template <class T> struct cc { void f() requires big<T> {} friend void fr(cc) requires big<T> {} };

void instantiate() {
  t8(tup<int, char>(), *(tup<int *, char *> *)0, (void (*)(const int &, const char &))0);
  base b{}; int i = 0; is<int> ii; base bb;
  u1(1); u2(1, ii); u3(ii, ii); u4(ii, is<is<int>>(), &ii); u5(ii, ii); u6(std::vector<is<int>>(), ii); u7(b, 1);
  e1(1, 2.0); e2(1); e3(1); e4(&b); e5(i); e6(1); e7(1); e8(1);
#ifdef __clang__
 e8c(1);
#else
 e16(1);
#endif
  e9(1, 2, 3); e10(1, 2); e12(1); e13(1);
  t5<int>(0, 0, 1, 2); t6<int>(0, 0, *(int (*)[3])0, 0, 0); t6<const char *>(0, 0, *(const char *(*)[3])0, 0, 0);  t7<4>(0);
  (int *)opers(); (std::vector<int>) opers(); "a"_lit; hidden().f(1); anon a; an(a.a); an(a.b); an(a.c); inh(1, 2); inh2(1, 'a'); ct<int> c; c.f('a', 1); ct<fp> cfp('x'); ct<int>::in(1).s(1, 'a'); c.st++; c.tl++; tagged().g(1); tagged().g(tagged());
  p1(tup<int, char>(), tup<int *, int &>(), tup<char *, char &>());  p2(std::integer_sequence<int, 1, 2>(), tup<val<1>, val<2>>()); p3(1, i, 'a'); p4<tup, is>({}, {}); p5<1, 'a', &glob>(); p6<int>(); p6<char, 'a', 'b'>(); p1(tup<>()); 
  c1(1); c2(1); c3(1); c4(1); cc<int>().f(); fr(cc<int>()); call(&lam); call(g1);
  call(std::bool_constant<can<int>>()); 
}
