"""What only barone2016 computes."""
