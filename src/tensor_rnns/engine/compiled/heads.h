// ---- a linear map, and the losses of what it gives -------------------------------------------------------
// y = x W + b for the rows [T, B] of each replica, and loss = scale * the sum of the losses of all numbers of y. The
// rows of a replica are cut into groups by shape alone; each group is one item of work. Gradients of W and b, and the
// loss, are added up in the order of the groups.

#include <cmath>
#include <vector>

enum Kind { FORWARD, BACKWARD, SQUARED, BERNOULLI, CLASSES };

struct Head {
  long steps, replicas, batch, inputs, outputs, threads, kind;
  long gradients;          // whether gradients are wanted
  const real* x;           // [T, S, B, inputs]
  const long* x_strides;   // step, replica, row
  const real* weight;      // [S, inputs, outputs]
  const long* weight_strides;  // replica, row, column
  const real* bias;        // [S, outputs], or null
  long bias_replica, bias_column;
  const real* targets;     // [T, S, B, outputs]; BACKWARD: the gradient of y
  const int64_t* classes;  // [T, S, B]
  const real* row_weights; // [T, S, B]: how much the loss of each row counts, or null
  double scale;
  real* y;                 // FORWARD: [T, S, B, outputs]
  real* loss;              // [S]
  real* x_gradient;        // [T, S, B, inputs], or null
  real* weight_gradient;   // [S, inputs, outputs], replicas some way apart
  real* bias_gradient;     // [S, outputs], too
  long weight_apart, bias_apart;
  real* arena;             // room of each thread
  real* partial;           // of each item: gradients of W and b
  double* losses;          // of each item
};

// Sizes that follow from the shape.
struct Shape {
  long rows, groups, height, panel, panels, wide, deep;
  explicit Shape(const Head& head) : rows(head.steps * head.batch) {
    const long vectors = (head.outputs + LANES - 1) / LANES;
    panels = (vectors + WIDEST - 1) / WIDEST;
    panel = (vectors + panels - 1) / panels * LANES;
    wide = panels * panel;
    deep = rounded(head.inputs, LANES);
    const long wanted = head.inputs * wide >= 1 << 18 ? 2 : (rows + 191) / 192;
    groups = wanted < 1 ? 1 : wanted > 16 ? 16 : wanted;
    height = (rows + groups - 1) / groups;
  }
  long partial() const { return (deep + 1) * wide; }
  // y of a group, a panel of W, one of its transpose, gradients of x, the greatest and the sum of each row
  long arena(long kind) const {
    return height * (kind == CLASSES ? wide : panel) + deep * panel * 2 + height * deep + 2 * height * LANES;
  }
};

