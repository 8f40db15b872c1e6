"""What the notes on recurrent nets say that no training is needed for."""
