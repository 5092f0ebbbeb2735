"""The cases that the tool once failed: they are run always, with every command."""

PAST = frozenset((
    # Time that grows with the square of the entities, or faster.
    "models/entities-300",
    "models/entities-10000",
    "models/line-of-60",
    "models/line-of-600",
    "models/line-of-5000",
    "models/star-of-1000",
    "models/attributes-20000",
    "system/super-line-of-5000",
    "system/mom-predicate-100000-deep",
    "tables/tables-30000",
    "system/plist-hashes-of-100000",
    "system/plist-many-keys",
    # Keys that are no integers: the same page of rows again and again.
    "tables/without-rowid",
    "tables/key-is-no-rowid",
    # A version counter that has no next number.
    "tables/Z_OPT-most",
    # Lines on stderr beside the one that says what is wrong.
    "tables/ZPRICE-text",
    "tables/ZPRICE-bad-utf8",
    "tables/ZIDENT-text",
    "tables/ZIDENT-most",
    "tables/ZIDENT-bad-utf8",
    "pages/wal-first-page-zeros",
    # Control characters of the file in the text of findings.
    "system/Z_UUID-blob",
    "system/Z_UUID-nul",
    "system/Z_UUID-escape",
    "system/Z_UUID-huge-blob",
    "system/Z_UUID-huge-text",
    "tables/odd-table-names",
    # A key handed out twice.
    "system/zmax-without-rows-least",
    "system/zmax-without-rows-null",
    "system/zmax-without-rows-text",
    "system/zmax-without-rows-blob",
    "system/zmax-without-rows-negative",
    # Reading that made files, changed times, copied without a limit or waited for a writer.
    "pages/header-write-version-3",
    "places/store-null",
    "places/store-hole-of-a-terabyte",
    "places/wal-hole",
    "places/shm-hole",
    "places/journal-hole",
    "places/shm-fifo",
    "places/journal-fifo",
    "values/external-huge-hole",
    # Archives that are shown in more steps than they have bytes.
    "values/note-deep-100000",
    "values/note-deep-dictionaries",
    "values/note-deep-values",
    "values/note-all-at-once",
))
