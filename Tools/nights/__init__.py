"""Scripts/nightly: its parts, its ledger, and how it runs a part."""
