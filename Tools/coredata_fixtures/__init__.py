"""Writes Core Data SQLite stores from the format specification alone: an opinion of its own about what they contain."""
