// ---- layouts ---------------------------------------------------------------------------------------------
// A block of axes (outer, count, inner) lies flat, the last axis fastest.

static INLINE void copy(real* out, const real* in, long count) { std::memcpy(out, in, count * sizeof(real)); }

// out[j] = in[places[j]], or 0 for -1.
template <class Block> static void pick(int width, const int* places, const real* in, real* out) {
  for (int j = 0; j < width; ++j, out += Block::W)
    places[j] < 0 ? clear(out, Block::W) : copy(out, in + places[j] * Block::W, Block::W);
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

// Rows [rows][width] into [width][W]; what is missing to W rows repeats the last, and so stays finite if that does.
template <class Block> static void gather(real* out, const real* in, long stride, int width, int rows) {
  for (int r = 0; r < Block::W; ++r) {
    const real* row = in + (r < rows ? r : rows - 1) * stride;
    for (int i = 0; i < width; ++i) out[i * Block::W + r] = row[i];
  }
}

// The same for gradients, added to what is there; what is missing stays.
template <class Block> static void gather_onto(real* out, const real* in, long stride, int width, int rows) {
  for (int r = 0; r < rows; ++r)
    for (int i = 0; i < width; ++i) out[i * Block::W + r] += in[r * stride + i];
}

template <class Block> static void scatter(real* out, long stride, const real* in, int width, int rows) {
  for (int r = 0; r < rows; ++r)
    for (int i = 0; i < width; ++i) out[r * stride + i] = in[i * Block::W + r];
}

