// ---- threads ---------------------------------------------------------------------------------------------

// Denormals count as zero in this thread while it lives.
struct Flushed {
#if defined(__SSE__)
  unsigned before = _mm_getcsr();
  Flushed() { _mm_setcsr(before | 0x8040); }
  ~Flushed() { _mm_setcsr(before); }
#endif
};

// GOMP_parallel of the OpenMP that torch has loaded, or null. Threads of our own beside those of torch, which stay awake
// for a while after each of its operations, would wait for a core.
typedef void (*OpenMP)(void (*work)(void* data), void* data, unsigned threads, unsigned flags);
static OpenMP openmp = nullptr;
static pid_t owner = 0;  // a child of fork() has none of OpenMP's threads and would wait for them for ever

extern "C" void share_threads(OpenMP given) {
  openmp = given;
  owner = getpid();
}

// f(item, thread) for each item, which the threads take one after another.
template <class F> static void in_parallel(long items, long threads, F f) {
  std::atomic<long> next{0}, entered{0};
  auto work = [&] {
    Flushed flushed;
    const long thread = entered++;
    for (long item; (item = next++) < items;) f(item, thread);
  };
  threads = threads < items ? threads : items;
  if (threads < 2) return work();
  if (openmp && owner == getpid())
    return openmp([](void* data) { (*(decltype(work)*)data)(); }, &work, unsigned(threads), 0);
  std::vector<std::thread> others;
  for (long thread = 1; thread < threads; ++thread) {
    try {
      others.emplace_back(work);
    } catch (const std::system_error&) {
      break;
    }
  }
  work();
  for (auto& other : others) other.join();
}

