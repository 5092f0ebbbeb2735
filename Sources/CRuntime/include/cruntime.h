#ifndef OPENCOREDATA_CRUNTIME_H
#define OPENCOREDATA_CRUNTIME_H
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Retains a Swift object unless its deinitialisation has begun. Returns whether it did.
bool cd_try_retain(void *object);

/// Ends the counting of references to a Swift object, which is never freed from here on. Nobody else may hold it yet on
/// another thread.
void cd_make_immortal(void *object);

/// Retains a Swift object so many times at once.
void cd_retain_many(void *object, uint32_t count);

/// Memory that is not initialised, at the alignment of `malloc`, which Swift's own allocation takes a slower way to on
/// Linux. Free it with `free`. Ends the program where there is no memory.
void *cd_allocate(size_t size);

/// Memory for so many items, all bytes zero, which large tables get without anybody writing the zeros. Free it with
/// `free`. Ends the program where there is no memory.
void *cd_allocate_zeroed(size_t count, size_t size);

/// Asks the processor to have the memory at hand that is about to be written.
static inline void cd_prefetch(const void *address) { __builtin_prefetch(address, 1); }

/// A pointer of the calling thread's own, null at first.
void **cd_thread_slot(void);

/// Calls `body` with the metadata of every class of the process that is called `name`, whatever module it is in.
/// Generic classes are left out. Stops when `body` returns false.
void cd_find_classes(const char *name, bool (*body)(const void *metadata, void *context), void *context);

/// Allocates a Swift object of a class, retained once. Its storage is not initialised.
void *cd_allocate_object(const void *metadata, size_t size, size_t alignment_mask);

/// An argument of a variable argument list.
union cd_argument {
  int64_t integer;
  double real;
  const void *pointer;
};

/// Reads so many arguments. `kinds` has a letter for each: `i` an `int`, `u` an `unsigned int`, `l` an integer of 64
/// bits, `d` a `double`, `p` a pointer.
void cd_read_arguments(va_list list, const char *kinds, size_t count, union cd_argument *arguments);

#endif
