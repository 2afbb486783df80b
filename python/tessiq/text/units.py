"""Numbers with units. Every face of every report takes them from here, so that a number reads alike on each."""


def bytes_text(count: int) -> str:
    """A number of bytes with a unit that suits it."""
    for unit in ("B", "KiB", "MiB"):
        if abs(count) < 1024:
            return f"{count} B" if unit == "B" else f"{count:.1f} {unit}"
        count = count / 1024  # type: ignore[assignment]
    return f"{count:.2f} GiB"


def time_text(microseconds: float) -> str:
    """A time with a unit that suits it, three digits."""
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if microseconds >= size:
            return f"{microseconds / size:.3g} {unit}"
    return f"{microseconds:.3g} us"


def count_text(number: int, noun: str) -> str:
    """``1 copy``, ``2 copies``."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number} {noun if number == 1 else plural}"
