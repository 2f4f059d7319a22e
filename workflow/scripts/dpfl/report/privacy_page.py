"""The page on privacy: three epsilons, whom they protect, and which condition a method violates."""

from collections.abc import Iterable

from markupsafe import Markup

from dpfl.figures import families
from dpfl.report import cells_of, markup, privacy_words
from dpfl.report.reader import Folder

THREE = (
    "ε claimed is what a method says of itself.",
    "ε certified is what an accountant proves from the mechanism that ran. “No proof” means that "
    "a condition of every proof is violated, so no ε can be certified.",
    "ε audited is a lower bound that an attack has measured: it can refute a claim and never prove "
    "one. Beside it stands, of an audit of a whole run, its ceiling, the most that it could have "
    "shown; of one step by step, what noise of the stated size lets one run expect if it sees all "
    "that is released, which is no limit.",
)
VIOLATED, KEPT = "violated", "–"


def body(folder: Folder, papers: Iterable[str]) -> Markup:
    """Return the whole page; each of its sentences stands nowhere else."""
    papers = list(papers)
    names = [name for key in papers for name in folder.outline(key)["studies"]]
    told = privacy_words.notes(folder.cells(name) for name in names)
    return markup.joined(
        markup.part("heading", "Three epsilons"),
        markup.listing(list(THREE)),
        markup.part("heading", "Whom ε protects, and what a certificate assumes"),
        markup.listing(told),
        markup.part("heading", "Which condition a method violates", 2, "matrix"),
        matrix(cells_of.reasons(folder, papers)),
    )


def matrix(reasons: dict[str, list[str]]) -> Markup:
    """Return methods without a certificate against the conditions of a proof that they violate."""
    if not reasons:
        return markup.listing(["Every private method of this scale has a certificate."])
    conditions = list(dict.fromkeys(reason for own in reasons.values() for reason in own))
    heads = ["method", *(f"({number})" for number in range(1, len(conditions) + 1))]
    lines = [
        [families.named(method), *(VIOLATED if one in own else KEPT for one in conditions)]
        for method, own in reasons.items()
    ]
    said = [f"({number}) {one}" for number, one in enumerate(conditions, 1)]
    return markup.joined(
        markup.listing(said),
        markup.table(heads, lines, caption="Methods without a certificate; all others have one."),
    )
