#ifndef BENCHMARKS_CLMDBRAW_SHIM_H
#define BENCHMARKS_CLMDBRAW_SHIM_H
#include <lmdb.h>
#endif
