/// The statements that the library sends, word for word; `store-benchmark statements` shows whether they still are.
enum RawSQL {
  static let employeeColumns = """
    t0.Z_ENT, t0.Z_PK, t0.Z_OPT, t0.ZACTIVE, t0.ZAGE, t0.ZBLOB, t0.ZEMAIL, t0.ZHIREDATE, t0.ZNAME, t0.ZSALARY, \
    t0.ZUUID, t0.ZDEPARTMENT
    """
  static let allEmployees = "SELECT \(employeeColumns) FROM ZEMPLOYEE t0 WHERE t0.Z_ENT = 2 ORDER BY t0.Z_PK"
  static let firstEmployees = allEmployees + " LIMIT ? OFFSET ?"
  static let employee = "SELECT \(employeeColumns) FROM ZEMPLOYEE t0 WHERE t0.Z_PK = ?"
  static let query = """
    SELECT \(employeeColumns) FROM ZEMPLOYEE t0 WHERE t0.Z_ENT = 2 AND (t0.ZAGE > ? AND (t0.ZNAME >= ? AND t0.ZNAME < ?)) \
    ORDER BY t0.ZSALARY DESC, t0.Z_PK LIMIT ? OFFSET ?
    """
  static let employeesOfDepartment = """
    SELECT \(employeeColumns), t0.ZDEPARTMENT AS owner FROM ZEMPLOYEE t0 WHERE t0.ZDEPARTMENT = ? \
    ORDER BY owner, t0.Z_PK
    """
  static let salariesOfDepartments = """
    SELECT t0.ZDEPARTMENT, count(*), avg(t0.ZSALARY) FROM ZEMPLOYEE t0 WHERE t0.Z_ENT = 2 GROUP BY t0.ZDEPARTMENT
    """
  static let valuesOfEmployees = "SELECT t0.ZNAME, t0.ZAGE, t0.ZSALARY FROM ZEMPLOYEE t0 WHERE t0.Z_ENT = 2"
  static let allDepartments = """
    SELECT t0.Z_ENT, t0.Z_PK, t0.Z_OPT, t0.ZNAME FROM ZDEPARTMENT t0 WHERE t0.Z_ENT = 1 ORDER BY t0.Z_PK
    """

  static let insertEmployee = """
    INSERT INTO ZEMPLOYEE (Z_PK, Z_ENT, Z_OPT, ZACTIVE, ZAGE, ZBLOB, ZEMAIL, ZHIREDATE, ZNAME, ZSALARY, ZUUID, \
    ZDEPARTMENT) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    """
  static let insertDepartment = "INSERT INTO ZDEPARTMENT (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (?, ?, ?, ?)"
  static let insertTag = "INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (?, ?, ?, ?)"
  static let insertPair = "INSERT OR IGNORE INTO Z_2TAGS (Z_2EMPLOYEES, Z_3TAGS) VALUES (?, ?)"
  /// Objects whose links changed get a new version.
  static let updateTag = "UPDATE ZTAG SET Z_OPT = ? WHERE Z_PK = ? AND ifnull(Z_OPT, 0) = ?"
  static let updateSalary = "UPDATE ZEMPLOYEE SET Z_OPT = ?, ZSALARY = ? WHERE Z_PK = ? AND ifnull(Z_OPT, 0) = ?"
  static let deleteEmployee = "DELETE FROM ZEMPLOYEE WHERE Z_PK = ? AND ifnull(Z_OPT, 0) = ?"
  static let deleteDepartment = "DELETE FROM ZDEPARTMENT WHERE Z_PK = ? AND ifnull(Z_OPT, 0) = ?"
  static let leaveDepartment = ["ZEMPLOYEE", "ZVISIT", "ZWARD", "ZZONE"].map {
    "UPDATE \($0) SET ZDEPARTMENT = NULL WHERE ZDEPARTMENT = ?"
  }
  static let deletePairs = "DELETE FROM Z_2TAGS WHERE Z_2EMPLOYEES = ?"

  static let begin = "BEGIN"
  static let beginWriting = "BEGIN IMMEDIATE"
  static let commit = "COMMIT"
  static let highestKey = "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?"
  static let setHighestKey = "UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?"

  /// Entity numbers: Core Data counts entities in the order of their names.
  static let departmentNumber: Int64 = 1
  static let employeeNumber: Int64 = 2
  static let tagNumber: Int64 = 3
}
