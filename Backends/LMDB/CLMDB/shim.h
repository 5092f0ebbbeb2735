#pragma once
#include <lmdb.h>
#include <stdint.h>
#include <string.h>

/// The order that LMDB gives keys by itself, byte by byte and a shorter one first, found eight bytes at a time: each
/// search compares a dozen keys. In C, as LMDB calls it.
static inline int cd_lmdb_compare(const MDB_val *a, const MDB_val *b) {
  const unsigned char *left = a->mv_data, *right = b->mv_data;
  size_t common = a->mv_size < b->mv_size ? a->mv_size : b->mv_size;
  for (; common >= 8; common -= 8, left += 8, right += 8) {
    uint64_t x, y;
    memcpy(&x, left, 8);
    memcpy(&y, right, 8);
    if (x == y) continue;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    x = __builtin_bswap64(x);
    y = __builtin_bswap64(y);
#endif
    return x < y ? -1 : 1;
  }
  for (; common > 0; common--, left++, right++)
    if (*left != *right) return *left < *right ? -1 : 1;
  return a->mv_size == b->mv_size ? 0 : a->mv_size < b->mv_size ? -1 : 1;
}
