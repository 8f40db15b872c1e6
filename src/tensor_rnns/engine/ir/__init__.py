"""One step of a cell as a graph, and its reverse: what every engine that generates code begins with."""
