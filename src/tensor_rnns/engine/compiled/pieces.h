// ---- products with large matrices ------------------------------------------------------------------------
// A large matrix [ROWS][N] is packed in panels of PANEL columns, [panels][ROWS][PANEL], zeros behind the last column.
// All pieces of a block that it multiplies meet one panel in turn, while that is in the first cache. A piece is a sum
// over taps, which may lie in several blocks. Blocks that fill half a vector have their rows in turn and vectors along
// the columns instead, to the same bits: whichever way, the sum of one number runs over the taps and k in order.

struct Tap {
  int block;      // on the left
  long from, at;  // its first number there, and that of its rows in the packed panels
};

struct Window {
  long to;          // where the sums begin
  int first, last;  // of which taps
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

// `Count` columns of out (+)= the sum over taps of a w: a [K][W], w [K][STRIDE], out [Count][W]; of half a vector the
// first `Rows` rows. On the way forth the others repeat the last, so that they stay finite; on the way back they are zero.
template <class Block, int K, int Count, bool ONTO, bool FORTH, int Rows, int STRIDE = PANEL>
static void panel(const Tap* tap, const Tap* end, const real* const* blocks, const real* packed, real* out) {
  constexpr int W = Block::W;
  if constexpr (!HALVES<Block>) {
    if constexpr (!ONTO) {
      product<Block, K, Count, false, STRIDE>(blocks[tap->block] + tap->from * W, packed + tap->at, out);
      ++tap;
    }
    for (; tap < end; ++tap)
      product<Block, K, Count, true, STRIDE>(blocks[tap->block] + tap->from * W, packed + tap->at, out);
  } else {
    constexpr int vectors = (Count + LONG - 1) / LONG;
    wide_vector sum[vectors][W] = {};
    if constexpr (ONTO) to_rows<Block, Count>(out, sum);
    for (; tap < end; ++tap) {
      const real *a = blocks[tap->block] + tap->from * W, *w = packed + tap->at;
      for (int k = 0; k < K; ++k, a += W, w += STRIDE) {
        wide_vector right[vectors];
        UNROLL for (int v = 0; v < vectors; ++v) right[v] = fetch<LONG>(w + v * LONG);
        UNROLL for (int r = 0; r < Rows; ++r)
          UNROLL for (int v = 0; v < vectors; ++v) sum[v][r] += right[v] * a[r];
      }
    }
    if constexpr (FORTH && Rows < W)
      UNROLL for (int v = 0; v < vectors; ++v)
        UNROLL for (int r = Rows; r < W; ++r) sum[v][r] = sum[v][Rows - 1];
    from_rows<Block, Count>(sum, out);
  }
}

// out (+)= a w, for a [K][W] and w [K] rows apart by STRIDE; `rows` of a block are there. Of small matrices few rows are
// not worth code of their own; vectors along the columns of the last row reach beyond it.
template <class Block, int K, int N, bool ONTO, bool FORTH, int STRIDE>
static void product_of(int rows, const real* a, const real* w, real* out) {
  constexpr int W = Block::W, few = W / 2, TILE = 4 * LONG, whole = N - N % TILE;
  static constexpr Tap tap = {0, 0, 0};
  if constexpr (HALVES<Block> && K >= LONG && N >= LONG && K * N >= 1024)
    if (rows <= few) {
      for (int n = 0; n < whole; n += TILE)
        panel<Block, K, TILE, ONTO, FORTH, few, STRIDE>(&tap, &tap + 1, &a, w + n, out + n * W);
      if constexpr (N > whole)
        panel<Block, K, N - whole, ONTO, FORTH, few, STRIDE>(&tap, &tap + 1, &a, w + whole, out + whole * W);
      return;
    }
  product<Block, K, N, ONTO, STRIDE>(a, w, out);
}

// out (+)= the sum over taps of a w for each window: K rows of a matrix of ROWS, N columns.
template <class Block, int K, int N, bool ONTO, bool FORTH, int ROWS, int Rows = Block::W, int Windows>
static void products(int rows, const Window (&windows)[Windows], const Tap* taps, const real* const* blocks,
                     const real* packed, real* out) {
  constexpr int W = Block::W, whole = N - N % PANEL;
  if constexpr (HALVES<Block> && Rows == W)
    if (rows <= W / 2) return products<Block, K, N, ONTO, FORTH, ROWS, W / 2>(rows, windows, taps, blocks, packed, out);
  for (int n = 0; n < whole; n += PANEL)
    for (const Window& sum : windows)
      panel<Block, K, PANEL, ONTO, FORTH, Rows>(taps + sum.first, taps + sum.last, blocks, packed + n * ROWS,
                                                out + (sum.to + n) * W);
  if constexpr (N > whole)
    for (const Window& sum : windows)
      panel<Block, K, N - whole, ONTO, FORTH, Rows>(taps + sum.first, taps + sum.last, blocks, packed + whole * ROWS,
                                                    out + (sum.to + whole) * W);
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

struct Shown {
  int block;  // that a tap of a piece shows, or -1
  long from;
};

struct Operand {
  const real* at;
  long step;  // how far on the next step lies
};

// `Rows` rows and `Count` columns of sum [..][N] += a^T g over blocks a [..][W] and as many rows g [W][PANEL].
template <class Block, int Rows, int Count, int N>
static void gathered_tile(long blocks, long k, const real* const* a, const real* const* g, real* sum) {
  constexpr int W = Block::W, vectors = (Count + LONG - 1) / LONG, last = Count - (vectors - 1) * LONG;
  wide_vector c[Rows][vectors] = {};
  for (long u = 0; u < blocks; ++u) {
    const real *left = a[u] + k * W, *row = g[u];
    for (int r = 0; r < W; ++r, ++left, row += PANEL) {
      wide_vector right[vectors];
      UNROLL for (int v = 0; v < vectors; ++v) right[v] = fetch<LONG>(row + v * LONG);
      UNROLL for (int i = 0; i < Rows; ++i)
        UNROLL for (int v = 0; v < vectors; ++v) c[i][v] += right[v] * left[i * W];
    }
  }
  UNROLL for (int i = 0; i < Rows; ++i) {
    real* const row = sum + (k + i) * N;
    UNROLL for (int v = 0; v + 1 < vectors; ++v) leave<LONG>(row + v * LONG, fetch<LONG>(row + v * LONG) + c[i][v]);
    real* const end = row + (vectors - 1) * LONG;
    leave<last>(end, fetch<last>(end) + c[i][vectors - 1]);
  }
}

// The same for all K rows of each tap; g [blocks][..][W], of piece `first` + u of all steps one after another.
template <class Block, int K, int Count, int N, int Pieces, int Taps>
static void gathered_panel(const Shown (&taps)[Taps][Pieces], long first, long blocks, const Operand* shown,
                           const real* const* g, real* rows, real* sum) {
  constexpr int W = Block::W, vectors = (Count + LONG - 1) / LONG;
  constexpr int most = REGISTERS / vectors, tiles = (K + most - 1) / most, size = K / tiles, larger = K % tiles;
  for (long u = 0; u < blocks; ++u) {
    wide_vector x[vectors][W];
    to_rows<Block, Count>(g[u], x);
    UNROLL for (int r = 0; r < W; ++r)
      UNROLL for (int v = 0; v < vectors; ++v) leave<LONG>(rows + (u * W + r) * PANEL + v * LONG, x[v][r]);
  }
  for (int tap = 0; tap < Taps; ++tap, sum += K * N) {
    const real *left[BLOCKS], *right[BLOCKS];
    long there = 0;
    for (long u = 0; u < blocks; ++u) {
      const Shown& read = taps[tap][(first + u) % Pieces];
      if (read.block < 0) continue;
      left[there] = shown[read.block].at + (first + u) / Pieces * shown[read.block].step + read.from * W;
      right[there++] = rows + u * W * PANEL;
    }
    if (there == 0) continue;
    long k = 0;
    if constexpr (larger > 0)
      for (int i = 0; i < larger; ++i, k += size + 1) gathered_tile<Block, size + 1, Count, N>(there, k, left, right, sum);
    for (int i = larger; i < tiles; ++i, k += size) gathered_tile<Block, size, Count, N>(there, k, left, right, sum);
  }
}

// sum [Taps][K][N] += over steps and pieces of a^T g. Blocks of half a vector have the rows of g one after another first,
// some at a time, so that vectors lie along the columns and nothing is added up across a vector.
template <class Block, int K, int N, int Pieces, int Taps>
static void gathered(const Shown (&taps)[Taps][Pieces], const long (&starts)[Pieces], long steps, const Operand* shown,
                     Operand g, real* sum) {
  constexpr int W = Block::W, whole = N - N % PANEL;
  if constexpr (!HALVES<Block>) {
    for (int tap = 0; tap < Taps; ++tap, sum += K * N)
      for (int i = 0; i < Pieces; ++i) {
        const Shown& read = taps[tap][i];
        if (read.block < 0) continue;
        const Operand& a = shown[read.block];
        outer<Block, K, N>(steps, a.at + read.from * W, a.step, g.at + starts[i] * W, g.step, sum);
      }
  } else {
    alignas(64) real rows[BLOCKS * W * PANEL];
    const real* right[BLOCKS];
    for (long all = steps * Pieces, first = 0; first < all; first += BLOCKS) {
      const long blocks = all - first < BLOCKS ? all - first : BLOCKS;
      for (int n = 0; n < N; n += PANEL) {
        for (long u = 0; u < blocks; ++u)
          right[u] = g.at + (first + u) / Pieces * g.step + (starts[(first + u) % Pieces] + n) * W;
        if (n < whole) gathered_panel<Block, K, PANEL, N>(taps, first, blocks, shown, right, rows, sum + n);
        else if constexpr (N > whole)
          gathered_panel<Block, K, N - whole, N>(taps, first, blocks, shown, right, rows, sum + n);
      }
    }
  }
}
