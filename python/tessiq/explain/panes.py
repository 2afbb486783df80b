"""The texts of a graph as HTML, every name of a value marked so that the page can follow it from text to text.

``<b>`` is where a value is made, ``<u>`` where it is used; the element's text is the name, unless ``data-n`` says it.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from markupsafe import Markup, escape
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Name, Number, String, _TokenType, is_token_subtype

from tessiq.explain.records import Edit, FxNode, GraphReport, Kernel
from tessiq.explain.wording import edit_parts

_WORD = re.compile(r"[A-Za-z_]\w*")
_VALUE = re.compile(r"%([\w.]+)")
_ATTRIBUTES = re.compile(r" \{(?!\d+[,}]).*\}$")
_SPELLED = re.compile(r"^(?:a_)?v_(\w+)$")
_CLASSES: tuple[tuple[_TokenType, str], ...] = (
    (Comment, "co"),
    (Keyword, "kw"),
    (Number, "nu"),
    (String, "st"),
)


def fx_pane(nodes: Sequence[FxNode]) -> Markup:
    """PyTorch's graph, one line a node."""
    names = {one.name for one in nodes}
    return Markup("\n").join(_fx_line(one, names) for one in nodes)


def _fx_line(node: FxNode, names: set[str]) -> Markup:
    defined = node.text.startswith(node.name)
    rest = node.text[len(node.name) :] if defined else node.text
    # Only what stands in the call's parentheses names values; the rest is the operator and the type.
    head, sign, call = rest.partition(" = ") if defined else ("", "", rest)
    operator, bracket, arguments = call.partition("(") if defined else ("", "", call)
    type_ = Markup("<i>{}</i>").format(head) if head else Markup()
    text = (_made(node.name) if defined else Markup()) + type_
    return text + sign + operator + bracket + _marked(arguments, _WORD, lambda word: word if word in names else None)


def ir_pane(text: str) -> Markup:
    """The compiler's graph; attributes are quiet."""
    return Markup("\n").join(_ir_line(line) for line in text.splitlines())


def _ir_line(line: str) -> Markup:
    made, sign, rest = line.partition(" = ")
    if not sign or not made.lstrip().startswith("%"):
        made, sign, rest = "", "", line
    attributes = _ATTRIBUTES.search(rest) if sign else None
    call, quiet = (rest[: attributes.start()], rest[attributes.start() :]) if attributes else (rest, "")
    definitions = _values(made, _made) if sign else Markup()
    if line.startswith("graph @"):
        return _values(line, _made)
    return definitions + sign + _values(call, _used) + (Markup("<i>{}</i>").format(quiet) if quiet else Markup())


def _values(text: str, mark: Callable[[str], Markup]) -> Markup:
    parts, at = Markup(), 0
    for match in _VALUE.finditer(text):
        parts += escape(text[at : match.start()] + "%") + mark(match.group(1))
        at = match.end()
    return parts + escape(text[at:])


def _made(name: str) -> Markup:
    return Markup("<b tabindex=0>{}</b>").format(name)


def _used(name: str) -> Markup:
    return Markup("<u>{}</u>").format(name)


def _marked(text: str, pattern: re.Pattern[str], name_of: Callable[[str], str | None]) -> Markup:
    parts, at = Markup(), 0
    for match in pattern.finditer(text):
        name = name_of(match.group())
        if name is not None:
            parts += escape(text[at : match.start()]) + _used(name)
            at = match.end()
    return parts + escape(text[at:])


def source_pane(graph: GraphReport, *, once: bool) -> Markup:
    """Every kernel's code with the graph's names, under a line that names what it covers.

    Args:
        graph: whose kernels.
        once: show code that several kernels share with the first of them only.
    """
    shown: dict[str, str] = {}
    parts: list[Markup] = []
    spelled = {re.sub(r"\W", "_", name): name for name in _value_names(graph)}
    for kernel in graph.kernels:
        if kernel.kind != "fused":
            what = "library call" if kernel.kind == "library" else "kernel of a custom operation"
            head = Markup('<span class="co">// {}, covers </span>').format(what) + _covered(kernel)
            parts.append(head)
            continue
        head = Markup('<span class="co">// kernel %{}, covers </span>').format(kernel.name) + _covered(kernel)
        first = shown.setdefault(kernel.source, kernel.name)
        if once and first != kernel.name:
            parts.append(
                head + Markup('\n<span class="co">// the code of kernel %{} with other names</span>').format(first)
            )
        else:
            parts.append(head + "\n" + Markup("").join(_cpp(kernel.body.strip(), spelled)))
    return Markup("\n\n").join(parts)


def _covered(kernel: Kernel) -> Markup:
    return Markup(", ").join(_made(name) for name in kernel.covers)


def _value_names(graph: GraphReport) -> Iterator[str]:
    for kernel in graph.kernels:
        yield from (*kernel.reads, *kernel.covers, *kernel.writes)


def _cpp(code: str, spelled: dict[str, str]) -> Iterator[Markup]:
    for kind, text in get_lexer_by_name("cpp", stripnl=False).get_tokens(code):
        match = _SPELLED.match(text) if is_token_subtype(kind, Name) else None
        if match is not None and match.group(1) in spelled:
            yield Markup('<u data-n="{}">{}</u>').format(spelled[match.group(1)], text)
        else:
            yield _coloured(kind, text)


def python_text(code: str) -> Markup:
    """A Python program in colour."""
    return Markup("").join(
        _coloured(kind, text) for kind, text in get_lexer_by_name("python", stripnl=False).get_tokens(code)
    )


def _coloured(kind: _TokenType, text: str) -> Markup:
    name = next((name for parent, name in _CLASSES if is_token_subtype(kind, parent)), None)
    return Markup('<span class="{}">{}</span>').format(name, text) if name else escape(text)


def edit_line(edit: Edit) -> Markup:
    """One edit of a pass: the name, what went and what came."""
    shared, went, came, _ = edit_parts(edit)
    name = Markup("%") + _used(edit.name) + "  " if shared else Markup()
    gone = Markup("<del>{}</del>").format(went.strip()) if went.strip() else Markup()
    new = Markup("<ins>{}</ins>").format(came.strip()) if came.strip() else Markup()
    return name + gone + (Markup("  " if shared else "\n") if gone and new else Markup()) + new
