import Foundation

/// Names, bytes and times of all files in a folder, and of the folder.
package func traces(of folder: URL) throws -> [String] {
  var paths = [folder.path]
  let files = FileManager.default.enumerator(atPath: folder.path)
  while let name = files?.nextObject() as? String { paths.append(folder.path + "/" + name) }
  return try paths.sorted().map { path in
    var status = stat()
    guard lstat(path, &status) == 0 else { return path + " is gone" }
    let isFile = status.st_mode & S_IFMT == S_IFREG
    let bytes = isFile ? try Data(contentsOf: URL(filePath: path)).hashValue : 0
    let (changed, modified) = (status.st_ctim, status.st_mtim)
    return
      "\(path) \(status.st_ino) \(status.st_size) \(bytes) \(modified.tv_sec).\(modified.tv_nsec) \(changed.tv_sec).\(changed.tv_nsec)"
  }
}
