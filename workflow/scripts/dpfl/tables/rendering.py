"""Tables for readers: rounded Markdown and LaTeX (booktabs) beside the raw CSV."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpfl import files

if TYPE_CHECKING:
    import pandas as pd
from dpfl.errors import UserError

Column = Callable[["pd.Series"], str]
NOT_CERTIFIED = " (not certified)"


def write(
    stem: Path, table: "pd.DataFrame", columns: Mapping[str, Column], unit: str | None = None
) -> None:
    """Write stem.csv with the raw numbers, stem.md and stem.tex with columns made for reading.

    `unit` is whom the epsilons protect, by default what the table's own column says.
    """
    heads, shown = readable(table, columns, unit)
    files.write_text(f"{stem}.csv", table.to_csv(index=False, na_rep="", lineterminator="\n"))
    files.write_text(f"{stem}.md", markdown(heads, shown))
    files.write_text(f"{stem}.tex", latex(heads, shown))


def readable(
    table: "pd.DataFrame", columns: Mapping[str, Column], unit: str | None = None
) -> tuple[list[str], list[list[str]]]:
    """Return heads and lines of a table made for reading, without columns that are empty."""
    unit = unit or unit_of(table)
    shown = [[column(row) for column in columns.values()] for _, row in table.iterrows()]
    heads = [head_of(head, unit) for head in columns]
    kept = [i for i in range(len(heads)) if not shown or any(line[i] for line in shown)]
    return [heads[i] for i in kept], [[line[i] for i in kept] for line in shown]


def unit_of(table: "pd.DataFrame") -> str:
    """Return the one unit of a table's epsilons; UserError for two, which share no column."""
    units = sorted(set(table["unit"])) if "unit" in table else []
    if len(units) > 1:
        raise UserError(f"epsilons of the units {' and '.join(units)}, expected one in a table")
    return units[0] if units else "example"


def head_of(head: str, unit: str) -> str:
    """Return the head of a column, which names the unit of epsilons that protect whole clients."""
    return f"{head} ({unit})" if head.startswith("ε") and unit != "example" else head


def markdown(heads: list[str], lines: list[list[str]]) -> str:
    """Return a Markdown table."""
    escaped = [[text.replace("|", "\\|") for text in line] for line in [heads, *lines]]
    widths = [max(len(text) for text in column) for column in zip(*escaped, strict=True)]
    padded = [
        [text.ljust(w) for text, w in zip(line, widths, strict=True)]
        for line in [escaped[0], ["-" * w for w in widths], *escaped[1:]]
    ]
    return "".join(f"| {' | '.join(line)} |\n" for line in padded)


def grid(cells: "pd.DataFrame") -> tuple[list[str], list[list[str]]]:
    """Return heads and lines of accuracies: a line per method and variant, a column per epsilon."""
    epsilons, unit = sorted(cells["epsilon"].unique()), unit_of(cells)
    budgets = ["non-private" if math.isinf(e) else head_of(f"ε = {e:g}", unit) for e in epsilons]
    heads = ["method", *budgets]
    lines = []
    for (label, variant), group in cells.groupby([labels(cells), "variant"], sort=False):
        shown = {r["epsilon"]: mean_and_interval(r) + at_edge(r) for _, r in group.iterrows()}
        name = f"{label}, {variant}" if variant else label
        lines.append([name, *(shown.get(e, "") for e in epsilons)])
    return heads, lines


