"""Recurrent cells: one file a family, parameters and one readable step each."""
