"""The compiler behind ``torch.compile(model, backend="tessiq")``."""
