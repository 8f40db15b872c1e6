
// ---- the scans -------------------------------------------------------------------------------------------
// A block of rows of one replica runs through time by itself: every block is one item of work. Gradients of the
// leaves are added in the order of the blocks.

constexpr long larger(long a, long b) { return a > b ? a : b; }

static constexpr long FEW = 1 << 16;  // numbers below which starting a thread costs more than it gains
static constexpr long ARENA = SCRATCH * Wide::W;
template <class Block> constexpr long CHUNK = chunk<Block>(READ_AGAIN);
template <class Block>
constexpr long ROOM = (2 * STATES + ENTERING + SCRATCH_BACK + CHUNK<Block> * KEPT) * Block::W;
static constexpr long ARENA_BACK = (larger(ROOM<Wide>, ROOM<Narrow>) + Wide::W - 1) / Wide::W * Wide::W;

// The rows of all tables that the symbols of step t pick, [TABLES][W].
template <class Block> static INLINE void choose(const Call& call, const Unit& unit, long t, const real** chosen) {
  const long* stride = call.symbol_strides;
  for (int table = 0; table < TABLES; ++table) {
    const long* apart = call.table_strides + 2 * table;
    const real* const first = call.tables[table] + unit.replica * apart[0];
    for (int r = 0; r < unit.rows; ++r) {
      const long symbol = call.symbols[0][t * stride[0] + unit.replica * stride[1] + (unit.first + r) * stride[2]];
      chosen[table * Block::W + r] = first + symbol * apart[1];
    }
  }
}

template <class Block> static void forward(const Call& call, const Unit& unit) {
  constexpr int W = Block::W;
  const Blockwise& use = blockwise<Block>();
  const real* chosen[TABLES * W + 1];
  const real* const packed = call.packed + unit.replica * PACKED;
  real* const scratch = call.arena + unit.thread * ARENA;
  real* const tape = call.tape + unit.place * RECORD * (call.keep ? call.steps : 1);
  real* const states = call.states + unit.place * STATES * (call.keep ? call.steps + 1 : 2);
  const long row = unit.replica * call.batch + unit.first, rows = call.replicas * call.batch;
  for (int i = 0; i < COUNT; ++i)
    use.gather(states + PLACE[i] * W, call.initial[i] + row * WIDTH[i], WIDTH[i], WIDTH[i], unit.rows);
  const real* inputs[INPUTS];
  for (int i = 0; !TABLES && i < INPUTS; ++i) {
    const long* stride = call.input_strides + 3 * i;
    inputs[i] = call.inputs[i] + unit.replica * stride[1] + unit.first * stride[2];
  }
  // What the way back does not read is not kept.
  auto entered = [&](int i, real* record) { return (ON_TAPE[i] ? record : scratch) + INPUT_PLACE[i] * W; };
  real* after = states;
  for (long t = 0; t < call.steps; ++t) {
    const real* const before = after;
    after = states + (call.keep ? t + 1 : (t + 1) & 1) * STATES * W;
    real* const record = tape + (call.keep ? t : 0) * RECORD * W;
    choose<Block>(call, unit, t, chosen);
    for (int i = 0; i < TABLES; ++i)
      use.gather_rows(entered(i, record), chosen + i * W, INPUT_WIDTH[i], unit.rows);
    for (int i = 0; !TABLES && i < INPUTS; ++i) {
      const long* stride = call.input_strides + 3 * i;
      use.gather(entered(i, record), inputs[i], stride[2], INPUT_WIDTH[i], unit.rows);
      inputs[i] += stride[0];
    }
    step<Block>(chosen, unit.rows, packed, record, before, after, scratch);
    for (int i = 0; i < COUNT; ++i)
      if (real* const out = call.outputs[i])
        use.scatter(out + (t * rows + row) * WIDTH[i], WIDTH[i], after + PLACE[i] * W, WIDTH[i], unit.rows);
  }
  for (int i = 0; i < COUNT; ++i)
    use.scatter(call.final[i] + row * WIDTH[i], WIDTH[i], after + PLACE[i] * W, WIDTH[i], unit.rows);
}

