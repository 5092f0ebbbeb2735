#ifndef BENCHMARK_SUPPORT_H
#define BENCHMARK_SUPPORT_H
#include <stddef.h>
#include <stdint.h>

/// How often this process has called fsync or fdatasync, from any library.
uint64_t bench_sync_count(void);

/// Bytes that the main heap has handed out and not got back.
size_t bench_heap_bytes(void);

/// CPU time of the whole process, in seconds.
double bench_cpu_time(void);

/// Monotonic time, in seconds.
double bench_wall_time(void);

/// Switches callgrind's collection on or off; costs nothing outside valgrind.
void bench_toggle_collection(void);

#endif
