// ---- products with large matrices ------------------------------------------------------------------------
// A large matrix [ROWS][N] is packed in panels of PANEL columns, [panels][ROWS][PANEL], zeros behind the last column.
// All pieces of a block that it multiplies meet one panel in turn, while that is in the first cache. Blocks that fill
// half a vector have their rows in turn and vectors along the columns instead, to the same bits: whichever way, the sum
// of one number runs over k in order.

struct Piece {
  long from, to;  // where it begins in the left block and in the right or the result
};

// ---- loops over single numbers ---------------------------------------------------------------------------
// A vector holds several numbers of a width where a block fills half of one (two numbers), or is a row alone.

template <class Block, bool Several>
using NumbersOf =
    std::conditional_t<Several && (HALVES<Block> || Block::W == 1), wide_vector, typename Block::vector>;
template <class Block, class Vec>
constexpr int numbers = lanes<Vec> > Block::W ? lanes<Vec> / Block::W : 1;
// Up to where a loop takes several: whole vectors of a row alone, or pairs.
template <class Block> constexpr int several(int whole, int pairs) { return Block::W == 1 ? whole : pairs; }

// Number j, and `next` in the other half.
template <class Block, class Vec> static INLINE Vec take_numbers(const real* p, int v, int j, int next) {
  if constexpr (numbers<Block, Vec> == 1) return at<Vec>(p, j * Block::V + v);
  else if constexpr (Block::W == 1) return fetch<LONG>(p + j);
  else return joined(at<narrow_vector>(p, j), at<narrow_vector>(p, next));
}

// Number j, and those behind it.
template <class Block, class Vec> static INLINE Vec take_numbers(const real* p, int v, int j) {
  if constexpr (numbers<Block, Vec> == 1) return at<Vec>(p, j * Block::V + v);
  else return fetch<LONG>(p + j * Block::W);
}

template <class Block, class Vec> static INLINE Vec splat_numbers(const real* p, int j, int next) {
  if constexpr (numbers<Block, Vec> == 1) return splat<Vec>(p[j]);
  else if constexpr (Block::W == 1) return fetch<LONG>(p + j);
  else {
    whole_of<Vec> halves;
    UNROLL for (int l = 0; l < LONG; ++l) halves[l] = l < Block::W ? 0 : LONG;
    return __builtin_shuffle(splat<Vec>(p[j]), splat<Vec>(p[next]), halves);
  }
}

template <class Block, class Vec> static INLINE void leave_numbers(real* p, int j, int v, Vec x) {
  if constexpr (numbers<Block, Vec> == 1) put(p, j * Block::V + v, x);
  else leave<LONG>(p + j * Block::W, x);
}

// ---- products of pieces ----------------------------------------------------------------------------------

// `Count` columns x [Count][W] as rows: entry l of x[v][r] is row r of column v * LONG + l, or zero behind the last.
template <class Block, int Count> static INLINE void to_rows(const real* in, wide_vector (*x)[Block::W]) {
  constexpr int W = Block::W, vectors = (Count + LONG - 1) / LONG;
  UNROLL for (int v = 0; v < vectors; ++v) {
    UNROLL for (int j = 0; j < W; ++j) {
      const int low = v * LONG + j, high = low + W;
      const narrow_vector none = {};
      x[v][j] = joined(low < Count ? at<narrow_vector>(in, low) : none, high < Count ? at<narrow_vector>(in, high) : none);
    }
    transpose<1, W>(x[v]);
  }
}

// And back.
template <class Block, int Count> static INLINE void from_rows(wide_vector (*x)[Block::W], real* out) {
  constexpr int W = Block::W, vectors = (Count + LONG - 1) / LONG;
  UNROLL for (int v = 0; v < vectors; ++v) {
    transpose<1, W>(x[v]);
    UNROLL for (int j = 0; j < W; ++j) {
      const int low = v * LONG + j, high = low + W;
      if (low < Count) std::memcpy(out + low * W, x[v] + j, W * sizeof(real));
      if (high < Count) std::memcpy(out + high * W, (const real*)(x[v] + j) + W, W * sizeof(real));
    }
  }
}

