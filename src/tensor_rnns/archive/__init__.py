"""One file that holds a report and all that it rests on, written here and checked again from here."""
