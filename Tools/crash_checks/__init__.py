"""What Scripts/fault and Scripts/powerloss know of `crash-writer` and of disks."""
