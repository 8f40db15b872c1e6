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

// At most so many columns of a and of g in one tile: more, and the compiler reads some of them again and again.
static constexpr int LEFT = NATIVE == 64 ? 4 : 3, RIGHT = NATIVE == 64 ? 5 : 4;

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

// sum[i][j] += over steps and rows a[i] g[j], for i < M and j < N; the rows side by side are added up at the end.
template <class Block, int M, int N>
static void outer_tile(long steps, const real* a, long a_step, const real* g, long g_step, real* sum, int stride) {
  using Vec = typename Block::vector;
  constexpr int V = Block::V, L = Block::W / V, groups = (M * N + L - 1) / L;
  Vec c[groups * L] = {};
  for (long t = 0; t < steps; ++t, a += a_step, g += g_step) {
    UNROLL for (int v = 0; v < V; ++v) {
      Vec left[M];
      UNROLL for (int i = 0; i < M; ++i) left[i] = ((const Vec*)a)[i * V + v];
      UNROLL for (int j = 0; j < N; ++j) {
        const Vec right = ((const Vec*)g)[j * V + v];
        UNROLL for (int i = 0; i < M; ++i) c[i * N + j] += left[i] * right;
      }
    }
  }
  alignas(64) real all[groups * L];
  UNROLL for (int k = 0; k < groups; ++k) put(all, k, totals<L / 2>(c + k * L));
  UNROLL for (int i = 0; i < M; ++i)
    UNROLL for (int j = 0; j < N; ++j) sum[i * stride + j] += all[i * N + j];
}

// The same for M rows of sum, all N columns.
template <class Block, int M, int N>
static INLINE void outer_row(long steps, const real* a, long a_step, const real* g, long g_step, real* sum) {
  constexpr int most = RIGHT, tiles = (N + most - 1) / most, size = N / tiles, larger = N % tiles;
  int n = 0;
  if constexpr (larger > 0)
    for (int i = 0; i < larger; ++i, n += size + 1)
      outer_tile<Block, M, size + 1>(steps, a, a_step, g + n * Block::W, g_step, sum + n, N);
  for (int i = larger; i < tiles; ++i, n += size)
    outer_tile<Block, M, size>(steps, a, a_step, g + n * Block::W, g_step, sum + n, N);
}

// sum [K][N] += over `steps` of a^T g; a [K][W] and g [N][W] move on by their steps.
template <class Block, int K, int N>
static void outer(long steps, const real* a, long a_step, const real* g, long g_step, real* sum) {
  constexpr int most = LEFT, tiles = (K + most - 1) / most, size = K / tiles, larger = K % tiles;
  int k = 0;
  if constexpr (larger > 0)
    for (int i = 0; i < larger; ++i, k += size + 1)
      outer_row<Block, size + 1, N>(steps, a + k * Block::W, a_step, g, g_step, sum + k * N);
  for (int i = larger; i < tiles; ++i, k += size)
    outer_row<Block, size, N>(steps, a + k * Block::W, a_step, g, g_step, sum + k * N);
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

// A matrix [K][N] without strides into one with them.
static void unpack(real* out, const real* in, long K, long N, long row, long column) {
  for (long k = 0; k < K; ++k)
    for (long n = 0; n < N; ++n) out[k * row + n * column] = in[k * N + n];
}

