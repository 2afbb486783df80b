"""Where tessiq's log lines go: the loggers ``tessiq.<topic>``, for the core's lines and Python's alike.

``TESSIQ_LOGS=ir,program`` shows those topics on standard error; ``TORCH_LOGS=+tessiq`` shows everything the way PyTorch
shows its own. Leaves to those who speak what they say.
"""

import difflib
import logging
import os
import sys

from tessiq import _C

TOPICS = {
    "ir": "every compiled graph, before the first pass and after the last",
    "passes": "every pass, its time, and what it changed",
    "cuda": "the source of every generated kernel (C++ on the reference device), and what CUDA refuses",
    "program": "the steps that a compiled call runs",
    "placement": "where every operation runs, and why no kernel of tessiq's runs it where none does",
    "attention": "calls that fused attention refuses",
    "cache": "damaged and unwritable entries of the kernel cache",
    "custom": "custom operations that run their reference, and why",
    "compile": "graphs that run uncompiled, and why",
    "fallback": "operators that run without a kernel of tessiq's",
    "libraries": "calls that a library refuses",
    "profiling": "what a profile could not record",
    "runtime": "devices, memory and streams",
}
"""What ``TESSIQ_LOGS`` may name, and what each shows."""

root = logging.getLogger("tessiq")


def parse_topics(value: str) -> tuple[str, ...]:
    """The topics that a value of ``TESSIQ_LOGS`` names, each once, in its order; ``all`` names every one.

    Raises:
        ValueError: a name that is no topic, with the nearest one and the list.
    """
    names = [name.strip() for name in value.split(",") if name.strip()]
    for name in names:
        if name not in TOPICS and name != "all":
            near = difflib.get_close_matches(name, TOPICS, n=1)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            listed = "".join(f"\n  {topic:<10} {says}" for topic, says in TOPICS.items())
            raise ValueError(f"TESSIQ_LOGS names {name!r}, which is no topic{hint}; name 'all' or some of{listed}")
    return tuple(dict.fromkeys(TOPICS if "all" in names else names))


def show_topics(topics: tuple[str, ...]) -> None:
    """Print these topics' lines to standard error from now on, whatever level the logger ``tessiq`` has."""
    if not topics:
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
    for topic in topics:
        logger = logging.getLogger(f"tessiq.{topic}")
        logger.setLevel(logging.DEBUG)
        # On the topic and not passed on: a line is printed once, whatever else listens above.
        logger.addHandler(handler)
        logger.propagate = False
    follow_level()


def wants(topic: str) -> bool:
    """Whether anybody reads this topic's debug lines, so that they are worth making."""
    return logging.getLogger(f"tessiq.{topic}").isEnabledFor(logging.DEBUG)


def handle(level: int, topic: str, message: str) -> None:
    """Pass one line of the core on to its topic's logger."""
    logging.getLogger(f"tessiq.{topic}").log(level, "%s", message)


def follow_level() -> None:
    """Let the core drop what every logger here would drop; call again after changing a logger's level."""
    levels = [logging.getLogger(f"tessiq.{topic}").getEffectiveLevel() for topic in (*TOPICS, "core")]
    _C.set_log_level(min(levels))


def connect() -> None:
    """Send the core's lines to Python's loggers from now on, and show the topics that ``TESSIQ_LOGS`` names."""
    _C.set_log_sink(handle)
    show_topics(parse_topics(os.environ.get("TESSIQ_LOGS", "")))
    follow_level()
