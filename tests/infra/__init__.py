"""Real systems that tests start and stop."""