template <class Block> static void backward(const Call& call, const Unit& unit) {
  constexpr int W = Block::W;
  const Blockwise& use = blockwise<Block>();
  const real* const packed = call.packed + unit.replica * PACKED_BACK;
  const real* const tape = call.tape + unit.place * RECORD * call.steps;
  const real* const states = call.states + unit.place * STATES * (call.steps + 1);
  const long row = unit.replica * call.batch + unit.first, rows = call.replicas * call.batch;
  real* g = call.arena + unit.thread * ARENA_BACK;  // gradients of the states after a step
  real* earlier = g + STATES * W;                   // and before it
  real* const inward = earlier + STATES * W;
  real* const scratch = inward + ENTERING * W;
  real* const kept = scratch + SCRATCH_BACK * W;
  const real* chosen[TABLES * W + 1];
  real* const sums = call.sums + unit.item * SUMS;
  std::memset(g, 0, STATES * W * sizeof(real));
  std::memset(sums, 0, SUMS * sizeof(real));
  for (int i = 0; i < COUNT; ++i)
    if (const real* given = call.final_gradients[i])
      use.gather_onto(g + PLACE[i] * W, given + row * WIDTH[i], WIDTH[i], WIDTH[i], unit.rows);
  for (long end = call.steps, begin; end > 0; end = begin) {
    begin = end > CHUNK<Block> ? end - CHUNK<Block> : 0;
    for (long t = end - 1; t >= begin; --t) {
      const real* const record = tape + t * RECORD * W;
      const real* const before = states + t * STATES * W;
      real* const now = kept + (t - begin) * KEPT * W;
      for (int i = 0; i < COUNT; ++i)
        if (const real* given = call.output_gradients[i])
          use.gather_onto(g + PLACE[i] * W, given + (t * rows + row) * WIDTH[i], WIDTH[i], WIDTH[i], unit.rows);
      choose<Block>(call, unit, t, chosen);
      step_back<Block>(chosen, unit.rows, packed, record, before, before + STATES * W, g, earlier, now, scratch);
      if (TABLES > 0 && call.table_gradients) {
        input_back<Block>(chosen, unit.rows, packed, record, before, before + STATES * W, g, earlier, now, scratch, inward);
        write_operands<Block>(call, call.steps * rows, t * rows + row, unit.rows, record, before, before + STATES * W,
                              now, inward);
      }
      if (call.input_gradients) {
        input_back<Block>(chosen, unit.rows, packed, record, before, before + STATES * W, g, earlier, now, scratch, inward);
        for (int i = 0, place = 0, width; i < INPUTS; ++i, place += width) {
          width = INPUT_WIDTH[i];
          if (real* const out = call.input_gradients[i])
            use.scatter(out + (t * rows + row) * width, width, inward + place * W, width, unit.rows);
        }
      }
      real* const other = g;
      g = earlier;
      earlier = other;
    }
    const real* const before = states + begin * STATES * W;
    add_leaves<Block>(end - begin, tape + begin * RECORD * W, before, before + STATES * W, kept, sums);
  }
  for (int i = 0; call.initial_gradients && i < COUNT; ++i)
    use.scatter(call.initial_gradients[i] + row * WIDTH[i], WIDTH[i], g + PLACE[i] * W, WIDTH[i], unit.rows);
}

template <class F> static void for_each_block(const Call& call, F work) {
  const Cut cut(call.batch);
  const long blocks = cut.blocks();
  in_parallel(call.replicas * blocks, call.threads, [&](long item, long thread) {
    const long replica = item / blocks, block = item % blocks;
    if constexpr (TABLES > 0)
      if (call.batch == 1) return work(Unit{replica, 0, 1, item, replica * cut.rows(), thread}, Single{});
    const bool wide = block < cut.wide;
    const long first = wide ? block * Wide::W : cut.wide * Wide::W + (block - cut.wide) * Narrow::W;
    const long most = wide ? Wide::W : Narrow::W, left = call.batch - first;
    const long place = replica * cut.rows() + first;
    const Unit unit{replica, first, int(left < most ? left : most), item, place, thread};
    wide ? work(unit, Wide{}) : work(unit, Narrow{});
  });
}

