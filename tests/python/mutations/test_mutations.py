"""The mutations still fit the code they break. Whether their tests notice is for ./dev mutations to say."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from checkout_copy import CAUGHT, Copy, Outcome, judge
from mutation import Mutation, applied, load

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("mutation", load(), ids=lambda one: one.name)
def test_mutation_fits_its_file_and_changes_it(mutation: Mutation) -> None:
    text = (ROOT / mutation.file).read_text()
    assert applied(mutation, text) != text
    assert mutation.why


@pytest.mark.parametrize("mutation", load(), ids=lambda one: one.name)
def test_mutation_names_a_test_that_exists(mutation: Mutation) -> None:
    where, _, rest = mutation.test.partition(" ")
    if mutation.build == "core":
        assert (ROOT / "tests" / "cpp" / where).is_dir()
        assert rest
    else:
        assert (ROOT / where.partition("::")[0]).is_file()


def test_every_part_has_some() -> None:
    files = [one.file for one in load()]
    parts = ("csrc/ir", "csrc/analysis", "csrc/passes", "csrc/codegen/emit", "csrc/program", "csrc/runtime")
    for part in (*parts, "csrc/profiling", "csrc/pytorch/eager", "csrc/pytorch/executor", "python/tessiq/compile"):
        assert sum(one.startswith(part) for one in files) >= 2, part
    assert len(files) >= 40


def test_text_that_is_not_there_once_is_refused() -> None:
    mutation = Mutation("lost", "why", "a.cpp", "x = 1;", "x = 2;", "ir *")
    assert applied(mutation, "int x = 1;") == "int x = 2;"
    for text in ("int y;", "x = 1; x = 1;"):
        with pytest.raises(LookupError, match="write the mutation anew"):
            applied(mutation, text)


class FakeCopy(Copy):
    """A copy whose builds and tests come out as they are told to; keeps what the file held while the test ran."""

    def __init__(self, folder: Path, outcome: Outcome, *, builds: bool = True) -> None:
        self.folder, self._outcome, self._builds, self.seen = folder, outcome, builds, ""

    def build_for(self, mutations: Sequence[Mutation]) -> bool:
        return self._builds

    def outcome(self, test: str) -> Outcome:
        self.seen = (self.folder / "a.cpp").read_text()
        return self._outcome


def test_only_a_test_that_ran_and_failed_has_caught_a_mutation(tmp_path: Path) -> None:
    mutation = Mutation("small", "why", "a.cpp", "x = 1;", "x = 2;", "ir *")
    file = tmp_path / "a.cpp"
    file.write_text("int x = 1;")
    red = FakeCopy(tmp_path, "red")
    assert judge(red, mutation) == CAUGHT
    assert (red.seen, file.read_text()) == ("int x = 2;", "int x = 1;")
    assert judge(FakeCopy(tmp_path, "green"), mutation) == "NOT CAUGHT"
    assert judge(FakeCopy(tmp_path, "not run"), mutation) == "its test does not start"
    assert judge(FakeCopy(tmp_path, "red", builds=False), mutation) == "does not build"
    file.write_text("int y;")
    assert "0 times; write the mutation anew" in judge(red, mutation)


def test_two_mutations_of_one_name_are_refused(tmp_path: Path) -> None:
    row = '[[mutation]]\nname = "a"\nwhy = "b"\nfile = "c"\nfind = "d"\nreplace = "e"\ntest = "ir *"\n'
    (tmp_path / "one.toml").write_text(row)
    (tmp_path / "two.toml").write_text(row)
    with pytest.raises(ValueError, match="two mutations 'a'"):
        load(tmp_path)
