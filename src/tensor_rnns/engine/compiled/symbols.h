
// ---- symbols ---------------------------------------------------------------------------------------------
// Of one-hot vectors only products with tables are made: a symbol picks a row. A row may be a matrix [N][K] without gaps,
// by which what stands in the block is multiplied. Gradients of a row are added up over its places in their order.

// Whole numbers that begin with 0.
struct Counts {
  long* const first;
  explicit Counts(long count) : first(new long[count]()) {}
  Counts(const Counts&) = delete;
  ~Counts() { delete[] first; }
};

// out[i W] = left . row i, for `Rows` rows [K]; left ends in zeros.
template <int Rows, int K, int W> static INLINE void dots(const real* left, const real* matrix, real* out) {
  constexpr int rest = K % LONG, whole = K - rest;
  wide_vector sum[LONG] = {};
  for (int k = 0; k < whole; k += LONG) {
    const wide_vector x = *(const wide_vector*)(left + k);
    UNROLL for (int i = 0; i < Rows; ++i) sum[i] += x * fetch<LONG>(matrix + i * K + k);
  }
  if constexpr (rest > 0) {
    const wide_vector x = *(const wide_vector*)(left + whole);
    UNROLL for (int i = 0; i < Rows; ++i) sum[i] += x * fetch<rest>(matrix + i * K + whole);
  }
  const wide_vector all = totals<LONG / 2>(sum);
  UNROLL for (int i = 0; i < Rows; ++i) out[i * W] = all[i];
}

// out [N][W] = the matrix [N][K] of each row times a [K][W]. Rows that do not exist repeat the last, so that they stay
// as finite as it: their gradients are zeros, and times infinity no longer.
template <class Block, int K, int N>
static void picked(const real* const* matrices, int rows, const real* a, real* out) {
  constexpr int W = Block::W, whole = N - N % LONG;
  alignas(64) real left[(K + LONG - 1) / LONG * LONG] = {};
  for (int r = 0; r < rows; ++r) {
    for (int k = 0; k < K; ++k) left[k] = a[k * W + r];
    for (int n = 0; n < whole; n += LONG) dots<LONG, K, W>(left, matrices[r] + n * K, out + n * W + r);
    if constexpr (N > whole) dots<N - whole, K, W>(left, matrices[r] + whole * K, out + whole * W + r);
  }
  for (int n = 0; n < N; ++n)
    for (int r = rows; r < W; ++r) out[n * W + r] = out[n * W + rows - 1];
}

// out[k] = sum over n of g[n] matrix[n][k], for `Count` columns.
template <int Count, int K, int N> static INLINE void sums_of_rows(const real* g, const real* matrix, real* out) {
  constexpr int vectors = (Count + LONG - 1) / LONG, last = Count - (vectors - 1) * LONG;
  wide_vector sum[2][vectors] = {};
  auto add = [&](int n) {
    const real* const row = matrix + n * K;
    UNROLL for (int v = 0; v + 1 < vectors; ++v) sum[n % 2][v] += fetch<LONG>(row + v * LONG) * g[n];
    sum[n % 2][vectors - 1] += fetch<last>(row + (vectors - 1) * LONG) * g[n];
  };
  for (int n = 0; n + 1 < N; n += 2) add(n), add(n + 1);
  if constexpr (N % 2) add(N - 1);
  UNROLL for (int v = 0; v < vectors; ++v) *(wide_vector*)(out + v * LONG) = sum[0][v] + sum[1][v];
}

// out [K][W] = g [N][W] times the matrix [N][K] of each row.
template <class Block, int K, int N>
static void picked_back(const real* const* matrices, int rows, const real* g, real* out) {
  constexpr int W = Block::W, TILE = 4 * LONG, whole = K - K % TILE;
  alignas(64) real right[N], made[(K + LONG - 1) / LONG * LONG];
  clear(out, K * W);
  for (int r = 0; r < rows; ++r) {
    for (int n = 0; n < N; ++n) right[n] = g[n * W + r];
    for (int k = 0; k < whole; k += TILE) sums_of_rows<TILE, K, N>(right, matrices[r] + k, made + k);
    if constexpr (K > whole) sums_of_rows<K - whole, K, N>(right, matrices[r] + whole, made + whole);
    for (int k = 0; k < K; ++k) out[k * W + r] = made[k];
  }
}

// Where a symbol stands in the rows [T, S, B].
struct Places {
  const long *first, *end;
};

static constexpr int room(int width) { return (width + 15) / 16 * 16; }

// `Rows` rows from n on and `Count` columns from k on of out [N][K] (+)= sum over places of g left^T.
template <int Rows, int Count, int K, int N>
static INLINE void outer_of(const Places& places, const real* left, const real* g, real* out, bool onto) {
  constexpr int vectors = (Count + LONG - 1) / LONG, last = Count - (vectors - 1) * LONG;
  wide_vector sum[Rows][vectors] = {};
  for (const long* place = places.first; place < places.end; ++place) {
    wide_vector x[vectors];
    UNROLL for (int v = 0; v < vectors; ++v) x[v] = *(const wide_vector*)(left + *place * room(K) + v * LONG);
    UNROLL for (int i = 0; i < Rows; ++i) {
      const real y = g[*place * room(N) + i];
      UNROLL for (int v = 0; v < vectors; ++v) sum[i][v] += x[v] * y;
    }
  }
  UNROLL for (int i = 0; i < Rows; ++i) {
    real* const row = out + i * K;
    UNROLL for (int v = 0; v + 1 < vectors; ++v)
      leave<LONG>(row + v * LONG, onto ? fetch<LONG>(row + v * LONG) + sum[i][v] : sum[i][v]);
    real* const end = row + (vectors - 1) * LONG;
    leave<last>(end, onto ? fetch<last>(end) + sum[i][vectors - 1] : sum[i][vectors - 1]);
  }
}

template <int Rows, int K, int N>
static INLINE void rows_of(const Places& places, const real* left, const real* g, real* out, bool onto) {
  constexpr int TILE = 4 * LONG, whole = K - K % TILE;
  for (int k = 0; k < whole; k += TILE) outer_of<Rows, TILE, K, N>(places, left + k, g, out + k, onto);
  if constexpr (K > whole) outer_of<Rows, K - whole, K, N>(places, left + whole, g, out + whole, onto);
}

// The gradient of the matrix of a symbol: out [N][K] (+)= sum over its places of g left^T.
template <int K, int N>
static void matrix_of(const Places& places, const real* left, const real* g, real* out, bool onto) {
  constexpr int ROWS_OF_A_TILE = 4, whole = N - N % ROWS_OF_A_TILE;
  for (int n = 0; n < whole; n += ROWS_OF_A_TILE)
    rows_of<ROWS_OF_A_TILE, K, N>(places, left, g + n, out + n * K, onto);
  if constexpr (N > whole) rows_of<N - whole, K, N>(places, left, g + whole, out + whole * K, onto);
}

// The gradient of a row: out [N] (+)= sum over its places of g.
template <int N> static void row_of(const Places& places, const real* g, real* out, bool onto) {
  const long* place = places.first;
  if (!onto) copy(out, g + *place++ * room(N), N);
  for (; place < places.end; ++place)
    for (int n = 0; n < N; ++n) out[n] += g[*place * room(N) + n];
}

// Row `symbol` of the gradient of a table, or null where it is not wanted.
static real* gradient_row(const Call& call, int table, long replica, long symbol) {
  const long* stride = call.table_gradient_strides + 2 * table;
  real* const first = call.table_gradients[table];
  return first ? first + replica * stride[0] + symbol * stride[1] : nullptr;
}
