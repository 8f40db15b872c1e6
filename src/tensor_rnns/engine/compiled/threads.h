// ---- threads ---------------------------------------------------------------------------------------------

// Denormals count as zero in this thread while it lives.
struct Flushed {
#if defined(__SSE__)
  unsigned before = _mm_getcsr();
  Flushed() { _mm_setcsr(before | 0x8040); }
  ~Flushed() { _mm_setcsr(before); }
#endif
};

// f(item, thread) for each item; threads end with the call, so that a fork between calls is safe.
template <class F> static void in_parallel(long items, long threads, F f) {
  std::atomic<long> next{0};
  auto work = [&](long thread) {
    Flushed flushed;
    for (long item; (item = next++) < items;) f(item, thread);
  };
  std::vector<std::thread> others;
  for (long thread = 1; thread < threads && thread < items; ++thread) {
    try {
      others.emplace_back(work, thread);
    } catch (const std::system_error&) {
      break;
    }
  }
  work(0);
  for (auto& other : others) other.join();
}