template <int N> struct Group {
  static constexpr long PANEL = N * LANES;
  const Head& head;
  const Shape shape;
  const long replica, item, first, count;
  std::vector<const real*> x, g;
  std::vector<long> place;  // of each row in [T, S, B]
  real *y, *matrix, *transpose, *dx, *most, *sum, *partial;
  double loss = 0;

  Group(const Head& head, const Shape& shape, long item, real* arena)
      : head(head), shape(shape), replica(item / shape.groups), item(item),
        first(item % shape.groups * shape.height),
        count(shape.rows - first < shape.height ? shape.rows - first : shape.height),
        x(count), g(count), place(count) {
    y = arena;
    matrix = y + shape.height * (head.kind == CLASSES ? shape.wide : PANEL);
    transpose = matrix + shape.deep * PANEL;
    dx = transpose + shape.deep * PANEL;
    most = dx + shape.height * shape.deep;
    sum = most + shape.height * LANES;
    partial = head.partial + item * shape.partial();
    const long* stride = head.x_strides;
    long t = first / head.batch, b = first % head.batch;
    for (long r = 0; r < count; ++r) {
      x[r] = head.x + t * stride[0] + replica * stride[1] + b * stride[2];
      place[r] = (t * head.replicas + replica) * head.batch + b;
      if (++b == head.batch) b = 0, ++t;
    }
  }

  // Columns from `column` on that exist, at most a panel.
  long existing(long column) const { return head.outputs - column < PANEL ? head.outputs - column : PANEL; }

  void pack(long column) {
    const long* stride = head.weight_strides;
    const real* from = head.weight + replica * stride[0] + column * stride[2];
    const long columns = existing(column);
    for (long k = 0; k < head.inputs; ++k, from += stride[1]) {
      real* row = matrix + k * PANEL;
      if (stride[2] == 1 && columns == PANEL) {
        std::memcpy(row, from, PANEL * sizeof(real));
        continue;
      }
      for (long j = 0; j < columns; ++j) row[j] = from[j * stride[2]];
      for (long j = columns; j < PANEL; ++j) row[j] = 0;
    }
  }

  // y of a panel into `out`, with the bias.
  void forward(long column, real* out) {
    rows_product<N, false>(count, head.inputs, x.data(), matrix, PANEL, out, PANEL);
    if (!head.bias) return;
    alignas(64) real bias[PANEL] = {};
    const real* from = head.bias + replica * head.bias_replica + column * head.bias_column;
    for (long j = 0; j < existing(column); ++j) bias[j] = from[j * head.bias_column];
    for (long r = 0; r < count; ++r)
      UNROLL for (int n = 0; n < N; ++n)
        store(out + r * PANEL + n * LANES, load(out + r * PANEL + n * LANES) + load(bias + n * LANES));
  }

  // Gradients of x, W and b from those of a panel.
  void backward(long column, const real* from) {
    for (long r = 0; r < count; ++r) g[r] = from + r * PANEL;
    columns_product<N, false>(head.inputs, count, x.data(), from, PANEL, partial + column, shape.wide);
    Vector total[N] = {};
    for (long r = 0; r < count; ++r) UNROLL for (int n = 0; n < N; ++n) total[n] += load(g[r] + n * LANES);
    UNROLL for (int n = 0; n < N; ++n) store(partial + shape.deep * shape.wide + column + n * LANES, total[n]);
    if (!head.x_gradient) return;
    const long columns = existing(column);
    for (long j = 0; j < columns; ++j) {
      for (long k = 0; k < head.inputs; ++k) transpose[j * shape.deep + k] = matrix[k * PANEL + j];
      for (long k = head.inputs; k < shape.deep; ++k) transpose[j * shape.deep + k] = 0;
    }
    const long vectors = shape.deep / LANES;
    column ? wide_product<true>(count, columns, g.data(), transpose, shape.deep, vectors, dx, shape.deep)
           : wide_product<false>(count, columns, g.data(), transpose, shape.deep, vectors, dx, shape.deep);
  }

  // The targets of row r in a panel; zero in columns that do not exist.
  INLINE const real* target(long r, long column, real* room) const {
    const real* from = head.targets + place[r] * head.outputs + column;
    for (long j = 0; j < existing(column); ++j) room[j] = from[j];
    return room;
  }

  // Losses of a panel of y, which becomes its gradient.
  template <int KIND> void losses(long column, real* out) {
    const real scale = head.scale;
    alignas(64) real room[PANEL] = {}, exists[PANEL] = {};
    for (long j = 0; j < existing(column); ++j) exists[j] = 1;
    for (long r = 0; r < count; ++r) {
      const real* const wanted = target(r, column, room);
      Vector found = {};
      UNROLL for (int n = 0; n < N; ++n) {
        real* p = out + r * PANEL + n * LANES;
        const Vector a = load(p), b = load(wanted + n * LANES), one = load(exists + n * LANES);
        if constexpr (KIND == SQUARED) {
          found += (a - b) * (a - b) * one;
          store(p, (a - b) * (scale + scale) * one);
        } else {  // both from e = exp(-|a|)
          const Vector e = exponential(a > 0 ? -a : a), u = real(1) + e, inverse = real(1) / u;
          const Vector small = u == real(1) ? e : logarithm(u) * (e / (u - real(1)));
          found += ((a < 0 ? Vector{} : a) + small - a * b) * one;
          store(p, ((a > 0 ? inverse : e * inverse) - b) * scale * one);
        }
      }
      loss += weighed(r, total(found), out + r * PANEL);
    }
  }

  // Let the loss of a row and its gradient count by the weight of the row. A row without weight counts nothing even
  // where its numbers are not finite.
  double weighed(long r, double of_row, real* gradient) const {
    if (!head.row_weights) return of_row;
    const real weight = head.row_weights[place[r]];
    for (long j = 0; gradient && j < PANEL; ++j) gradient[j] = weight == 0 ? real(0) : gradient[j] * weight;
    return weight == 0 ? 0 : of_row * weight;
  }

  void copy_out(long column, const real* out) {
    for (long r = 0; r < count; ++r)
      std::memcpy(head.y + place[r] * head.outputs + column, out + r * PANEL, existing(column) * sizeof(real));
  }

  void copy_in(long column, real* out) {
    for (long r = 0; r < count; ++r) {
      std::memset(out + r * PANEL, 0, PANEL * sizeof(real));
      target(r, column, out + r * PANEL);
    }
  }

  // Softmax needs all panels before the first gradient: y, its greatest, its exponentials and their sum in turn.
  void classes() {
    const long size = count * PANEL;
    constexpr real least = -std::numeric_limits<real>::infinity();
    std::vector<real> chosen(count), factor(count);
    for (long r = 0; r < count; ++r) store(most + r * LANES, splat<Vector>(least)), store(sum + r * LANES, Vector{});
    for (long p = 0; p < shape.panels; ++p) {
      real* const out = y + p * size;
      pack(p * PANEL);
      forward(p * PANEL, out);
      for (long r = 0; r < count; ++r) {
        for (long j = existing(p * PANEL); j < PANEL; ++j) out[r * PANEL + j] = least;
        Vector m = load(most + r * LANES);
        UNROLL for (int n = 0; n < N; ++n) {
          const Vector a = load(out + r * PANEL + n * LANES);
          m = (a > m) | (a != a) ? a : m;
        }
        store(most + r * LANES, m);
      }
    }
    for (long r = 0; r < count; ++r) {
      const long c = head.classes[place[r]];
      chosen[r] = y[c / PANEL * size + r * PANEL + c % PANEL];
      real m = most[r * LANES];
      for (long i = r * LANES + 1; i < (r + 1) * LANES; ++i) m = most[i] > m || most[i] != most[i] ? most[i] : m;
      store(most + r * LANES, splat<Vector>(m));
    }
    for (long p = 0; p < shape.panels; ++p)
      for (long r = 0; r < count; ++r) {
        real* const row = y + p * size + r * PANEL;
        Vector s = load(sum + r * LANES);
        UNROLL for (int n = 0; n < N; ++n) {
          const Vector e = exponential(load(row + n * LANES) - load(most + r * LANES));
          s += e;
          store(row + n * LANES, e);
        }
        store(sum + r * LANES, s);
      }
    for (long r = 0; r < count; ++r) {
      const real s = total(load(sum + r * LANES));
      loss += weighed(r, double(most[r * LANES]) - double(chosen[r]) + std::log(double(s)), nullptr);
      factor[r] = real(head.scale) / s;
    }
    if (!head.gradients) return;
    for (long p = 0; p < shape.panels; ++p) {
      real* const out = y + p * size;
      for (long r = 0; r < count; ++r) {
        UNROLL for (int n = 0; n < N; ++n)
          store(out + r * PANEL + n * LANES, load(out + r * PANEL + n * LANES) * factor[r]);
        const long j = head.classes[place[r]] - p * PANEL;
        if (0 <= j && j < PANEL) out[r * PANEL + j] -= real(head.scale);
        weighed(r, 0, out + r * PANEL);
      }
      pack(p * PANEL);
      backward(p * PANEL, out);
    }
  }

  void work() {
    if (head.kind == CLASSES) classes();
    for (long column = 0; head.kind != CLASSES && column < shape.wide; column += PANEL) {
      pack(column);
      head.kind == BACKWARD ? copy_in(column, y) : forward(column, y);
      if (head.kind == FORWARD) copy_out(column, y);
      if (head.kind == SQUARED) losses<SQUARED>(column, y);
      if (head.kind == BERNOULLI) losses<BERNOULLI>(column, y);
      if (head.gradients) backward(column, y);
    }
    head.losses[item] = loss;
    if (head.gradients && head.x_gradient)
      for (long r = 0; r < count; ++r)
        std::memcpy(head.x_gradient + place[r] * head.inputs, dx + r * shape.deep, head.inputs * sizeof(real));
  }
};

