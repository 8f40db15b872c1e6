// Vectors over batch rows: a value of width n is real[n][W], W rows of the batch side by side.
// A wide block has 64 bytes of rows, a narrow one 32; the vectors are those of the target.
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <system_error>
#include <thread>
#include <type_traits>
#include <vector>
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

// ---- functions of a vector -------------------------------------------------------------------------------

// e^x to 2 ulp, by x = n log 2 + r; 0 and infinity outside the range of `real`, NaN stays.
template <class Vec> static INLINE Vec exponential(Vec x) {
  using Whole = whole_of<Vec>;
  constexpr bool single = sizeof(real) == 4;
  constexpr real low = single ? -86.5 : -707.5, high = single ? 88.72283 : 709.78271289338397;
  constexpr real magic = single ? 12582912.0 : 6755399441055744.0;  // 1.5 * 2^(digits - 1): rounds to whole numbers
  constexpr real log2_high = single ? 0.693359375 : 0.693145751953125;
  constexpr real log2_low = single ? -2.12194440e-4 : 1.42860682030941723212e-6;
  const Vec inside = x < low ? splat<Vec>(low) : x > high ? splat<Vec>(high) : x;
  const Vec shifted = inside * real(1.4426950408889634) + magic;
  const Vec n = shifted - magic;
  const Vec r = (inside - n * log2_high) - n * log2_low;
  Vec p;
  if constexpr (single) {
    p = splat<Vec>(real(1.9875691500e-4));
    p = p * r + real(1.3981999507e-3);
    p = p * r + real(8.3334519073e-3);
    p = p * r + real(4.1665795894e-2);
    p = p * r + real(1.6666665459e-1);
    p = p * r + real(5.0000001201e-1);
    p = p * (r * r) + (r + real(1));
  } else {
    constexpr double inverse_factorials[] = {1 / 6227020800.0, 1 / 479001600.0, 1 / 39916800.0, 1 / 3628800.0,
      1 / 362880.0, 1 / 40320.0, 1 / 5040.0, 1 / 720.0, 1 / 120.0, 1 / 24.0, 1 / 6.0, 0.5};
    p = splat<Vec>(real(inverse_factorials[0]));
    UNROLL for (int i = 1; i < 12; ++i) p = p * r + real(inverse_factorials[i]);
    p = p * (r * r) + (r + real(1));
  }
  constexpr int mantissa = single ? 23 : 52;
  constexpr whole one_below = whole(single ? 126 : 1022) << mantissa;  // 2^(n - 1), so that n may be the largest
  const Vec scale = (Vec)(((Whole)shifted << mantissa) + one_below);
  const Vec y = (p * scale) * real(2);
  return x < low ? splat<Vec>(0) : x > high ? splat<Vec>(std::numeric_limits<real>::infinity()) : y;
}

template <class Vec> static INLINE Vec sigmoid(Vec x) { return real(1) / (real(1) + exponential(-x)); }

// 1 - 2 / (1 + e^2x); near zero, where that cancels, a polynomial or a quotient of two (Cephes).
template <class Vec> static INLINE Vec hyperbolic_tangent(Vec x) {
  const Vec far = real(1) - real(2) / (real(1) + exponential(x + x));
  const Vec z = x * x;
  Vec near;
  if constexpr (sizeof(real) == 4) {
    near = splat<Vec>(real(-5.70498872745e-3));
    near = near * z + real(2.06390887954e-2);
    near = near * z + real(-5.37397155531e-2);
    near = near * z + real(1.33314422036e-1);
    near = near * z + real(-3.33332819422e-1);
    near = near * z * x + x;
  } else {
    Vec p = splat<Vec>(real(-9.64399179425052238628e-1));
    p = p * z + real(-9.92877231001918586564e1);
    p = p * z + real(-1.61468768441708447952e3);
    Vec q = z + real(1.12811678491632931402e2);
    q = q * z + real(2.23548839060100448583e3);
    q = q * z + real(4.84406305325125486048e3);
    near = x + x * z * (p / q);
  }
  return (x < real(0.625)) & (x > real(-0.625)) ? near : far;
}

template <class Vec> static INLINE Vec square_root(Vec x) {
  Vec y;
  UNROLL for (int i = 0; i < lanes<Vec>; ++i) y[i] = std::sqrt(x[i]);
  return y;
}

// A NaN stays a NaN, so that a replica that diverges is seen.
template <class Vec> static INLINE Vec positive_part(Vec x) { return x < 0 ? Vec{} : x; }
template <class Vec> static INLINE Vec where_positive(Vec g, Vec y) { return y <= 0 ? Vec{} : g; }

// The sum of all entries, halves onto halves.
template <class Vec> static INLINE real total(Vec x) {
  UNROLL for (int half = lanes<Vec> / 2; half; half /= 2) {
    whole_of<Vec> other;
    UNROLL for (int i = 0; i < lanes<Vec>; ++i) other[i] = i ^ half;
    x += __builtin_shuffle(x, other);
  }
  return x[0];
}

