"""Run by the Python of a clean environment: is the tessiq installed there whole, and does it work?

Takes the environment's own site folder. Exits with a sentence where something is missing.
"""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path


def main(site: str) -> None:
    """Checks the files, the metadata and one computation of the installed package."""
    import torch

    import tessiq

    package = Path(tessiq.__file__).parent
    if not package.is_relative_to(Path(site).resolve()):
        sys.exit(f"tessiq was imported from {package}, not from the wheel in {site}")
    for name in ("py.typed", "__init__.py"):
        if not (package / name).exists():
            sys.exit(f"the wheel holds no {name}")
    modules = list(package.glob("_C.*.so"))
    if len(modules) != 1:
        sys.exit(f"the wheel should hold one extension module, found {modules}")

    version = importlib.metadata.version("tessiq")
    if version != tessiq.__version__:
        sys.exit(f"the metadata says {version}, the package {tessiq.__version__}")
    backends = importlib.metadata.entry_points(group="torch_dynamo_backends", name="tessiq")
    if len(backends) != 1:
        sys.exit(f"expected one torch.compile backend named tessiq, found {list(backends)}")

    x = torch.arange(6.0).reshape(2, 3)
    eager = (x.to("tessiq:0") * 2 + 1).cpu()
    compiled = torch.compile(lambda t: torch.relu(t * 2 + 1), backend="tessiq")(x)
    torch.testing.assert_close(eager, x * 2 + 1)
    torch.testing.assert_close(compiled.cpu(), torch.relu(x * 2 + 1))
    size = modules[0].stat().st_size / 1e6
    print(f"wheel: tessiq {version} from {package}, extension {size:.1f} MB, eager and compiled calls agree")


if __name__ == "__main__":
    main(sys.argv[1])
