"""P. F. C. Mathews, honours thesis: what is computed for it, and looks into its trained nets."""
