"""What stands around a cell, and the models that have none."""
