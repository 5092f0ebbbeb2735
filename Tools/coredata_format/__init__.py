"""An independent reader of Core Data SQLite stores, written from the format specification."""


class StoreError(Exception):
    """The store, its model or a stored value is not what the format says."""
