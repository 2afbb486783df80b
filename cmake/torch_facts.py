"""Prints, as JSON, where PyTorch lies in this Python and which version it is.

PyTorch is located and its version file executed, but it is not imported: an import takes seconds, and a
configure step should not depend on its shared libraries loading.
"""

import importlib.util
import json
import pathlib
import runpy
import sys

spec = importlib.util.find_spec("torch")
if spec is None or spec.origin is None:
    sys.exit(f"no module named torch in {sys.executable}")
root = pathlib.Path(spec.origin).resolve().parent
version = runpy.run_path(str(root / "version.py"))
# The wheels that PyTorch depends on share one namespace package, nvidia, which may be spread over folders.
nvidia = importlib.util.find_spec("nvidia")
folders = list(nvidia.submodule_search_locations or []) if nvidia else []
print(
    json.dumps(
        {
            "version": str(version["__version__"]),
            "cuda": str(version.get("cuda") or ""),
            "root": str(root),
            "nvidia": ";".join(folders),
        }
    )
)