// How many numbers the tape, the states, the packed leaves, the arenas and the sums of a call take.
extern "C" void sizes(long steps, long replicas, long batch, long threads, long keep, long* out) {
  const Cut cut(batch);
  out[0] = replicas * cut.rows() * RECORD * (keep ? steps : 1);
  out[1] = replicas * cut.rows() * STATES * (keep ? steps + 1 : 2);
  out[2] = replicas * larger(PACKED, PACKED_BACK);
  out[3] = threads * larger(ARENA, ARENA_BACK);
  out[4] = replicas * cut.blocks() * SUMS;
  out[5] = steps * replicas * batch * OPERANDS;
}

// How many rows the tables have if a symbol of the call has none of them, else 0.
extern "C" long exceeded(const Call* given) {
  const Call& call = *given;
  const long* stride = call.symbol_strides;
  for (long t = 0; t < call.steps; ++t)
    for (long s = 0; s < call.replicas; ++s)
      for (long b = 0; b < call.batch; ++b) {
        const long symbol = call.symbols[0][t * stride[0] + s * stride[1] + b * stride[2]];
        if (symbol < 0 || symbol >= SYMBOLS) return SYMBOLS;
      }
  return 0;
}

// The gradients of the tables: the places of each symbol of a replica in order, and what is added up over them.
static void add_tables(const Call& call) {
  const long count = call.steps * call.batch, rows = call.replicas * call.batch;
  const long* stride = call.symbol_strides;
  const Counts places(call.replicas * count), ends(call.replicas * (SYMBOLS + 1));
  in_parallel(call.replicas, call.replicas * count > FEW ? call.threads : 1, [&](long replica, long) {
    long *const end = ends.first + replica * (SYMBOLS + 1), *const place = places.first + replica * count;
    auto symbol = [&](long i) {
      return call.symbols[0][i / call.batch * stride[0] + replica * stride[1] + i % call.batch * stride[2]];
    };
    for (long i = 0; i < count; ++i) ++end[symbol(i) + 1];
    for (long v = 0; v < SYMBOLS; ++v) end[v + 1] += end[v];
    for (long i = 0; i < count; ++i)
      place[end[symbol(i)]++] = i / call.batch * rows + replica * call.batch + i % call.batch;
  });
  in_parallel(call.replicas * SYMBOLS, count * OPERANDS > FEW ? call.threads : 1, [&](long item, long) {
    const long replica = item / SYMBOLS, symbol = item % SYMBOLS;
    const long *const end = ends.first + replica * (SYMBOLS + 1), *const place = places.first + replica * count;
    const Places found{place + (symbol ? end[symbol - 1] : 0), place + end[symbol]};
    if (found.first < found.end) add_rows(call, replica, symbol, found, count * call.replicas);
  });
}

extern "C" void run_forward(const Call* given) {
  const Call& call = *given;
  in_parallel(call.replicas, call.replicas * PACKED > FEW ? call.threads : 1,
              [&](long replica, long) { pack_forward(call, replica, call.packed + replica * PACKED); });
  for_each_block(call, [&](const Unit& unit, auto block) { forward<decltype(block)>(call, unit); });
}

extern "C" void run_backward(const Call* given) {
  const Call& call = *given;
  in_parallel(call.replicas, call.replicas * PACKED_BACK > FEW ? call.threads : 1,
              [&](long replica, long) { pack_backward(call, replica, call.packed + replica * PACKED_BACK); });
  for_each_block(call, [&](const Unit& unit, auto block) { backward<decltype(block)>(call, unit); });
  const long blocks = Cut(call.batch).blocks();
  in_parallel(call.replicas, call.replicas * blocks * SUMS > FEW ? call.threads : 1, [&](long replica, long) {
    real* sums = call.sums + replica * blocks * SUMS;
    for (long block = 1; block < blocks; ++block)
      for (long i = 0; i < SUMS; ++i) sums[i] += sums[block * SUMS + i];
    for (int leaf = 0; leaf < LEAVES; ++leaf) {
      const long* stride = call.gradient_strides + 3 * leaf;
      unpack(call.leaf_gradients[leaf] + replica * stride[0], sums + OFFSETS[leaf], ROWS[leaf],
             (OFFSETS[leaf + 1] - OFFSETS[leaf]) / ROWS[leaf], stride[1], stride[2]);
    }
  });
  if constexpr (TABLES > 0)
    if (call.table_gradients) add_tables(call);
}
