// ---- optimisers ------------------------------------------------------------------------------------------
// One pass over the parameters [S, P] of a cohort, after one over the gradients where their norms are clipped. A row is
// cut into pieces by P and what is touched alone, and squares are added up in the order of the pieces.

#include <algorithm>
#include <cmath>
#include <limits>
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
  const real* value;       // [S], or null
  const double* numbers;   // of the rule
  long gap_count, table_count, steps, batch;  // of what is touched
  const long* gaps;        // where what is no table begins and ends
  const long* tables;      // of each: its first number, its rows, their width
  const int64_t* symbols;  // [T, S, B]: the rows of a replica that are touched; null: everything is
  const long* strides;     // step, replica, row
  const bool* running;     // [S]: replicas that are updated
};

// Numbers of a replica that are updated together.
struct Piece {
  long replica, begin, end;
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
    const Vec least = splat<Vec>(std::numeric_limits<real>::min());
    if (!n[2]) a = a < least ? least : a;  // smaller ones are flushed to zero: 0 / 0 for a weight at rest
    const Vec size = n[3] ? square_root(a + real(n[2])) : square_root(a) + real(n[2]);
    b = b * real(n[1]) + rate * g / size;
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

// The gradient as the rule takes it: scaled, and each number within a bound. NaN stays.
static INLINE wide_vector bounded(wide_vector g, real factor, const real* bound) {
  g = g * factor;
  if (!bound) return g;
  const wide_vector most = splat<wide_vector>(*bound);
  return g > most ? most : g < -most ? -most : g;
}

template <int RULE> static void piece_of(const Update& update, const Piece& piece, real factor) {
  const long row = piece.replica * update.width;
  const real rate = update.rate[piece.replica];
  const real* const bound = update.value ? update.value + piece.replica : nullptr;
  for (long i = piece.begin; i < piece.end; i += LANES) {
    const long left = piece.end - i, at = row + i;
    if (left >= LANES) {
      const wide_vector g = bounded(read(update.gradient + at), factor, bound);
      real* const second = update.second ? update.second + at : nullptr;
      write(update.moved + at,
            read(update.parameters + at) - step_of<RULE>(update, g, update.first + at, second, rate));
      continue;
    }
    alignas(64) real part[4][LANES] = {};
    const real* from[] = {update.gradient, update.parameters, update.first, update.second};
    for (int k = 0; k < 4; ++k)
      if (from[k]) std::memcpy(part[k], from[k] + at, left * sizeof(real));
    const wide_vector g = bounded(read(part[0]), factor, bound);
    write(part[1], read(part[1]) - step_of<RULE>(update, g, part[2], part[3], rate));
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

// The pieces of a replica: what is no table, then the rows of each that its symbols touch; or the whole row.
static void cut(const Update& update, long replica, std::vector<Piece>& pieces) {
  auto add = [&](long begin, long end) {
    for (; begin < end; begin += PIECE) pieces.push_back({replica, begin, begin + PIECE < end ? begin + PIECE : end});
  };
  if (!update.symbols) return add(0, update.width);
  for (long i = 0; i < update.gap_count; ++i) add(update.gaps[2 * i], update.gaps[2 * i + 1]);
  std::vector<char> touched;
  for (long i = 0; i < update.table_count; ++i) touched.resize(std::max<size_t>(touched.size(), update.tables[3 * i + 1]));
  const int64_t* const first = update.symbols + replica * update.strides[1];
  for (long t = 0; t < update.steps; ++t)
    for (long b = 0; b < update.batch; ++b) touched[first[t * update.strides[0] + b * update.strides[2]]] = 1;
  for (const long* table = update.tables; table < update.tables + 3 * update.table_count; table += 3)
    for (long row = 0; row < table[1]; ++row)
      if (touched[row]) add(table[0] + row * table[2], table[0] + (row + 1) * table[2]);
}

extern "C" void update_run(const Update* given) {
  const Update& update = *given;
  std::vector<Piece> pieces;
  std::vector<long> first;  // the first piece of each replica
  for (long replica = 0; replica < update.replicas; ++replica) {
    first.push_back(pieces.size());
    if (!update.running || update.running[replica]) cut(update, replica, pieces);
  }
  first.push_back(pieces.size());
  const long threads = pieces.size() > 8 ? update.threads : 1;
  std::vector<double> squares(update.limit ? pieces.size() : 0);
  in_parallel(squares.size(), threads, [&](long item, long) {
    const Piece& piece = pieces[item];
    squares[item] = squares_of(update.gradient + piece.replica * update.width + piece.begin, piece.end - piece.begin);
  });
  in_parallel(pieces.size(), threads, [&](long item, long) {
    const Piece& piece = pieces[item];
    real factor = 1;
    if (update.limit) {
      double square = 0;
      for (long i = first[piece.replica]; i < first[piece.replica + 1]; ++i) square += squares[i];
      const double ratio = double(update.limit[piece.replica]) / std::sqrt(square);
      factor = ratio < 1 || square != square ? real(ratio) : real(1);
    }
    if (update.rule == ADAM) piece_of<ADAM>(update, piece, factor);
    if (update.rule == RMSPROP) piece_of<RMSPROP>(update, piece, factor);
    if (update.rule == SGD) piece_of<SGD>(update, piece, factor);
    if (update.rule == ADAGRAD) piece_of<ADAGRAD>(update, piece, factor);
  });
}
