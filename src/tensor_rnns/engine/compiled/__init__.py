"""The compiled engine: one fused C++ scan over time and one back, made from the readable step of a cell."""
