// ---- layouts ---------------------------------------------------------------------------------------------
// A block of axes (outer, count, inner) lies flat, the last axis fastest.

static INLINE void copy(real* out, const real* in, long count) { std::memcpy(out, in, count * sizeof(real)); }

// out[j] = in[places[j]], or 0 for -1.
template <class Block> static void pick(int width, const int* places, const real* in, real* out) {
  using Vec = typename Block::vector;
  constexpr int V = Block::V;
  for (int j = 0; j < width; ++j)
    UNROLL for (int v = 0; v < V; ++v) put(out, j * V + v, places[j] < 0 ? Vec{} : at<Vec>(in, places[j] * V + v));
}

// out[o][i] = the sum over c of in[o][c][i].
template <class Block, int Outer, int Count, int Inner> static void sums(const real* in, real* out) {
  using Vec = typename Block::vector;
  constexpr int row = Inner * Block::V;
  for (int o = 0; o < Outer; ++o, in += Count * Inner * Block::W)
    for (int i = 0; i < row; ++i) {
      Vec sum = at<Vec>(in, i);
      for (int c = 1; c < Count; ++c) sum += at<Vec>(in, c * row + i);
      put(out, o * row + i, sum);
    }
}

// The greatest in place of the sum; NaN if one is.
template <class Block, int Outer, int Count, int Inner> static void greatest(const real* in, real* out) {
  using Vec = typename Block::vector;
  constexpr int row = Inner * Block::V;
  for (int o = 0; o < Outer; ++o, in += Count * Inner * Block::W)
    for (int i = 0; i < row; ++i) {
      Vec most = at<Vec>(in, i);
      for (int c = 1; c < Count; ++c) {
        const Vec x = at<Vec>(in, c * row + i);
        most = (x > most) | (x != x) ? x : most;
      }
      put(out, o * row + i, most);
    }
}

// ---- rows of the batch -----------------------------------------------------------------------------------

// x[i][l] into x[l][i], by exchanging blocks of 1, 2, 4, .. lanes; where there are fewer vectors than lanes, in each
// group of as many lanes.
template <int Half = 1, int Count = 0, class Vec> static INLINE void transpose(Vec* x) {
  constexpr int L = lanes<Vec>, vectors = Count ? Count : L;
  if constexpr (Half < vectors) {
    whole_of<Vec> low, high;
    UNROLL for (int l = 0; l < L; ++l) low[l] = l & Half ? L + l - Half : l, high[l] = l & Half ? L + l : l + Half;
    UNROLL for (int i = 0; i < vectors; ++i)
      if (!(i & Half)) {
        const Vec a = x[i], b = x[i + Half];
        x[i] = __builtin_shuffle(a, b, low), x[i + Half] = __builtin_shuffle(a, b, high);
      }
    transpose<2 * Half, Count>(x);
  }
}

// Rows [rows][width] into, or with ONTO onto, [width][W]. What is missing to W rows repeats the last, and so stays
// finite if that does; with ONTO it is left as it is.
template <class Block, bool ONTO> static void turn(real* out, const real* in, long stride, int width, int rows) {
  using Vec = typename Block::vector;
  constexpr int V = Block::V, L = lanes<Vec>;
  const int tiles = L > 1 ? width / L * L : 0;
  for (int v = 0; v < V; ++v)
    for (int i = 0; i < tiles; i += L) {
      Vec x[L] = {};
      UNROLL for (int l = 0; l < L; ++l) {
        const int r = v * L + l;
        if (!ONTO || r < rows) std::memcpy(x + l, in + (r < rows ? r : rows - 1) * stride + i, sizeof(Vec));
      }
      transpose(x);
      UNROLL for (int l = 0; l < L; ++l) {
        const int place = (i + l) * V + v;
        put(out, place, ONTO ? at<Vec>(out, place) + x[l] : x[l]);
      }
    }
  for (int r = 0; r < (ONTO ? rows : Block::W); ++r)
    for (int i = tiles; i < width; ++i) {
      const real x = in[(r < rows ? r : rows - 1) * stride + i];
      out[i * Block::W + r] = ONTO ? out[i * Block::W + r] + x : x;
    }
}

template <class Block> static void gather(real* out, const real* in, long stride, int width, int rows) {
  turn<Block, false>(out, in, stride, width, rows);
}
template <class Block> static void gather_onto(real* out, const real* in, long stride, int width, int rows) {
  turn<Block, true>(out, in, stride, width, rows);
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
