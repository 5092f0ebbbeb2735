#ifndef OPENCOREDATA_CRUNTIME_H
#define OPENCOREDATA_CRUNTIME_H
#include <stdbool.h>
#include <stddef.h>

/// Retains a Swift object unless its deinitialisation has begun. Returns whether it did.
bool cd_try_retain(void *object);

/// A pointer of the calling thread's own, null at first.
void **cd_thread_slot(void);

/// Calls `body` with the metadata of every class of the process that is called `name`, whatever module it is in. Generic
/// classes are left out. Stops when `body` returns false.
void cd_find_classes(const char *name, bool (*body)(const void *metadata, void *context), void *context);

/// Allocates a Swift object of a class, retained once. Its storage is not initialised.
void *cd_allocate_object(const void *metadata, size_t size, size_t alignment_mask);

#endif
