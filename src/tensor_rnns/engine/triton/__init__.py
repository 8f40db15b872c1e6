"""The triton engine: one kernel over time and one back for a GPU, made from the readable step of a cell."""
