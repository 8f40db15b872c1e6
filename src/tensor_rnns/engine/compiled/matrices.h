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

// At most so many columns of a and of g in one tile: more, and the compiler reads some of them again and again.
static constexpr int LEFT = 3, RIGHT = NATIVE == 64 ? 8 : 4;

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
        Vec right = ((const Vec*)g)[j * V + v];
        IN_REGISTER(right);
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