extern "C" void head_sizes(const Head* head, long* out) {
  const Shape shape(*head);
  out[0] = head->threads * rounded(shape.arena(head->kind), LANES);
  out[1] = head->gradients ? head->replicas * shape.groups * shape.partial() : 0;
  out[2] = head->replicas * shape.groups;
}

extern "C" void head_run(const Head* given) {
  const Head& head = *given;
  const Shape shape(head);
  const long room = rounded(shape.arena(head.kind), LANES);
  const bool small = head.replicas * shape.rows * head.inputs * head.outputs < 1 << 18;  // not worth a thread
  const long threads = small ? 1 : head.threads;
  in_parallel(head.replicas * shape.groups, threads, [&](long item, long thread) {
    real* const arena = head.arena + thread * room;
    if (shape.panel == LANES) Group<1>(head, shape, item, arena).work();
    if (shape.panel == 2 * LANES) Group<2>(head, shape, item, arena).work();
    if (shape.panel == 3 * LANES) Group<3>(head, shape, item, arena).work();
  });
  for (long s = 0; head.loss && s < head.replicas; ++s) {
    double loss = 0;
    for (long i = 0; i < shape.groups; ++i) loss += head.losses[s * shape.groups + i];
    head.loss[s] = real(loss * head.scale);
  }
  if (!head.gradients) return;
  in_parallel(head.replicas * (head.inputs + 1), threads, [&](long item, long) {
    const long s = item / (head.inputs + 1), k = item % (head.inputs + 1);
    const bool bias = k == head.inputs;
    if (bias && !head.bias_gradient) return;
    real* const matrix = head.weight_gradient + s * head.weight_apart + k * head.outputs;
    real* const out = bias ? head.bias_gradient + s * head.bias_apart : matrix;
    const real* from = head.partial + s * shape.groups * shape.partial() + (bias ? shape.deep : k) * shape.wide;
    std::memcpy(out, from, head.outputs * sizeof(real));
    for (long i = 1; i < shape.groups; ++i)
      for (long j = 0; j < head.outputs; ++j) out[j] += from[i * shape.partial() + j];
  });
}

