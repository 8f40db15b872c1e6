// ---- optimisers ------------------------------------------------------------------------------------------
// One pass over the parameters [S, P] of a cohort, after one over the gradients where their norms are clipped. A row is
// cut into pieces by P alone, and squares are added up in the order of the pieces.

enum Rule { ADAM, RMSPROP, SGD, ADAGRAD };

struct Update {
  long replicas, width, threads, rule;
  const real* gradient;    // [S, P]
  const real* parameters;  // [S, P]
  real* moved;             // [S, P]
  real* first;             // state [S, P]: mean, square, velocity or square
  real* second;            // state [S, P]: square or velocity, or null
  const real* rate;        // [S]
  const real* limit;       // [S], or null
  const double* numbers;   // of the rule
  double* squares;         // of each piece
};

static constexpr long PIECE = 1 << 14;
using Free = real __attribute__((vector_size(NATIVE), may_alias, aligned(sizeof(real))));

static INLINE wide_vector read(const real* p) { return (wide_vector) * (const Free*)p; }
static INLINE void write(real* p, wide_vector x) { *(Free*)p = (Free)x; }

template <int RULE>
static INLINE wide_vector step_of(const Update& update, wide_vector g, real* first, real* second, real rate) {
  using Vec = wide_vector;
  const double* n = update.numbers;
  Vec a = read(first);
  if constexpr (RULE == ADAM) {  // beta1, beta2, epsilon, 1 - beta1^count, 1 - beta2^count
    Vec b = read(second);
    a = a * real(n[0]) + g * real(1 - n[0]);
    b = b * real(n[1]) + (g * g) * real(1 - n[1]);
    write(first, a), write(second, b);
    return rate * (a / real(n[3])) / (square_root(b / real(n[4])) + real(n[2]));
  }
  if constexpr (RULE == RMSPROP) {  // decay, momentum, epsilon, whether epsilon is under the root
    Vec b = read(second);
    a = a * real(n[0]) + (g * g) * real(1 - n[0]);
    const Vec root = n[3] ? square_root(a + real(n[2])) : square_root(a) + real(n[2]);
    b = b * real(n[1]) + rate * g / root;
    write(first, a), write(second, b);
    return b;
  }
  if constexpr (RULE == SGD) {  // momentum
    a = a * real(n[0]) + g;
    write(first, a);
    return rate * a;
  }
  a = a + g * g;  // ADAGRAD: epsilon
  write(first, a);
  return rate * g / (square_root(a) + real(n[0]));
}

template <int RULE> static void piece_of(const Update& update, long replica, long begin, long end, real factor) {
  const long row = replica * update.width;
  for (long i = begin; i < end; i += LANES) {
    const long left = end - i, at = row + i;
    if (left >= LANES) {
      const wide_vector g = read(update.gradient + at) * factor;
      real* const second = update.second ? update.second + at : nullptr;
      write(update.moved + at,
            read(update.parameters + at) - step_of<RULE>(update, g, update.first + at, second, update.rate[replica]));
      continue;
    }
    alignas(64) real part[4][LANES] = {};
    const real* from[] = {update.gradient, update.parameters, update.first, update.second};
    for (int k = 0; k < 4; ++k)
      if (from[k]) std::memcpy(part[k], from[k] + at, left * sizeof(real));
    const wide_vector g = read(part[0]) * factor;
    write(part[1], read(part[1]) - step_of<RULE>(update, g, part[2], part[3], update.rate[replica]));
    real* const to[] = {update.moved, update.first, update.second};
    for (int k = 0; k < 3; ++k)
      if (to[k]) std::memcpy(to[k] + at, part[k + 1], left * sizeof(real));
  }
}

static double squares_of(const real* g, long count) {
  double sum[8] = {};
  long i = 0;
  for (; i + 8 <= count; i += 8)
    UNROLL for (int j = 0; j < 8; ++j) sum[j] += double(g[i + j]) * double(g[i + j]);
  for (; i < count; ++i) sum[i % 8] += double(g[i]) * double(g[i]);
  return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
}

extern "C" long update_pieces(long width) { return (width + PIECE - 1) / PIECE; }

extern "C" void update_run(const Update* given) {
  const Update& update = *given;
  const long pieces = update_pieces(update.width);
  const long threads = update.replicas * update.width > 1 << 17 ? update.threads : 1;
  auto end_of = [&](long begin) { return begin + PIECE < update.width ? begin + PIECE : update.width; };
  if (update.limit)
    in_parallel(update.replicas * pieces, threads, [&](long item, long) {
      const long begin = item % pieces * PIECE;
      update.squares[item] = squares_of(update.gradient + item / pieces * update.width + begin, end_of(begin) - begin);
    });
  in_parallel(update.replicas * pieces, threads, [&](long item, long) {
    const long replica = item / pieces, begin = item % pieces * PIECE;
    real factor = 1;
    if (update.limit) {
      double square = 0;
      for (long i = 0; i < pieces; ++i) square += update.squares[replica * pieces + i];
      const double ratio = double(update.limit[replica]) / std::sqrt(square);
      factor = ratio < 1 || square != square ? real(ratio) : real(1);
    }
    if (update.rule == ADAM) piece_of<ADAM>(update, replica, begin, end_of(begin), factor);
    if (update.rule == RMSPROP) piece_of<RMSPROP>(update, replica, begin, end_of(begin), factor);
    if (update.rule == SGD) piece_of<SGD>(update, replica, begin, end_of(begin), factor);
    if (update.rule == ADAGRAD) piece_of<ADAGRAD>(update, replica, begin, end_of(begin), factor);
  });
}

