"""What he2017 alone needs: its identities, its counts, its arithmetic and what its outputs depend on."""
