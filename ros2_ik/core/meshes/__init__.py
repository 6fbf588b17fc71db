"""Mesh files: triangles, convex hulls and convex parts."""
