// ---- the threads of a process ----------------------------------------------------------------------------
// Those of the OpenMP that torch has loaded: threads of our own beside them, which stay awake for a while after each of
// torch's operations, would wait for a core. Where there is none they are started for a call.
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

typedef void (*OpenMP)(void (*work)(void* data), void* data, unsigned threads, unsigned flags);
static OpenMP openmp = nullptr;
static pid_t owner = 0;  // a child of fork() has none of OpenMP's threads and would wait for them for ever

// GOMP_parallel of that OpenMP, or null.
extern "C" void use_openmp(OpenMP given) {
  openmp = given;
  owner = getpid();
}

extern "C" void run_team(long threads, void (*work)(void* data), void* data) {
  if (openmp && owner == getpid()) return openmp(work, data, unsigned(threads), 0);
  std::vector<std::thread> others;
  for (long thread = 1; thread < threads; ++thread) {
    try {
      others.emplace_back(work, data);
    } catch (const std::system_error&) {
      break;
    }
  }
  work(data);
  for (auto& other : others) other.join();
}

