// ---- threads ---------------------------------------------------------------------------------------------

// Denormals count as zero in this thread while it lives.
struct Flushed {
#if defined(__SSE__)
  unsigned before = _mm_getcsr();
  Flushed() { _mm_setcsr(before | 0x8040); }
  ~Flushed() { _mm_setcsr(before); }
#endif
};

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
  shared.team(threads, [](void* data) { (*(decltype(work)*)data)(); }, &work);
}

