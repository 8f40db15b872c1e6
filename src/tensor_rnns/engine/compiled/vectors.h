// Vectors over batch rows: a value of width n is real[n][W], W rows of the batch side by side.
// A wide block has 64 bytes of rows, a narrow one 32; the vectors are those of the target. Every kernel reads what is
// included: <cmath> and <vector> would make its building longer.
#include <atomic>
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
// The compiler reads a vector again from memory for each product with it: more loads than there are multiply-adds. Of
// registers that are just enough it has none left for this.
#if NATIVE == 64
#define IN_REGISTER(x) asm("" : "+v"(x))
#else
#define IN_REGISTER(x)
#endif

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
// One row alone: what is fast runs along the width instead.
struct Single {
  typedef real vector __attribute__((vector_size(sizeof(real)), may_alias));
  static constexpr int W = 1, V = 1;
};
template <class Vec> using whole_of = decltype(Vec{} < Vec{});  // whole numbers, as comparisons give them
template <class Vec> constexpr int lanes = sizeof(Vec) / sizeof(real);

static constexpr int LONG = lanes<wide_vector>;
template <class Block> constexpr bool HALVES = Block::W > 1 && 2 * Block::W == LONG;  // it fills half a vector
using Loose = real __attribute__((vector_size(NATIVE), may_alias, aligned(sizeof(real))));

// The first `Count` numbers of a vector that may lie anywhere; zero behind them.
template <int Count> static INLINE wide_vector fetch(const real* p) {
  if constexpr (Count >= LONG) return (wide_vector) * (const Loose*)p;
  wide_vector x = {};
  std::memcpy(&x, p, Count * sizeof(real));
  return x;
}

template <int Count> static INLINE void leave(real* p, wide_vector x) {
  if constexpr (Count >= LONG) *(Loose*)p = (Loose)x;
  else std::memcpy(p, &x, Count * sizeof(real));
}

// Two halves side by side. As the compiler puts them together, in memory, a load of both waits for two stores.
static INLINE wide_vector joined(narrow_vector low, narrow_vector high) {
  wide_vector x = {};
#if NATIVE == 64
  asm("vinsertf64x4 $1, %2, %g1, %0" : "=v"(x) : "v"(low), "vm"(high));
#else
  std::memcpy(&x, &low, sizeof(x) / 2);
  std::memcpy((real*)&x + LONG / 2, &high, sizeof(x) / 2);
#endif
  return x;
}

template <class Vec> static INLINE Vec splat(real x) { return Vec{} + x; }
template <class Vec> static INLINE Vec at(const real* p, int i) { return ((const Vec*)p)[i]; }
template <class Vec> static INLINE void put(real* p, int i, Vec x) { ((Vec*)p)[i] = x; }
static INLINE void copy(real* out, const real* in, long count) { std::memcpy(out, in, count * sizeof(real)); }
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

// Lanes l with l & half == 0 sum a's entries l and l + half, the others b's l - half and l.
template <int Half, class Vec> static INLINE Vec folded(Vec a, Vec b) {
  constexpr int L = lanes<Vec>;
  whole_of<Vec> straight, crossed;
  UNROLL for (int l = 0; l < L; ++l) {
    straight[l] = l & Half ? L + l : l;
    crossed[l] = l & Half ? L + (l ^ Half) : l ^ Half;
  }
  return __builtin_shuffle(a, b, straight) + __builtin_shuffle(a, b, crossed);
}

// Entry l: the sum of all entries of x[l].
template <int Half, class Vec> static INLINE Vec totals(Vec* x) {
  UNROLL for (int i = 0; i < Half; ++i) x[i] = folded<Half>(x[i], x[i + Half]);
  if constexpr (Half > 1) return totals<Half / 2>(x);
  return x[0];
}

// x[i][l] into x[l][i], by exchanging blocks of 1, 2, 4, .. lanes; where there are fewer vectors than lanes, in each
// group of as many lanes.
template <int Half = 1, int Count = 0, class Vec> static INLINE void transpose(Vec* x) {
  constexpr int L = lanes<Vec>, vectors = Count ? Count : L;
  if constexpr (Half < vectors) {
    whole_of<Vec> low, high;
    UNROLL for (int l = 0; l < L; ++l) low[l] = l & Half ? L + l - Half : l, high[l] = l & Half ? L + l : l + Half;
    UNROLL for (int i = 0; i < vectors; ++i)
      if (!(i & Half)) {
        const Vec a = x[i], b = x[i + Half];
        x[i] = __builtin_shuffle(a, b, low), x[i + Half] = __builtin_shuffle(a, b, high);
      }
    transpose<2 * Half, Count>(x);
  }
}
