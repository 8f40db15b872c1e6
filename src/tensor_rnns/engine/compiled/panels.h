// ---- products of long rows -------------------------------------------------------------------------------
// Rows of the batch lie one after another, a panel is a few vectors of columns; the sums of each number run over k in
// order, wherever its tile begins, and are added to what is there at the end: sums of 10,000 in one chain lose digits.

using Vector = wide_vector;
static constexpr int LANES = lanes<Vector>, WIDEST = 3, TALLEST = 8;
template <int N> constexpr int HEIGHT = REGISTERS / N < TALLEST ? REGISTERS / N : TALLEST;

static INLINE Vector load(const real* p) { return *(const Vector*)p; }
static INLINE void store(real* p, Vector x) { *(Vector*)p = x; }
constexpr long rounded(long count, long grain) { return (count + grain - 1) / grain * grain; }

// c[i] (+)= sum over k < K of a[i][k] b[k], for M rows and N vectors; b and c move on by their strides.
template <int M, int N, bool ONTO>
static INLINE void rows_tile(long K, const real* const* a, const real* b, long b_row, real* c, long c_row) {
  Vector sum[M][N] = {};
  for (long k = 0; k < K; ++k, b += b_row) {
    Vector right[N];
    UNROLL for (int n = 0; n < N; ++n) right[n] = load(b + n * LANES);
    UNROLL for (int i = 0; i < M; ++i)
      UNROLL for (int n = 0; n < N; ++n) sum[i][n] += right[n] * a[i][k];
  }
  UNROLL for (int i = 0; i < M; ++i)
    UNROLL for (int n = 0; n < N; ++n) {
      real* const out = c + i * c_row + n * LANES;
      store(out, ONTO ? load(out) + sum[i][n] : sum[i][n]);
    }
}

// c[i] (+)= sum over k < K of a[k][i] b[k], for M entries of each row of a.
template <int M, int N, bool ONTO>
static INLINE void columns_tile(long K, const real* const* a, long i0, const real* b, long b_row, real* c,
                                long c_row) {
  Vector sum[M][N] = {};
  for (long k = 0; k < K; ++k, b += b_row) {
    const real* left = a[k] + i0;
    Vector right[N];
    UNROLL for (int n = 0; n < N; ++n) right[n] = load(b + n * LANES);
    UNROLL for (int i = 0; i < M; ++i)
      UNROLL for (int n = 0; n < N; ++n) sum[i][n] += right[n] * left[i];
  }
  UNROLL for (int i = 0; i < M; ++i)
    UNROLL for (int n = 0; n < N; ++n) {
      real* const out = c + i * c_row + n * LANES;
      store(out, ONTO ? load(out) + sum[i][n] : sum[i][n]);
    }
}

template <int M, int N, bool ONTO>
static void rest_of_rows(long m, long K, const real* const* a, const real* b, long b_row, real* c, long c_row) {
  if constexpr (M > 0) {
    if (m == M) return rows_tile<M, N, ONTO>(K, a, b, b_row, c, c_row);
    rest_of_rows<M - 1, N, ONTO>(m, K, a, b, b_row, c, c_row);
  }
}

// All m rows of a, against one panel.
template <int N, bool ONTO>
static void rows_product(long m, long K, const real* const* a, const real* b, long b_row, real* c, long c_row) {
  constexpr int M = HEIGHT<N>;
  for (; m >= M; m -= M, a += M, c += M * c_row) rows_tile<M, N, ONTO>(K, a, b, b_row, c, c_row);
  rest_of_rows<M - 1, N, ONTO>(m, K, a, b, b_row, c, c_row);
}

template <int M, int N, bool ONTO>
static void rest_of_columns(long m, long K, const real* const* a, long i, const real* b, long b_row, real* c,
                            long c_row) {
  if constexpr (M > 0) {
    if (m == M) return columns_tile<M, N, ONTO>(K, a, i, b, b_row, c, c_row);
    rest_of_columns<M - 1, N, ONTO>(m, K, a, i, b, b_row, c, c_row);
  }
}

// All m entries of the rows of a, against one panel.
template <int N, bool ONTO>
static void columns_product(long m, long K, const real* const* a, const real* b, long b_row, real* c, long c_row) {
  constexpr int M = HEIGHT<N>;
  long i = 0;
  for (; m - i >= M; i += M, c += M * c_row) columns_tile<M, N, ONTO>(K, a, i, b, b_row, c, c_row);
  rest_of_columns<M - 1, N, ONTO>(m - i, K, a, i, b, b_row, c, c_row);
}

// rows_product against a matrix of `count` vectors, panel by panel.
template <bool ONTO>
static void wide_product(long m, long K, const real* const* a, const real* b, long b_row, long count, real* c,
                         long c_row) {
  long n = 0;
  for (; n + 3 <= count; n += 3) rows_product<3, ONTO>(m, K, a, b + n * LANES, b_row, c + n * LANES, c_row);
  if (count - n == 2) rows_product<2, ONTO>(m, K, a, b + n * LANES, b_row, c + n * LANES, c_row);
  if (count - n == 1) rows_product<1, ONTO>(m, K, a, b + n * LANES, b_row, c + n * LANES, c_row);
}

