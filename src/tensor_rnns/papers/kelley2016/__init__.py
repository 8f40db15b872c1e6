"""What kelley2016 alone needs: its identities, its sizes, and the counts that a model has to beat."""
