#ifndef OPENCOREDATA_CRUNTIME_H
#define OPENCOREDATA_CRUNTIME_H
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Retains a Swift object unless its deinitialization has begun. Returns whether it did.
bool cd_try_retain(void *object);

/// Ends the reference counting of a Swift object, which is never freed from then on. No other thread may hold it yet.
void cd_make_immortal(void *object);

/// Releases a Swift object once.
void cd_release(void *object);

/// Allocates uninitialized memory with the alignment of `malloc`. On Linux this is faster than Swift's own allocation.
/// Free it with `free`. Ends the program where there is no memory.
void *cd_allocate(size_t size);

/// Allocates memory for `count` items, all bytes zero. For large tables the system provides zeroed pages, so the zeros
/// need not be written. Free it with `free`. Ends the program where there is no memory.
void *cd_allocate_zeroed(size_t count, size_t size);

/// Prefetches memory that is about to be written into the processor's cache.
static inline void cd_prefetch(const void *address) { __builtin_prefetch(address, 1); }

/// The address of a pointer that belongs to the calling thread, null at first.
void **cd_thread_slot(void);

/// Calls `body` with the metadata of every class of the process with the name `name`, in any module. Generic classes
/// are left out. Stops when `body` returns false.
void cd_find_classes(const char *name, bool (*body)(const void *metadata, void *context), void *context);

/// Allocates a Swift object of a class, retained once. Its storage is zero. Null where the size cannot be right.
void *cd_allocate_zeroed_object(const void *metadata, size_t size);

/// What is known of each trick: 0 nothing yet, 1 it works, 2 it is not used.
#define CD_TRICKS 16
extern unsigned char cd_trick_states[CD_TRICKS];

static inline unsigned char cd_trick_state(int32_t trick) {
  return __atomic_load_n(&cd_trick_states[trick], __ATOMIC_ACQUIRE);
}

/// Sets the state unless it is set already. Returns the state from now on.
unsigned char cd_set_trick_state(int32_t trick, unsigned char state);

/// Whether an environment variable, a list separated by commas, has a name or `all`.
bool cd_lists(const char *variable, const char *name);

/// Prints a line on standard error.
void cd_report(const char *text);

/// An argument of a variable argument list.
union cd_argument {
  int64_t integer;
  double real;
  const void *pointer;
};

/// Reads `count` arguments. `kinds` has a letter for each: `i` an `int`, `u` an `unsigned int`, `l` an integer of 64
/// bits, `d` a `double`, `p` a pointer.
void cd_read_arguments(va_list list, const char *kinds, size_t count, union cd_argument *arguments);

#endif
