"""What one document alone needs: its computed parts and its probes, a folder per paper."""
