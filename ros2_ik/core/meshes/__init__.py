"""Meshes: files, convex hulls, and decomposition into convex pieces."""
