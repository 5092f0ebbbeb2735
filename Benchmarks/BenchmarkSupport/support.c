#define _GNU_SOURCE
#include "BenchmarkSupport.h"
#include <malloc.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
void bench_toggle_collection(void) { CALLGRIND_TOGGLE_COLLECT; }
#else
void bench_toggle_collection(void) {}
#endif

static _Atomic uint64_t sync_count;

// The dynamic linker finds symbols of the executable before those of libc, so SQLite's calls arrive here too.
int fsync(int file) {
  atomic_fetch_add(&sync_count, 1);
  return (int)syscall(SYS_fsync, file);
}

int fdatasync(int file) {
  atomic_fetch_add(&sync_count, 1);
  return (int)syscall(SYS_fdatasync, file);
}

uint64_t bench_sync_count(void) { return atomic_load(&sync_count); }

size_t bench_heap_bytes(void) {
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

static double seconds(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

double bench_cpu_time(void) { return seconds(CLOCK_PROCESS_CPUTIME_ID); }

double bench_wall_time(void) { return seconds(CLOCK_MONOTONIC); }
