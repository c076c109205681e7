// A small C++ program to be profiled: templates, lambdas, virtual calls and
// inlined functions of its own and of the standard library.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <functional>
#include <memory>
#include <numeric>
#include <vector>
#include <unistd.h>

namespace glaze {
namespace {

inline std::uint32_t stir(std::uint32_t x) {
  x ^= x << 13;
  x ^= x >> 17;
  return x ^ (x << 5);
}

template <typename T, int Coats>
[[gnu::noinline]] T dip(std::vector<T>& tiles, T seed) {
  for (int coat = 0; coat < Coats; ++coat)
    for (auto& tile : tiles) tile = seed = stir(seed + tile);
  return seed;
}

struct Kiln {
  virtual ~Kiln() = default;
  virtual std::uint32_t fire(std::vector<std::uint32_t>& tiles) = 0;
};

class Hot : public Kiln {
  std::uint32_t fire(std::vector<std::uint32_t>& tiles) override {
    std::sort(tiles.begin(), tiles.end(), [](auto a, auto b) { return stir(a) < stir(b); });
    return tiles.front();
  }
};

class Slow : public Kiln {
  std::uint32_t fire(std::vector<std::uint32_t>& tiles) override {
    std::function<std::uint32_t(std::uint32_t)> cool = [&](std::uint32_t n) -> std::uint32_t {
      return n == 0 ? tiles.back() : stir(cool(n - 1) + n);
    };
    return std::accumulate(tiles.begin(), tiles.end(), cool(40));
  }
};

}  // namespace

[[gnu::noinline]] std::uint32_t ask_the_clock(std::uint32_t seed) {
  timespec now;
  for (int i = 0; i < 2000; ++i) {
    clock_gettime(CLOCK_MONOTONIC, &now);
    seed = stir(seed + static_cast<std::uint32_t>(now.tv_nsec & 1));
  }
  return seed + static_cast<std::uint32_t>(getppid() & 1);
}

}  // namespace glaze

int main() {
  std::unique_ptr<glaze::Kiln> kilns[] = {std::make_unique<glaze::Hot>(), std::make_unique<glaze::Slow>()};
  std::vector<std::uint32_t> tiles(3000);
  std::iota(tiles.begin(), tiles.end(), 1u);
  std::uint32_t seed = 7;
  for (int i = 0; i < 2000; ++i) {
    seed = glaze::dip<std::uint32_t, 12>(tiles, seed | 1);
    for (auto& kiln : kilns) seed += kiln->fire(tiles);
    seed = glaze::ask_the_clock(seed);
    std::fprintf(stderr, "%u\n", seed & 0xf);
  }
}
