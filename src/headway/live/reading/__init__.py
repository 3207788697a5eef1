"""Reads workflows: files, make, users' scripts; everything that formats need of the world."""
