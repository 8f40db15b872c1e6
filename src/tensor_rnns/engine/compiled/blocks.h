#include <utility>

// ---- rows of the batch -----------------------------------------------------------------------------------

// Rows of `width` numbers, row r where at_row(r) says, into, or with ONTO onto, [width][W]. What is missing to W rows repeats
// the last, and so stays finite if that does; with ONTO it is left as it is.
template <class Block, bool ONTO, class Row> static INLINE void turn_rows(real* out, Row at_row, int width, int rows) {
  using Vec = typename Block::vector;
  constexpr int V = Block::V, L = lanes<Vec>;
  const int tiles = L > 1 ? width / L * L : 0;
  for (int v = 0; v < V; ++v)
    for (int i = 0; i < tiles; i += L) {
      Vec x[L] = {};
      UNROLL for (int l = 0; l < L; ++l) {
        const int r = v * L + l;
        if (!ONTO || r < rows) std::memcpy(x + l, at_row(r < rows ? r : rows - 1) + i, sizeof(Vec));
      }
      transpose(x);
      UNROLL for (int l = 0; l < L; ++l) {
        const int place = (i + l) * V + v;
        put(out, place, ONTO ? at<Vec>(out, place) + x[l] : x[l]);
      }
    }
  for (int r = 0; r < (ONTO ? rows : Block::W); ++r)
    for (int i = tiles; i < width; ++i) {
      const real x = at_row(r < rows ? r : rows - 1)[i];
      out[i * Block::W + r] = ONTO ? out[i * Block::W + r] + x : x;
    }
}

// Rows [rows][width], `stride` apart.
template <class Block, bool ONTO> static void turn(real* out, const real* in, long stride, int width, int rows) {
  turn_rows<Block, ONTO>(out, [&](int r) { return in + r * stride; }, width, rows);
}

// Rows that lie anywhere, as those of a table do.
template <class Block> static void turn_picked(real* out, const real* const* from, int width, int rows) {
  turn_rows<Block, false>(out, [&](int r) { return from[r]; }, width, rows);
}

template <class Block> static void scatter(real* out, long stride, const real* in, int width, int rows) {
  if constexpr (Block::W == 1) return copy(out, in, width);
  using Vec = typename Block::vector;
  constexpr int V = Block::V, L = lanes<Vec>;
  const int tiles = width / L * L;
  for (int v = 0; v < V; ++v)
    for (int i = 0; i < tiles; i += L) {
      Vec x[L];
      UNROLL for (int l = 0; l < L; ++l) x[l] = at<Vec>(in, (i + l) * V + v);
      transpose(x);
      UNROLL for (int l = 0; l < L; ++l)
        if (v * L + l < rows) std::memcpy(out + (v * L + l) * stride + i, x + l, sizeof(Vec));
    }
  for (int r = 0; r < rows; ++r)
    for (int i = tiles; i < width; ++i) out[r * stride + i] = in[i * Block::W + r];
}

// ---- gradients of matrices over a chunk of steps ---------------------------------------------------------

// out [N] += in.
template <int N> static INLINE void add(real* out, const real* in) {
  constexpr int part = N >= 8 ? 8 : N >= 4 ? 4 : N >= 2 ? 2 : 1;
  typedef real vector __attribute__((vector_size(part * sizeof(real)), may_alias, aligned(sizeof(real))));
  *(vector*)out += *(const vector*)in;
  if constexpr (N > part) add<N - part>(out + part, in + part);
}

// sum[i][j] += over steps and rows a[i] g[j], for i < M and j < N; the rows side by side are added up at the end. A
// vector holds two columns of g where a block fills half of one.
template <class Block, int M, int N>
static void outer_tile(long steps, const real* a, long a_step, const real* g, long g_step, real* sum, int stride) {
  using Vec = typename Block::vector;
  constexpr int V = Block::V, L = Block::W / V, groups = (M * N + L - 1) / L, pairs = HALVES<Block> ? N / 2 : 0;
  wide_vector two[M * pairs + 1] = {};
  Vec one[M][N] = {}, c[groups * L] = {};
  for (long t = 0; t < steps; ++t, a += a_step, g += g_step) {
    UNROLL for (int v = 0; v < V; ++v) {
      Vec left[M];
      UNROLL for (int i = 0; i < M; ++i) left[i] = ((const Vec*)a)[i * V + v];
      if constexpr (pairs > 0) {
        wide_vector twice[M];
        UNROLL for (int i = 0; i < M; ++i) twice[i] = joined(left[i], left[i]);
        UNROLL for (int j = 0; j < pairs; ++j) {
          wide_vector right = fetch<LONG>(g + 2 * j * Block::W);
          IN_REGISTER(right);
          UNROLL for (int i = 0; i < M; ++i) two[i * pairs + j] += twice[i] * right;
        }
      }
      UNROLL for (int j = 2 * pairs; j < N; ++j) {
        Vec right = ((const Vec*)g)[j * V + v];
        IN_REGISTER(right);
        UNROLL for (int i = 0; i < M; ++i) one[i][j] += left[i] * right;
      }
    }
  }
  UNROLL for (int i = 0; i < M; ++i) {
    UNROLL for (int j = 0; j < pairs; ++j) std::memcpy(c + i * N + 2 * j, two + i * pairs + j, sizeof(wide_vector));
    UNROLL for (int j = 2 * pairs; j < N; ++j) c[i * N + j] = one[i][j];
  }
  alignas(64) real all[groups * L];
  UNROLL for (int k = 0; k < groups; ++k) put(all, k, totals<L / 2>(c + k * L));
  UNROLL for (int i = 0; i < M; ++i) add<N>(sum + i * stride, all + i * N);
}

// sum [N] += over `steps` and rows of g.
template <class Block> static void row_sums(long steps, int N, const real* g, long g_step, real* sum) {
  using Vec = typename Block::vector;
  constexpr int V = Block::V;
  int n = 0;
  for (; Block::W == 1 && n + LONG <= N; n += LONG) {
    wide_vector c = {};
    for (long t = 0; t < steps; ++t) c += fetch<LONG>(g + t * g_step + n);
    leave<LONG>(sum + n, fetch<LONG>(sum + n) + c);
  }
  for (; n < N; ++n) {
    Vec c = {};
    for (long t = 0; t < steps; ++t)
      UNROLL for (int v = 0; v < V; ++v) c += ((const Vec*)(g + t * g_step))[n * V + v];
    sum[n] += total(c);
  }
}

// ---- what kernels get ------------------------------------------------------------------------------------

template <class Block, int M, int... N> static void offer_tiles(Blockwise& out, std::integer_sequence<int, N...>) {
  ((out.outer_tile[M][N + 1] = outer_tile<Block, M, N + 1>), ...);
}

template <class Block, int... M> static Blockwise offer(std::integer_sequence<int, M...>) {
  Blockwise out = {turn<Block, false>, turn<Block, true>, turn_picked<Block>, scatter<Block>, row_sums<Block>, {}};
  (offer_tiles<Block, M + 1>(out, std::make_integer_sequence<int, RIGHT>()), ...);
  return out;
}

extern "C" const Shared* offered() {
  constexpr std::make_integer_sequence<int, LEFT> tiles;
  static const Shared all = {BUILT_FOR, run_team, offer<Wide>(tiles), offer<Narrow>(tiles), offer<Single>({})};
  return &all;
}
