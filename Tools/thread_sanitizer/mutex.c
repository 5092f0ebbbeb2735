// Tells the thread sanitizer of Swift's Mutex. Its fast ways are compiled into the program, where the sanitizer sees
// them; where threads meet, the Synchronization library takes and gives the lock, which was built without it, and what
// the lock guards would be reported as a race. Loaded with LD_PRELOAD by Scripts/tsan.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

extern void __tsan_acquire(void *) __attribute__((weak));
extern void __tsan_release(void *) __attribute__((weak));

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

typedef SWIFT void (*Lock)(uint32_t, SELF);
typedef SWIFT bool (*Try)(SELF);
typedef SWIFT void (*Unlock)(SELF);

SWIFT void lock(uint32_t owner, SELF self) __asm__(LOCK);
SWIFT bool try_lock(SELF self) __asm__(TRY);
SWIFT void unlock(SELF self) __asm__(UNLOCK);

SWIFT void lock(uint32_t owner, SELF self) {
  ((Lock)dlsym(RTLD_NEXT, LOCK))(owner, self);
  if (__tsan_acquire) __tsan_acquire(self);
}

SWIFT bool try_lock(SELF self) {
  bool taken = ((Try)dlsym(RTLD_NEXT, TRY))(self);
  if (taken && __tsan_acquire) __tsan_acquire(self);
  return taken;
}

SWIFT void unlock(SELF self) {
  if (__tsan_release) __tsan_release(self);
  ((Unlock)dlsym(RTLD_NEXT, UNLOCK))(self);
}