// ---- matrices --------------------------------------------------------------------------------------------

// `Count` columns from `n` on of out (+)= a w, for a [K][W] and w [K][N].
template <class Block, int K, int N, bool ONTO, int Count>
static INLINE void columns(const real* a, const real* w, real* out, int n) {
  using Vec = typename Block::vector;
  constexpr int V = Block::V;
  const Vec* left = (const Vec*)a;
  Vec* target = (Vec*)out + n * V;
  Vec sum[Count][V];
  UNROLL for (int j = 0; j < Count; ++j)
    UNROLL for (int v = 0; v < V; ++v) sum[j][v] = ONTO ? target[j * V + v] : Vec{};
  for (int k = 0; k < K; ++k) {
    Vec row[V];
    UNROLL for (int v = 0; v < V; ++v) row[v] = left[k * V + v];
    UNROLL for (int j = 0; j < Count; ++j) {
      const real weight = w[k * N + n + j];
      UNROLL for (int v = 0; v < V; ++v) sum[j][v] += row[v] * weight;
    }
  }
  UNROLL for (int j = 0; j < Count; ++j)
    UNROLL for (int v = 0; v < V; ++v) target[j * V + v] = sum[j][v];
}

// out = a w, or out += a w with ONTO: a [K][W], w [K][N], out [N][W].
template <class Block, int K, int N, bool ONTO>
static void product(const real* __restrict a, const real* __restrict w, real* __restrict out) {
  constexpr int most = REGISTERS / Block::V, tiles = (N + most - 1) / most, size = N / tiles, larger = N % tiles;
  int n = 0;
  if constexpr (larger > 0)
    for (int i = 0; i < larger; ++i, n += size + 1) columns<Block, K, N, ONTO, size + 1>(a, w, out, n);
  for (int i = larger; i < tiles; ++i, n += size) columns<Block, K, N, ONTO, size>(a, w, out, n);
}

// sum[i][j] += over steps and rows a[i] g[j], for i < M and j < N.
template <class Block, int M, int N>
static void outer_tile(long steps, const real* a, long a_step, const real* g, long g_step, real* sum, int stride) {
  using Vec = typename Block::vector;
  constexpr int V = Block::V;
  Vec c[M][N] = {};
  for (long t = 0; t < steps; ++t, a += a_step, g += g_step) {
    UNROLL for (int v = 0; v < V; ++v) {
      Vec left[M];
      UNROLL for (int i = 0; i < M; ++i) left[i] = ((const Vec*)a)[i * V + v];
      UNROLL for (int j = 0; j < N; ++j) {
        const Vec right = ((const Vec*)g)[j * V + v];
        UNROLL for (int i = 0; i < M; ++i) c[i][j] += left[i] * right;
      }
    }
  }
  UNROLL for (int i = 0; i < M; ++i)
    UNROLL for (int j = 0; j < N; ++j) sum[i * stride + j] += total(c[i][j]);
}

template <class Block, int M>
static void outer_rows(long steps, int N, const real* a, long a_step, const real* g, long g_step, real* sum) {
  const int tiles = (N + 3) / 4;
  for (int i = 0, n = 0; i < tiles; ++i) {
    const int size = N / tiles + (i < N % tiles);
    const real* right = g + n * Block::W;
    if (size == 4) outer_tile<Block, M, 4>(steps, a, a_step, right, g_step, sum + n, N);
    if (size == 3) outer_tile<Block, M, 3>(steps, a, a_step, right, g_step, sum + n, N);
    if (size == 2) outer_tile<Block, M, 2>(steps, a, a_step, right, g_step, sum + n, N);
    if (size == 1) outer_tile<Block, M, 1>(steps, a, a_step, right, g_step, sum + n, N);
    n += size;
  }
}

// sum [K][N] += over `steps` of a^T g; a [K][W] and g [N][W] move on by their steps.
template <class Block>
static void outer(long steps, int K, int N, const real* a, long a_step, const real* g, long g_step, real* sum) {
  const int tiles = (K + 2) / 3;
  for (int i = 0, k = 0; i < tiles; ++i) {
    const int size = K / tiles + (i < K % tiles);
    const real* left = a + k * Block::W;
    if (size == 3) outer_rows<Block, 3>(steps, N, left, a_step, g, g_step, sum + k * N);
    if (size == 2) outer_rows<Block, 2>(steps, N, left, a_step, g, g_step, sum + k * N);
    if (size == 1) outer_rows<Block, 1>(steps, N, left, a_step, g, g_step, sum + k * N);
    k += size;
  }
}

