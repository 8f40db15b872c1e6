// ---- layouts ---------------------------------------------------------------------------------------------
// A block of axes (outer, count, inner) lies flat, the last axis fastest.

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
