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

