"""What ``./dev demo`` runs: real models, compiled, checked against PyTorch on the CPU, and timed beside it."""
