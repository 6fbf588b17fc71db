"""Worker processes for searches, so that the node's callbacks stay short."""
