"""Lines that the core logs, under the loggers ``tessiq.<topic>``, so that TORCH_LOGS=+tessiq shows them."""

import logging

from tessiq import _C

root = logging.getLogger("tessiq")


def handle(level: int, topic: str, message: str) -> None:
    """Pass one line of the core on to its topic's logger."""
    logging.getLogger(f"tessiq.{topic}").log(level, "%s", message)


def follow_level() -> None:
    """Let the core drop what the logger ``tessiq`` would drop; call again after changing that logger's level."""
    _C.set_log_level(root.getEffectiveLevel())


def connect() -> None:
    """Send the core's lines to Python's loggers from now on."""
    _C.set_log_sink(handle)
    follow_level()
