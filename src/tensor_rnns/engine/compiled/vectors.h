// Vectors over batch rows: a value of width n is real[n][W], W rows of the batch side by side.
// A wide block has 64 bytes of rows, a narrow one 32; the vectors are those of the target.
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#if defined(__AVX512F__)
#define NATIVE 64
#define REGISTERS 24
#elif defined(__AVX__)
#define NATIVE 32
#define REGISTERS 12
#else
#define NATIVE 16
#define REGISTERS 12
#endif
#define NARROW (NATIVE < 32 ? NATIVE : 32)
#define INLINE inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 32")

using whole = std::conditional_t<sizeof(real) == 4, int32_t, int64_t>;
typedef real wide_vector __attribute__((vector_size(NATIVE), may_alias));
typedef real narrow_vector __attribute__((vector_size(NARROW), may_alias));

struct Wide {
  using vector = wide_vector;
  static constexpr int W = 64 / sizeof(real), V = 64 / sizeof(vector);
};
struct Narrow {
  using vector = narrow_vector;
  static constexpr int W = 32 / sizeof(real), V = 32 / sizeof(vector);
};
template <class Vec> using whole_of = decltype(Vec{} < Vec{});  // whole numbers, as comparisons give them
template <class Vec> constexpr int lanes = sizeof(Vec) / sizeof(real);

template <class Vec> static INLINE Vec splat(real x) { return Vec{} + x; }
template <class Vec> static INLINE Vec at(const real* p, int i) { return ((const Vec*)p)[i]; }
template <class Vec> static INLINE void put(real* p, int i, Vec x) { ((Vec*)p)[i] = x; }
static INLINE void clear(real* p, long count) { std::memset(p, 0, count * sizeof(real)); }

// The sum of all entries, halves onto halves.
template <class Vec> static INLINE real total(Vec x) {
  UNROLL for (int half = lanes<Vec> / 2; half; half /= 2) {
    whole_of<Vec> other;
    UNROLL for (int i = 0; i < lanes<Vec>; ++i) other[i] = i ^ half;
    x += __builtin_shuffle(x, other);
  }
  return x[0];
}

