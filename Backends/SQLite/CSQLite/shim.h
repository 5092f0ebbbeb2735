#ifndef OPENCOREDATA_CSQLITE_SHIM_H
#define OPENCOREDATA_CSQLITE_SHIM_H
#include <sqlite3.h>

// sqlite3_db_config takes variable arguments, which Swift cannot pass.
static inline int ocd_db_config(sqlite3 *db, int operation, int value) {
  return sqlite3_db_config(db, operation, value, (int *)0);
}

// The first `count` words of the index of a database's write-ahead log, in `words`. SQLITE_NOTFOUND where it has no
// log; then there is no index, and SQLite would make one. Not for a connection in exclusive locking mode, which has its
// own.
static inline int ocd_wal_index(sqlite3 *db, unsigned int *words, int count) {
  sqlite3_file *file = 0;
  int result = sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (result != SQLITE_OK) return result;
  if (!file || !file->pMethods || file->pMethods->iVersion < 2 || !file->pMethods->xShmMap) return SQLITE_NOTFOUND;
  unsigned char header[20];
  result = file->pMethods->xRead(file, header, sizeof header, 0);
  if (result != SQLITE_OK) return result;
  // The version that readers need: 2 with a log (https://www.sqlite.org/fileformat.html, 1.3.3).
  if (header[19] != 2) return SQLITE_NOTFOUND;
  void volatile *index = 0;
  result = file->pMethods->xShmMap(file, 0, 32768, 0, &index);
  if (result != SQLITE_OK) return result;
  if (!index) return SQLITE_NOTFOUND;
  for (int i = 0; i < count; i++) words[i] = ((unsigned int volatile *)index)[i];
  return SQLITE_OK;
}

// Waits until a database's main file and its log or journal, as far as they are open, are on the disk.
static inline int ocd_sync(sqlite3 *db) {
  const int operations[] = {SQLITE_FCNTL_JOURNAL_POINTER, SQLITE_FCNTL_FILE_POINTER};
  for (int i = 0; i < 2; i++) {
    sqlite3_file *file = 0;
    int result = sqlite3_file_control(db, "main", operations[i], &file);
    if (result != SQLITE_OK) return result;
    if (file && file->pMethods) result = file->pMethods->xSync(file, SQLITE_SYNC_NORMAL);
    if (result != SQLITE_OK) return result;
  }
  return SQLITE_OK;
}
#endif
