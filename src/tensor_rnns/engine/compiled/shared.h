// ---- what kernels share ----------------------------------------------------------------------------------
// Code that no width of a cell changes is built once, with the parts (blocks.h), and called by its address: so a kernel
// is built in little more than half the time.

// Runs work(data) in some threads at once, the caller's among them; see team.h. Null: in the caller's alone.
typedef void (*Team)(long threads, void (*work)(void* data), void* data);

// At most so many columns of a and of g in one tile: more, and the compiler reads some of them again and again.
static constexpr int LEFT = 3, RIGHT = NATIVE == 64 ? 8 : 4;

// Functions for one kind of block: what they do stands at their definitions.
struct Blockwise {
  void (*gather)(real* out, const real* in, long stride, int width, int rows);
  void (*gather_onto)(real* out, const real* in, long stride, int width, int rows);
  void (*scatter)(real* out, long stride, const real* in, int width, int rows);
  void (*row_sums)(long steps, int N, const real* g, long g_step, real* sum);
  void (*outer_tile[LEFT + 1][RIGHT + 1])(long steps, const real* a, long a_step, const real* g, long g_step, real* sum,
                                          int stride);
};

struct Shared {
  long vector;  // bytes of one: with others the table is another, and so is what it points to
  Team team;
  Blockwise wide, narrow, single;
};
static Shared shared = {};

// Take what is shared; 0 where it was built for other vectors, and so cannot be taken.
extern "C" int join(const Shared* given) {
  if (given->vector != NATIVE) return 0;
  shared = *given;
  return 1;
}

template <class Block> static INLINE const Blockwise& blockwise() {
  if constexpr (std::is_same<Block, Wide>::value) return shared.wide;
  else if constexpr (std::is_same<Block, Narrow>::value) return shared.narrow;
  else return shared.single;
}
