"""Sources, download, and one parser for each data set; no torch."""
