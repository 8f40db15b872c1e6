// ---- threads ---------------------------------------------------------------------------------------------

// Denormals count as zero in this thread while it lives.
struct Flushed {
#if defined(__SSE__)
  unsigned before = _mm_getcsr();
  Flushed() { _mm_setcsr(before | 0x8040); }
  ~Flushed() { _mm_setcsr(before); }
#endif
};

// Runs work(data) in some threads at once, the caller's among them; see team.h. Null: in the caller's alone.
typedef void (*Team)(long threads, void (*work)(void* data), void* data);
static Team team = nullptr;

extern "C" void join_team(Team given) { team = given; }

// f(item, thread) for each item, which the threads take one after another.
template <class F> static void in_parallel(long items, long threads, F f) {
  std::atomic<long> next{0}, entered{0};
  auto work = [&] {
    Flushed flushed;
    const long thread = entered++;
    for (long item; (item = next++) < items;) f(item, thread);
  };
  threads = threads < items ? threads : items;
  if (threads < 2 || !team) return work();
  team(threads, [](void* data) { (*(decltype(work)*)data)(); }, &work);
}

