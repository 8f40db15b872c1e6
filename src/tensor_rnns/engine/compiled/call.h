// ---- a call of a kernel ----------------------------------------------------------------------------------

// One call: `steps` of time, every pointer as the caller of `run_forward` and `run_backward` lays it out.
struct Call {
  long steps, replicas, batch, threads;
  long keep;                     // whether every step stays on the tape, for the way back
  const real* const* inputs;    // [T, S, B, width] each
  const long* input_strides;     // of each: step, replica, row
  const real* const* leaves;
  const long* strides;           // of each leaf: replica, row, column
  const real* const* initial;    // states [S, B, width] before the first step
  real* tape;                    // what a step keeps
  real* states;                  // states before and after each step
  real* packed;                  // leaves of each replica in the order of the code
  real* arena;                   // room of each thread
  real* sums;                    // gradients of the leaves, of each replica and block
  real* const* outputs;          // states [T, S, B, width] of every step, null for those that are not wanted
  real* const* final;            // states [S, B, width] after the last step
  const real* const* output_gradients;  // as outputs, each may be null
  const real* const* final_gradients;   // as final, each may be null
  real* const* input_gradients;        // as inputs without gaps; each may be null, or all
  real* const* initial_gradients;      // as initial, or null
  real* const* leaf_gradients;
  const long* gradient_strides;        // of each leaf gradient: replica, row, column
  const int64_t* const* symbols;       // one array [T, S, B] where they enter, else null
  const long* symbol_strides;          // step, replica, row
  const real* const* tables;           // [S, symbols, width] each, a row without gaps
  const long* table_strides;           // of each: replica, row
  real* const* table_gradients;        // as tables, each may be null, or all; rows of other symbols are left alone
  const long* table_gradient_strides;
  real* operands;                      // what the gradients of tables are sums of, of all steps
};

// Rows of a batch are cut by their number and the cell alone: wide blocks, then narrow ones for the rest. A batch that
// is no larger than a wide block is two narrow ones where a step is HEAVY.
struct Cut {
  long wide, narrow;
  explicit Cut(long batch) : wide(batch / Wide::W), narrow((batch % Wide::W + Narrow::W - 1) / Narrow::W) {
    if (narrow * Narrow::W == Wide::W && (!HEAVY || batch > Wide::W)) ++wide, narrow = 0;
  }
  long blocks() const { return wide + narrow; }
  // Rows in memory, so many that every block begins where a wide vector may.
  long rows() const { return (wide + (narrow * Narrow::W + Wide::W - 1) / Wide::W) * Wide::W; }
};

// One item of work: rows `first` to `first + rows` of a replica; `place` counts the rows before it in memory.
struct Unit {
  long replica, first;
  int rows;
  long item, place, thread;
};

// Steps between two passes over the gradients of the leaves: as many as leave their numbers in the cache.
template <class Block> constexpr long chunk(long width) {
  const long fitting = (256 << 10) / (width * Block::W * long(sizeof(real)));
  return fitting < 16 ? 16 : fitting > 128 ? 128 : fitting;
}

static void pack_leaf(const Call& call, long replica, int leaf, bool transposed, int K, int N, real* out) {
  const long* stride = call.strides + 3 * leaf;
  pack(out, call.leaves[leaf] + replica * stride[0], K, N, stride[transposed ? 2 : 1], stride[transposed ? 1 : 2]);
}

