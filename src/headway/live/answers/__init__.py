"""What commands answer, before anything is printed."""
