"""The verbs of ``python -m tessiq``: one module each, with a :class:`tessiq.command.verb.Verb` named ``VERB`` in it."""
