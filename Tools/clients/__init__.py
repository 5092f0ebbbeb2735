"""What Scripts/check_clients and Scripts/test_client know of client libraries."""
