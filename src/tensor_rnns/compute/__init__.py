"""What needs no training: identities, sizes, windows."""