TEX = {
    **{c: f"\\{c}" for c in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "ε": r"$\varepsilon$",
    "α": r"$\alpha$",
    "∞": r"$\infty$",
    "≥": r"$\geq$",
    "−": r"$-$",
    "–": "--",
    "<": r"$<$",
    ">": r"$>$",
}


def latex(heads: list[str], lines: list[list[str]]) -> str:
    """Return a LaTeX tabular with booktabs rules; every special character is escaped."""
    head, *body = [" & ".join(map(tex, line)) + r" \\" for line in [heads, *lines]]
    begin = rf"\begin{{tabular}}{{{'l' * len(heads)}}}"
    parts = [begin, r"\toprule", head, r"\midrule", *body, r"\bottomrule", r"\end{tabular}"]
    return "\n".join(parts) + "\n"


def tex(text: str) -> str:
    """Escape a text for LaTeX."""
    return "".join(TEX.get(character, character) for character in text)


def known(value: object) -> bool:
    """Return whether a table holds something here."""
    return not (value is None or value == "" or (isinstance(value, float) and math.isnan(value)))


def rounded(name: str, form: str = "{:.3g}") -> Column:
    """Make a column of rounded numbers; infinity is a sign and an unknown number is empty."""
    return lambda row: number(row[name], form) if known(row[name]) else ""


def number(value: float, form: str = "{:.3g}") -> str:
    """Format a number; infinity as its sign."""
    return "∞" if math.isinf(value) else form.format(value)


def plain(name: str) -> Column:
    """Make a column of text as it is."""
    return lambda row: str(row[name]) if known(row[name]) else ""


def marks(certified: bool, refuted: bool = False) -> str:
    """Return what is said of a budget after a name: not certified, refuted, or nothing."""
    words = ["not certified"] * (not certified) + ["refuted"] * bool(refuted)
    return f" ({', '.join(words)})" if words else ""


def label(row: "pd.Series") -> str:
    """Return the name of a row's method, which says where nothing certifies its budget."""
    return row["label"] + marks(row["certified"])


def not_certified(row: "pd.Series") -> list[str]:
    """Return the sides of a comparison whose budget nothing certifies."""
    return [row[side] for side in ("better", "worse") if not row[f"{side}_certified"]]


def labels(table: "pd.DataFrame") -> "pd.Series":
    """Return the names of all rows' methods."""
    return table["label"] + table["certified"].map({True: "", False: NOT_CERTIFIED})


def mean_and_interval(row: "pd.Series") -> str:
    """Return a cell's accuracy as `97.1 ± 0.2 (n=5)`, or without ± for fewer than three seeds.

    Where runs failed it is that of the others, and says so: `97.1 ± 0.3 (4 of 5 trained)`; a cell
    without a result is `failed`.
    """
    if not row["n"]:
        return "failed"
    spread = f" ± {row['ci_high'] - row['accuracy_mean']:.1f}" if known(row["ci_high"]) else ""
    mean = f"{row['accuracy_mean']:.1f}{spread} " if known(row["accuracy_mean"]) else ""
    return f"{mean}({seeds(row)})"


def seeds(row: Mapping[str, Any]) -> str:
    """Return how many seeds a cell has, `n=5`, or how many of them trained, `4 of 5 trained`."""
    return f"{row['trained']:g} of {row['n']:g} trained" if failures(row) else f"n={row['n']:g}"


def failures(row: Mapping[str, Any]) -> int:
    """Return how many runs of a cell failed."""
    return int(row["n"] - row["trained"])


def trained(row: Mapping[str, Any]) -> str:
    """Return which share of a cell's runs trained, with its interval; nothing if all did."""
    if not failures(row):
        return ""
    ends = f"{100 * row['trained_low']:.0f}, {100 * row['trained_high']:.0f}"
    return f"{row['trained']:g} of {row['n']:g} [{ends}] %"


def at_edge(row: "pd.Series") -> str:
    """Return the mark of a cell with a value chosen at the edge of those that were tried."""
    return " (at the edge)" * bool(row.get("edge", ""))


def difference(row: "pd.Series") -> str:
    """Return a difference as `+0.42 [+0.10, +0.74] (n=5)`, points."""
    if not known(row["difference"]):
        return "(n=0)"
    ends = f" [{row['ci_low']:+.2f}, {row['ci_high']:+.2f}]" if known(row["ci_low"]) else ""
    return f"{row['difference']:+.2f}{ends} (n={row['n']:g})"


def p_value(name: str) -> Column:
    """Make a column of p-values."""
    return lambda row: p_text(row[name]) if known(row[name]) else ""


def p_text(p: float) -> str:
    """Return a p-value to two digits, the smallest ones as a bound."""
    return "<0.0001" if p < 1e-4 else f"{p:.2g}"


def p_equation(p: float) -> str:
    """Return a p-value in running text, such as `p = 0.03` or `p < 0.0001`."""
    text = p_text(p)
    return f"p < {text[1:]}" if text.startswith("<") else f"p = {text}"


def claimed(row: "pd.Series") -> str:
    """Return a claimed epsilon, and without a proof what all steps are charged if that differs."""
    text, charged = rounded("eps_claimed")(row), row["eps_accounted"]
    same = math.isclose(charged, row["eps_claimed"], rel_tol=0.01)
    if known(row["eps_certified"]) or not known(charged) or same:
        return text
    return f"{text} (all steps are charged {charged:.3g})"


def certified(row: "pd.Series") -> str:
    """Return a certified epsilon, `none` without a proof."""
    return rounded_up(row["eps_certified"]) if known(row["eps_certified"]) else "none"


def audited(row: Mapping[str, Any]) -> str:
    """Return an audited epsilon, `≥ 4.86 (ceiling 4.86)`, or the status of the audit without one.

    A status other than `audited` stands before the bound, such as `broken, ≥ 0.5`.
    """
    status = row["audit_status"] if known(row["audit_status"]) else "not audited"
    if not known(row["eps_audited"]):
        return status
    said = "" if status == "audited" else f"{status}, "
    most = row["audit_ceiling"]
    ceiling = f" (ceiling {rounded_down(most)})" if known(most) else ""
    return f"{said}≥ {rounded_down(row['eps_audited'])}{ceiling}"


def privacy(row: "pd.Series") -> str:
    """Return the verdict on a claimed epsilon, with its reasons where it is refuted."""
    reasons = row["privacy_reasons"] if "refuted" in row["privacy"] else ""
    return f"{row['privacy']}: {reasons}" if reasons else row["privacy"]


def rounded_up(epsilon: float) -> str:
    """Return four digits of a proven bound, rounded up: rounded to nearest it might not hold."""
    return _digits(epsilon, 4, lambda value: math.ceil(value - 1e-9))


def rounded_down(epsilon: float) -> str:
    """Return three digits of an audited bound, rounded down: rounded up it might not hold."""
    return _digits(epsilon, 3, lambda value: math.floor(value + 1e-9))


def _digits(epsilon: float, digits: int, cut: Callable[[float], int]) -> str:
    if not math.isfinite(epsilon) or epsilon == 0:
        return number(epsilon)
    unit = 10.0 ** (math.floor(math.log10(epsilon)) - digits + 1)
    return f"{cut(epsilon / unit) * unit:.{digits}g}"


def width(row: "pd.Series") -> str:
    """Return the width of a good range, with ≥ where the grid ends inside it."""
    if not known(row["width_decades"]):
        return "none"
    return ("≥ " if row["edge"] else "") + f"{row['width_decades']:.1f}"


def of_results(column: Column) -> Column:
    """Make a column that is empty for a cell without a result."""
    return lambda row: column(row) if row["n"] else ""


CELLS: dict[str, Column] = {
    "method": lambda row: label(row) if row["n"] else row["label"],
    "variant": plain("variant"),
    "remark": plain("remark"),
    "ε": rounded("epsilon"),
    "test accuracy, %": mean_and_interval,
    "trained": of_results(trained),
    "diverged": of_results(lambda row: str(row["diverged"] or "")),
    "ε claimed": of_results(claimed),
    "ε certified": of_results(certified),
    "certified by": of_results(lambda row: row["accountant"] * known(row["eps_certified"])),
    "ε audited": of_results(audited),
    "audit level": rounded("audit_level"),
    "audit estimator": plain("audit_estimator"),
    "privacy": of_results(privacy),
    "rate": lambda row: plain("rate")(row) + at_edge(row),
    "r": rounded("r"),
    "regime": plain("regime"),
    "clipped below": rounded("clipped_below", "{:.0%}"),
    "clipped above": rounded("clipped_above", "{:.0%}"),
    "published": plain("published"),
    "compared": plain("compared"),
    "verdict": plain("verdict"),
}

COMPARISONS: dict[str, Column] = {
    "kind": plain("kind"),
    "better": plain("better"),
    "worse": plain("worse"),
    "variant": plain("variant"),
    "part": plain("part"),
    "ε": plain("epsilons"),
    "difference, points": difference,
    "p": p_value("p"),
    "p (Holm)": p_value("p_holm"),
    "failed": lambda row: str(row["failed"] or ""),
    "tuning": plain("tuning"),
    "verdict": plain("verdict"),
    "not certified": lambda row: "; ".join(not_certified(row)),
}

RANGES: dict[str, Column] = {
    "method": label,
    "rate": plain("rate_key"),
    "ε": rounded("epsilon"),
    "best rate": rounded("best_rate"),
    "validation accuracy, %": rounded("best_validation_accuracy", "{:.1f}"),
    "rates": plain("rates"),
    "diverging": plain("diverging"),
    "unstable": plain("unstable"),
    "crawling": plain("crawling"),
    "good range": lambda row: (
        f"{row['good_low']:g} – {row['good_high']:g}" if known(row["good_low"]) else "none"
    ),
    "width, decades": width,
    "trials": plain("trials"),
}

TUNED: dict[str, Column] = {
    "method": plain("label"),
    "variant": plain("variant"),
    "ε": rounded("epsilon"),
    "chosen": lambda row: row["values"] + at_edge(row),
    "by": plain("rule"),
    "runs": rounded("runs", "{:g}"),
    "validation accuracy, %": rounded("validation_accuracy", "{:.1f}"),
    "next value, times": rounded("factor"),
    "accuracy over neighbours, points": rounded("spread", "{:.1f}"),
    "ε certified": lambda row: certified(row) if math.isfinite(row["epsilon"]) else "",
    "ε if the choice were paid for": lambda row: (
        rounded_up(row["eps_selected"]) if known(row["eps_selected"]) else ""
    ),
}

TRIALS: dict[str, Column] = {
    "method": plain("label"),
    "variant": plain("variant"),
    "ε": rounded("epsilon"),
    "values": plain("values"),
    "seeds": plain("seeds"),
    "validation accuracy, %": rounded("validation_accuracy", "{:.2f}"),
    "sd": rounded("sd", "{:.2f}"),
    "": plain("chosen"),
}

STUDY: dict[str, dict[str, Column]] = {
    "": CELLS,
    "comparisons": COMPARISONS,
    "ranges": RANGES,
    "tuned": TUNED,
    "trials": TRIALS,
}
"""What readers see of each table of a study, by its suffix."""
