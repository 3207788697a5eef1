"""What commands print: tables, drawings, progress, JSON."""