// sum [N] += over `steps` and rows of g.
template <class Block> static void row_sums(long steps, int N, const real* g, long g_step, real* sum) {
  using Vec = typename Block::vector;
  constexpr int V = Block::V;
  for (int n = 0; n < N; ++n) {
    Vec c = {};
    for (long t = 0; t < steps; ++t)
      UNROLL for (int v = 0; v < V; ++v) c += ((const Vec*)(g + t * g_step))[n * V + v];
    sum[n] += total(c);
  }
}

// A matrix with strides into [K][N] without.
static void pack(real* out, const real* in, int K, int N, long row, long column) {
  for (int k = 0; k < K; ++k)
    for (int n = 0; n < N; ++n) out[k * N + n] = in[k * row + n * column];
}

// ---- rows of the batch -----------------------------------------------------------------------------------

// Rows [rows][width] into [width][W]; what is missing to W rows repeats the last, and so stays finite if that does.
template <class Block> static void gather(real* out, const real* in, long stride, int width, int rows) {
  for (int r = 0; r < Block::W; ++r) {
    const real* row = in + (r < rows ? r : rows - 1) * stride;
    for (int i = 0; i < width; ++i) out[i * Block::W + r] = row[i];
  }
}

// The same for gradients, added to what is there; what is missing stays.
template <class Block> static void gather_onto(real* out, const real* in, long stride, int width, int rows) {
  for (int r = 0; r < rows; ++r)
    for (int i = 0; i < width; ++i) out[i * Block::W + r] += in[r * stride + i];
}

template <class Block> static void scatter(real* out, long stride, const real* in, int width, int rows) {
  for (int r = 0; r < rows; ++r)
    for (int i = 0; i < width; ++i) out[r * stride + i] = in[i * Block::W + r];
}

// ---- work ------------------------------------------------------------------------------------------------

// Denormals count as zero in this thread while it lives.
struct Flushed {
#if defined(__SSE__)
  unsigned before = _mm_getcsr();
  Flushed() { _mm_setcsr(before | 0x8040); }
  ~Flushed() { _mm_setcsr(before); }
#endif
};

// f(item, thread) for each item; threads end with the call, so that a fork between calls is safe.
template <class F> static void in_parallel(long items, long threads, F f) {
  std::atomic<long> next{0};
  auto work = [&](long thread) {
    Flushed flushed;
    for (long item; (item = next++) < items;) f(item, thread);
  };
  std::vector<std::thread> others;
  for (long thread = 1; thread < threads && thread < items; ++thread) {
    try {
      others.emplace_back(work, thread);
    } catch (const std::system_error&) {
      break;
    }
  }
  work(0);
  for (auto& other : others) other.join();
}

// One call: `steps` of time, every pointer as the caller of `run_forward` and `run_backward` lays it out.
struct Call {
  long steps, replicas, batch, threads;
  long keep;   // whether every step stays on the tape, for the way back
  long every;  // whether outputs and their gradients are those of every step, or of the last
  const real* inputs;
  long input_step, input_replica, input_row;  // strides of `inputs`
  const real* const* leaves;
  const long* strides;           // of each leaf: replica, row, column
  const real* const* initial;    // states [S, B, width] before the first step
  real* tape;                    // what a step keeps
  real* states;                  // states before and after each step
  real* packed;                  // leaves of each replica in the order of the code
  real* arena;                   // room of each thread
  real* sums;                    // gradients of the leaves, of each replica and block
  real* outputs;                 // [T, S, B, H] or [S, B, H]
  real* const* final;            // states [S, B, width] after the last step
  const real* output_gradients;  // as outputs, or null
  const real* const* final_gradients;  // as final, each may be null
  real* input_gradients;               // [T, S, B, I], or null
  real* const* initial_gradients;      // as initial
  real* const* leaf_gradients;         // [S, rows, columns]
};

// Rows of a batch are cut by their number alone: wide blocks, then narrow ones for the rest.
struct Cut {
  long wide, narrow;
  explicit Cut(long batch) : wide(batch / Wide::W), narrow((batch % Wide::W + Narrow::W - 1) / Narrow::W) {
    if (narrow * Narrow::W == Wide::W) ++wide, narrow = 0;
  }
  long blocks() const { return wide + narrow; }
  long rows() const { return wide * Wide::W + narrow * Narrow::W; }
};

// One item of work: rows `first` to `first + rows` of a replica; `place` counts the rows before it in memory.
struct Unit {
  long replica, first;
  int rows;
  long item, place, thread;
};

// Steps between two passes over the gradients of the leaves: as many as leave their numbers in the cache.
template <class Block> constexpr long chunk(long width) {
  const long fitting = (256 << 10) / (width * Block::W * long(sizeof(real)));
  return fitting < 8 ? 8 : fitting > 128 ? 128 : fitting;
}

static void pack_leaf(const Call& call, long replica, int leaf, bool transposed, int K, int N, real* out) {
  const long* stride = call.strides + 3 * leaf;
  pack(out, call.leaves[leaf] + replica * stride[0], K, N, stride[transposed ? 2 : 1], stride[transposed ? 1 : 2]);
}