// `Count` columns of out (+)= a w: a [K][W], w [K][STRIDE], out [Count][W]; of half a vector the first `Rows` rows.
template <class Block, int K, int Count, bool ONTO, int Rows, int STRIDE = PANEL>
static void panel(const real* a, const real* w, real* out) {
  if constexpr (!HALVES<Block>) return product<Block, K, Count, ONTO, STRIDE>(a, w, out);
  else {
    constexpr int W = Block::W, vectors = (Count + LONG - 1) / LONG;
    wide_vector sum[vectors][W] = {};
    if constexpr (ONTO) to_rows<Block, Count>(out, sum);
    for (int k = 0; k < K; ++k, a += W, w += STRIDE) {
      wide_vector right[vectors];
      UNROLL for (int v = 0; v < vectors; ++v) right[v] = fetch<LONG>(w + v * LONG);
      UNROLL for (int r = 0; r < Rows; ++r)
        UNROLL for (int v = 0; v < vectors; ++v) sum[v][r] += right[v] * a[r];
    }
    from_rows<Block, Count>(sum, out);
  }
}

// out (+)= a w, for a [K][W] and w [K] rows apart by STRIDE; `rows` of a block are there. Of small matrices few rows are
// not worth code of their own; vectors along the columns of the last row reach beyond it.
template <class Block, int K, int N, bool ONTO, int STRIDE>
static void product_of(int rows, const real* a, const real* w, real* out) {
  constexpr int W = Block::W, few = W / 2, TILE = 4 * LONG, whole = N - N % TILE;
  if constexpr (HALVES<Block> && K >= LONG && N >= LONG && K * N >= 1024)
    if (rows <= few) {
      for (int n = 0; n < whole; n += TILE) panel<Block, K, TILE, ONTO, few, STRIDE>(a, w + n, out + n * W);
      if constexpr (N > whole) panel<Block, K, N - whole, ONTO, few, STRIDE>(a, w + whole, out + whole * W);
      return;
    }
  product<Block, K, N, ONTO, STRIDE>(a, w, out);
}

// out (+)= a w for each piece: K rows of a matrix of ROWS, N columns.
template <class Block, int K, int N, bool ONTO, int ROWS, int Rows = Block::W, int Pieces>
static void products(int rows, const Piece (&pieces)[Pieces], const real* a, const real* w, real* out) {
  constexpr int W = Block::W, whole = N - N % PANEL;
  if constexpr (HALVES<Block> && Rows == W)
    if (rows <= W / 2) return products<Block, K, N, ONTO, ROWS, W / 2>(rows, pieces, a, w, out);
  for (int n = 0; n < whole; n += PANEL)
    for (const Piece& piece : pieces)
      panel<Block, K, PANEL, ONTO, Rows>(a + piece.from * W, w + n * ROWS, out + (piece.to + n) * W);
  if constexpr (N > whole)
    for (const Piece& piece : pieces)
      panel<Block, K, N - whole, ONTO, Rows>(a + piece.from * W, w + whole * ROWS, out + (piece.to + whole) * W);
}

// Columns `from` to `from` + N of a leaf [K][..] in panels.
static void pack_panels(const Call& call, long replica, int leaf, bool transposed, int K, int from, int N, real* out) {
  const long* stride = call.strides + 3 * leaf;
  const long row = stride[transposed ? 2 : 1], column = stride[transposed ? 1 : 2];
  const real* const in = call.leaves[leaf] + replica * stride[0] + from * column;
  for (int n = 0; n < N; n += PANEL, out += K * PANEL)
    for (int k = 0; k < K; ++k)
      for (int j = 0; j < PANEL; ++j) out[k * PANEL + j] = n + j < N ? in[k * row + (n + j) * column] : 0;
}

// ---- their gradients -------------------------------------------------------------------------------------

static constexpr int BLOCKS = 32;  // whose rows, a panel wide, are at hand at once

