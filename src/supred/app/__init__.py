"""What stands on top: tables, comparison, report, export and the command line."""
