// The fastest that this processor multiplies and adds: vectors that stay in registers, as many at once as the
// kernels have. It follows `vectors.h` of the compiled engine.

#include <thread>
#include <vector>

// The numbers in registers after `steps` times c = c a + b, added up; a and b are given so that nothing is
// known before the program runs.
static real spin(long steps, real a, real b) {
  const wide_vector factor = splat<wide_vector>(a), term = splat<wide_vector>(b);
  wide_vector c[REGISTERS];
  UNROLL for (int i = 0; i < REGISTERS; ++i) c[i] = term * real(i);
  for (long step = 0; step < steps; ++step)
    UNROLL for (int i = 0; i < REGISTERS; ++i) c[i] = c[i] * factor + term;
  wide_vector sum = {};
  UNROLL for (int i = 0; i < REGISTERS; ++i) sum += c[i];
  return sum[0];
}

// How many operations one step of one thread makes: a product and a sum for each number.
extern "C" long operations_of_a_step() { return 2L * REGISTERS * lanes<wide_vector>; }

// `steps` in each of `threads` threads; `out` [threads].
extern "C" void spin_threads(long steps, long threads, real a, real b, real* out) {
  std::vector<std::thread> others;
  for (long thread = 1; thread < threads; ++thread)
    others.emplace_back([=] { out[thread] = spin(steps, a, b); });
  out[0] = spin(steps, a, b);
  for (auto& other : others) other.join();
}
