"""A reproducible replication of five documents on tensor-structured recurrent networks."""
