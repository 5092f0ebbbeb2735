#if LMDB
  import CLMDB
  import Foundation

  /// Files that are written with LMDB directly.
  enum OtherDatabase {
    static func make(at url: URL, tree: String, key: String, value: String) throws {
      var environment: OpaquePointer?
      mdb_env_create(&environment)
      mdb_env_set_maxdbs(environment, 2)
      mdb_env_open(environment, url.path, UInt32(MDB_NOSUBDIR | MDB_NOLOCK), 0o644)
      var (transaction, number) = (OpaquePointer?.none, MDB_dbi(0))
      mdb_txn_begin(environment, nil, 0, &transaction)
      mdb_dbi_open(transaction, tree, UInt32(MDB_CREATE), &number)
      var (key, value) = (Array(key.utf8), Array(value.utf8))
      key.withUnsafeMutableBytes { key in
        value.withUnsafeMutableBytes { value in
          var (name, data) = (
            MDB_val(mv_size: key.count, mv_data: key.baseAddress),
            MDB_val(mv_size: value.count, mv_data: value.baseAddress)
          )
          mdb_put(transaction, number, &name, &data, 0)
        }
      }
      mdb_txn_commit(transaction)
      mdb_env_close(environment)
    }
  }
#endif
