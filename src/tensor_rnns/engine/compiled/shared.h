// ---- what kernels share ----------------------------------------------------------------------------------
// What is costly to build and needs no width of a cell is built once, with the parts (blocks.h), and called by its
// address: a kernel is built in some three fifths of the time.

// Runs work(data) in some threads at once, the caller's among them; see team.h.
typedef void (*Team)(long threads, void (*work)(void* data), void* data);

// `outer_tile` takes at most so many columns of a and of g: of more the compiler reads some again and again.
static constexpr int LEFT = 3, RIGHT = NATIVE == 64 ? 8 : 4;

// Functions for one kind of block; what they do stands at their definitions, the gathers are turn() and turn_picked().
struct Blockwise {
  void (*gather)(real* out, const real* in, long stride, int width, int rows);
  void (*gather_onto)(real* out, const real* in, long stride, int width, int rows);
  void (*gather_rows)(real* out, const real* const* from, int width, int rows);
  void (*scatter)(real* out, long stride, const real* in, int width, int rows);
  void (*row_sums)(long steps, int N, const real* g, long g_step, real* sum);
  void (*outer_tile[LEFT + 1][RIGHT + 1])(long steps, const real* a, long a_step, const real* g, long g_step, real* sum,
                                          int stride);
};

// Numbers and vectors that the table and its functions are for.
static constexpr long BUILT_FOR = (NATIVE * 16L + sizeof(real)) * 65536 + sizeof(Blockwise);

struct Shared {
  long built_for;
  Team team;
  Blockwise wide, narrow, single;
};
static Shared shared = {};

// Take what is shared; 0 where it was built for others.
extern "C" int join(const Shared* given) {
  if (given->built_for != BUILT_FOR) return 0;
  shared = *given;
  return 1;
}

template <class Block> static INLINE const Blockwise& blockwise() {
  if constexpr (std::is_same<Block, Wide>::value) return shared.wide;
  else if constexpr (std::is_same<Block, Narrow>::value) return shared.narrow;
  else return shared.single;
}
