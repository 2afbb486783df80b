"""A mutation: one thing broken on purpose, and the one test that must turn red."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

HERE = Path(__file__).resolve().parent

Build = Literal["none", "core", "extension"]
"""What has to be built for the test: nothing, a test program without PyTorch, or the extension."""


@dataclass(frozen=True)
class Mutation:
    """One row of the files beside this one.

    Attributes:
        why: what a user would suffer from it.
        find: occurs once in the file.
        test: ``FOLDER FILTER``, a folder of tests/cpp and a filter of GoogleTest's, or pytest's own words, which begin
            with a path.
    """

    name: str
    why: str
    file: str
    find: str
    replace: str
    test: str

    @property
    def build(self) -> Build:
        """What the test runs is made from."""
        if not self.test.startswith("tests/"):
            return "core"
        return "none" if self.file.startswith("python/") else "extension"


def load(folder: Path = HERE) -> list[Mutation]:
    """Every mutation, by file name and then in the order of the file. Raises ValueError where two have one name."""
    found: dict[str, Mutation] = {}
    for path in sorted(folder.glob("*.toml")):
        for row in tomllib.loads(path.read_text())["mutation"]:
            mutation = Mutation(**row)
            if mutation.name in found:
                raise ValueError(f"{path.name}: there are two mutations {mutation.name!r}")
            found[mutation.name] = mutation
    return list(found.values())


def applied(mutation: Mutation, text: str) -> str:
    """The broken text. Raises LookupError where what is to be replaced is not there exactly once."""
    count = text.count(mutation.find)
    if count != 1:
        raise LookupError(f"{mutation.file} holds the text of {mutation.name!r} {count} times; write the mutation anew")
    return text.replace(mutation.find, mutation.replace)
