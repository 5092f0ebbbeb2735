import Foundation
import LMDBStore

#if LMDB
  LMDBStore.register()
#endif
exit(Tool.run(Array(CommandLine.arguments.dropFirst())))