// `Rows` rows and `Count` columns of sum [..][N] += a^T g over blocks a [..][W] and as many rows of g [W][PANEL] each.
template <class Block, int Rows, int Count, int N>
static void gathered_tile(long blocks, const real* const* a, const real* g, real* sum) {
  constexpr int W = Block::W, vectors = (Count + LONG - 1) / LONG, last = Count - (vectors - 1) * LONG;
  wide_vector c[Rows][vectors] = {};
  for (long u = 0; u < blocks; ++u) {
    const real* left = *a++;
    for (int r = 0; r < W; ++r, ++left, g += PANEL) {
      wide_vector right[vectors];
      UNROLL for (int v = 0; v < vectors; ++v) right[v] = fetch<LONG>(g + v * LONG);
      UNROLL for (int i = 0; i < Rows; ++i)
        UNROLL for (int v = 0; v < vectors; ++v) c[i][v] += right[v] * left[i * W];
    }
  }
  UNROLL for (int i = 0; i < Rows; ++i) {
    real* const row = sum + i * N;
    UNROLL for (int v = 0; v + 1 < vectors; ++v) leave<LONG>(row + v * LONG, fetch<LONG>(row + v * LONG) + c[i][v]);
    real* const end = row + (vectors - 1) * LONG;
    leave<last>(end, fetch<last>(end) + c[i][vectors - 1]);
  }
}

// The same for K rows of sum and columns of g [..][Count][W].
template <class Block, int K, int Count, int N>
static void gathered_panel(long blocks, const real** a, const real* const* g, real* rows, real* sum) {
  constexpr int W = Block::W, vectors = (Count + LONG - 1) / LONG;
  constexpr int most = REGISTERS / vectors, tiles = (K + most - 1) / most, size = K / tiles, larger = K % tiles;
  for (long u = 0; u < blocks; ++u) {
    wide_vector x[vectors][W];
    to_rows<Block, Count>(g[u], x);
    UNROLL for (int r = 0; r < W; ++r)
      UNROLL for (int v = 0; v < vectors; ++v) leave<LONG>(rows + (u * W + r) * PANEL + v * LONG, x[v][r]);
  }
  const real* left[BLOCKS];
  int k = 0;
  for (int i = 0; i < tiles; ++i) {
    for (long u = 0; u < blocks; ++u) left[u] = a[u] + k * W;
    if (i < larger) gathered_tile<Block, size + 1, Count, N>(blocks, left, rows, sum + k * N), k += size + 1;
    else gathered_tile<Block, size, Count, N>(blocks, left, rows, sum + k * N), k += size;
  }
}

// sum [K][N] += over steps and pieces of a^T g. Blocks of half a vector have the rows of g one after another first, some
// at a time, so that vectors lie along the columns and nothing is added up across a vector.
template <class Block, int K, int N, int Pieces>
static void gathered(const Piece (&pieces)[Pieces], long steps, const real* a, long a_step, const real* g, long g_step,
                     real* sum) {
  constexpr int W = Block::W, whole = N - N % PANEL;
  if constexpr (!HALVES<Block>) {
    for (const Piece& piece : pieces)
      outer<Block, K, N>(steps, a + piece.from * W, a_step, g + piece.to * W, g_step, sum);
  } else {
    alignas(64) real rows[BLOCKS * W * PANEL];
    const real *left[BLOCKS], *right[BLOCKS];
    for (long all = steps * Pieces, begin = 0; begin < all; begin += BLOCKS) {
      const long blocks = all - begin < BLOCKS ? all - begin : BLOCKS;
      for (int n = 0; n < N; n += PANEL) {
        for (long u = 0; u < blocks; ++u) {
          const long t = (begin + u) / Pieces;
          const Piece& piece = pieces[(begin + u) % Pieces];
          left[u] = a + t * a_step + piece.from * W;
          right[u] = g + t * g_step + (piece.to + n) * W;
        }
        if (n < whole) gathered_panel<Block, K, PANEL, N>(blocks, left, right, rows, sum + n);
        else if constexpr (N > whole) gathered_panel<Block, K, N - whole, N>(blocks, left, right, rows, sum + n);
      }
    }
  }
}
