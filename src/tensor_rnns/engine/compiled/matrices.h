// ---- matrices --------------------------------------------------------------------------------------------

// `Count` columns from `n` on of out (+)= a w, for a [K][W] and w [K] rows apart by STRIDE.
template <class Block, int K, int STRIDE, bool ONTO, int Count>
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
      const real weight = w[k * STRIDE + n + j];
      UNROLL for (int v = 0; v < V; ++v) sum[j][v] += row[v] * weight;
    }
  }
  UNROLL for (int j = 0; j < Count; ++j)
    UNROLL for (int v = 0; v < V; ++v) target[j * V + v] = sum[j][v];
}

// `Count` columns of out (+)= a w for one row a [K] and w [K] rows apart by STRIDE.
template <int Count, int K, int STRIDE, bool ONTO> static INLINE void row_columns(const real* a, const real* w, real* out) {
  constexpr int vectors = (Count + LONG - 1) / LONG, last = Count - (vectors - 1) * LONG;
  wide_vector sum[vectors] = {};
  for (int k = 0; k < K; ++k, w += STRIDE) {
    UNROLL for (int v = 0; v + 1 < vectors; ++v) sum[v] += fetch<LONG>(w + v * LONG) * a[k];
    sum[vectors - 1] += fetch<last>(w + (vectors - 1) * LONG) * a[k];
  }
  UNROLL for (int v = 0; v + 1 < vectors; ++v)
    leave<LONG>(out + v * LONG, ONTO ? fetch<LONG>(out + v * LONG) + sum[v] : sum[v]);
  real* const end = out + (vectors - 1) * LONG;
  leave<last>(end, ONTO ? fetch<last>(end) + sum[vectors - 1] : sum[vectors - 1]);
}

// The same for all columns.
template <int K, int N, bool ONTO, int STRIDE> static void row_product(const real* a, const real* w, real* out) {
  constexpr int TILE = 8 * LONG, whole = N - N % TILE;
  for (int n = 0; n < whole; n += TILE) row_columns<TILE, K, STRIDE, ONTO>(a, w + n, out + n);
  if constexpr (N > whole) row_columns<N - whole, K, STRIDE, ONTO>(a, w + whole, out + whole);
}

// out = a w, or out += a w with ONTO: a [K][W], w [K][N] of a matrix [K][STRIDE], out [N][W].
template <class Block, int K, int N, bool ONTO, int STRIDE>
static void product(const real* __restrict a, const real* __restrict w, real* __restrict out) {
  if constexpr (Block::W == 1) return row_product<K, N, ONTO, STRIDE>(a, w, out);
  else {
  constexpr int most = REGISTERS / Block::V, tiles = (N + most - 1) / most, size = N / tiles, larger = N % tiles;
  int n = 0;
  if constexpr (larger > 0)
    for (int i = 0; i < larger; ++i, n += size + 1) columns<Block, K, STRIDE, ONTO, size + 1>(a, w, out, n);
  for (int i = larger; i < tiles; ++i, n += size) columns<Block, K, STRIDE, ONTO, size>(a, w, out, n);
  }
}

// sum [M][N] += over steps and rows of a^T g, for M columns of a and all of g.
template <class Block, int M, int N>
static INLINE void outer_row(long steps, const real* a, long a_step, const real* g, long g_step, real* sum) {
  static_assert(Block::W > 1 && M >= 1 && M <= LEFT);
  constexpr int most = RIGHT, tiles = (N + most - 1) / most, size = N / tiles, larger = N % tiles;
  int n = 0;
  if constexpr (larger > 0)
    for (int i = 0; i < larger; ++i, n += size + 1)
      blockwise<Block>().outer_tile[M][size + 1](steps, a, a_step, g + n * Block::W, g_step, sum + n, N);
  for (int i = larger; i < tiles; ++i, n += size)
    blockwise<Block>().outer_tile[M][size](steps, a, a_step, g + n * Block::W, g_step, sum + n, N);
}

// `Rows` rows and `Count` columns of sum [K][N] += over `steps` of a^T g, for one row each of a and g.
template <int Rows, int Count, int N>
static INLINE void row_outer_tile(long steps, const real* a, long a_step, const real* g, long g_step, real* sum) {
  constexpr int vectors = (Count + LONG - 1) / LONG, last = Count - (vectors - 1) * LONG;
  wide_vector c[Rows][vectors] = {};
  for (long t = 0; t < steps; ++t, a += a_step, g += g_step) {
    wide_vector right[vectors];
    UNROLL for (int v = 0; v + 1 < vectors; ++v) right[v] = fetch<LONG>(g + v * LONG);
    right[vectors - 1] = fetch<last>(g + (vectors - 1) * LONG);
    UNROLL for (int i = 0; i < Rows; ++i)
      UNROLL for (int v = 0; v < vectors; ++v) c[i][v] += right[v] * a[i];
  }
  UNROLL for (int i = 0; i < Rows; ++i) {
    real* const row = sum + i * N;
    UNROLL for (int v = 0; v + 1 < vectors; ++v) leave<LONG>(row + v * LONG, fetch<LONG>(row + v * LONG) + c[i][v]);
    real* const end = row + (vectors - 1) * LONG;
    leave<last>(end, fetch<last>(end) + c[i][vectors - 1]);
  }
}

// The same for `Rows` rows and all columns.
template <int Rows, int N>
static INLINE void row_outer_rows(long steps, const real* a, long a_step, const real* g, long g_step, real* sum) {
  constexpr int TILE = 2 * LONG, whole = N - N % TILE;
  for (int n = 0; n < whole; n += TILE) row_outer_tile<Rows, TILE, N>(steps, a, a_step, g + n, g_step, sum + n);
  if constexpr (N > whole) row_outer_tile<Rows, N - whole, N>(steps, a, a_step, g + whole, g_step, sum + whole);
}

// The same for all rows.
template <int K, int N>
static void row_outer(long steps, const real* a, long a_step, const real* g, long g_step, real* sum) {
  constexpr int TILE = 4, whole = K - K % TILE;
  for (int k = 0; k < whole; k += TILE) row_outer_rows<TILE, N>(steps, a + k, a_step, g, g_step, sum + k * N);
  if constexpr (K > whole) row_outer_rows<K - whole, N>(steps, a + whole, a_step, g, g_step, sum + whole * N);
}

// sum [K][N] += over `steps` of a^T g; a [K][W] and g [N][W] move on by their steps.
template <class Block, int K, int N>
static void outer(long steps, const real* a, long a_step, const real* g, long g_step, real* sum) {
  if constexpr (Block::W == 1) return row_outer<K, N>(steps, a, a_step, g, g_step, sum);
  else {
  constexpr int most = LEFT, tiles = (K + most - 1) / most, size = K / tiles, larger = K % tiles;
  int k = 0;
  if constexpr (larger > 0)
    for (int i = 0; i < larger; ++i, k += size + 1)
      outer_row<Block, size + 1, N>(steps, a + k * Block::W, a_step, g, g_step, sum + k * N);
  for (int i = larger; i < tiles; ++i, k += size)
    outer_row<Block, size, N>(steps, a + k * Block::W, a_step, g, g_step, sum + k * N);
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

