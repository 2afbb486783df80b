"""What claiming one operation would change, read off the program: copies that are there for it alone, and copies that
its operands and results would need instead, while everything else stays as it is (docs/design/0081).
"""

from collections.abc import Sequence

from tessiq import _C
from tessiq.explain.records import ClaimEffect

_OURS = ("launch", "matmul", "convolution")


class ClaimEffects:
    """Answers for the operations of one program."""

    def __init__(
        self,
        steps: "Sequence[_C.InstructionRecord]",
        slots: "Sequence[_C.SlotRecord]",
        outputs: Sequence[int],
        kept: Sequence[int],
    ) -> None:
        self._steps = [step for step in steps if step["kind"] != "free"]
        self._slots = slots
        self._outputs = frozenset(outputs)
        self._kept = frozenset(kept)
        self._viewed = {step["writes"][0]: step["reads"][0] for step in self._steps if step["kind"] == "view"}
        self._readers: dict[int, list[_C.InstructionRecord]] = {}
        self._writer: dict[int, _C.InstructionRecord] = {}
        self._on_device: set[str] = set()
        for step in self._steps:
            for slot in step["reads"]:
                self._readers.setdefault(slot, []).append(step)
            for slot in step["writes"]:
                self._writer[slot] = step
                if slots[slot]["place"] == "device":
                    self._on_device.add(slots[slot]["value"])
        self._on_device |= {slots[slot]["value"] for slot in self._readers if slots[slot]["place"] == "device"}

    def of(self, node: str) -> ClaimEffect | None:
        """The effect of claiming the operation that gives ``node``; None where no instruction is left of it."""
        step = next(
            (one for one in self._steps if one["kind"] == "dispatch" and node in self._names(one["writes"])), None
        )
        if step is None:
            return None
        copies = saved = 0
        if step["place"] == "host":
            changes = [self._operand(slot, step) for slot in dict.fromkeys(step["reads"])]
            changes += [self._result(slot) for slot in step["writes"]]
            copies, saved = sum(sign for sign, _ in changes), sum(sign * size for sign, size in changes)
        return ClaimEffect(copies, saved, self._neighbours(step))

    def _names(self, slots: Sequence[int]) -> tuple[str, ...]:
        return tuple(self._slots[slot]["value"] for slot in slots)

    def _source(self, slot: int) -> int:
        while slot in self._viewed:
            slot = self._viewed[slot]
        return slot

    def _operand(self, slot: int, step: "_C.InstructionRecord") -> tuple[int, int]:
        """Copies saved, as +1, 0 or -1, and the bytes of the copy."""
        source = self._source(slot)
        writer = self._writer.get(source)
        size = self._slots[source]["bytes"]
        if writer is not None and writer["kind"] == "move":
            others = [one for one in self._all_readers(source) if one is not step]
            return (0 if others or self._leaves(source) else 1, size)
        if source in self._kept:
            return (0, 0)  # a weight: copied once, not at every call
        # Computed or given on the host: a device copy is needed, unless something on the device has made one.
        return (0 if self._slots[source]["value"] in self._on_device else -1, size)

    def _result(self, slot: int) -> tuple[int, int]:
        readers = self._all_readers(slot)
        size = self._slots[slot]["bytes"]
        goes_up = any(one["kind"] == "move" for one in readers)
        stays = self._leaves(slot) or any(one["kind"] != "move" for one in readers)
        return (int(goes_up) - int(stays), size)

    def _all_readers(self, slot: int) -> "list[_C.InstructionRecord]":
        """Those of its views too; a view itself reads nothing."""
        found: list[_C.InstructionRecord] = []
        for step in self._readers.get(slot, []):
            found += self._all_readers(step["writes"][0]) if step["kind"] == "view" else [step]
        return found

    def _leaves(self, slot: int) -> bool:
        return slot in self._outputs or any(
            self._leaves(step["writes"][0]) for step in self._readers.get(slot, []) if step["kind"] == "view"
        )

    def _neighbours(self, step: "_C.InstructionRecord") -> tuple[str, ...]:
        """By the value they end in, in the order they run."""
        around: list[_C.InstructionRecord] = []
        for slot in step["reads"]:
            writer = self._writer.get(self._source(slot))
            if writer is not None and writer["kind"] == "move":
                writer = self._writer.get(self._source(writer["reads"][0]))
            around += [writer] if writer is not None else []
        for slot in step["writes"]:
            for reader in self._all_readers(slot):
                around += self._all_readers(reader["writes"][0]) if reader["kind"] == "move" else [reader]
        # Steps are dictionaries; each is told from another by which it is.
        chosen = {id(one) for one in around if one["kind"] in _OURS}
        return tuple(one["name"] or self._names(one["writes"])[0] for one in self._steps if id(one) in chosen)
