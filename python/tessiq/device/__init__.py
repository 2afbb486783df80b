"""The device as PyTorch sees it: names, streams, memory, random state."""
