"""Examples are scored for the studies whose figures ask for it, and for no other."""

from worktree import MINI, job_counts

STUDY = {
    "title": "Who was in the training set",
    "kind": "compare",
    "dataset": "digits",
    "methods": ["sgd"],
    "epsilons": [8],
    "seeds": [0, 1, 2, 3],
    "validation_fraction": 0.5,
}


def jobs(tree, figures):
    study = STUDY | {"figures": figures}
    tree.configure(MINI | {"select": ["meng2023/members"], "studies": {"meng2023/members": study}})
    return job_counts(tree.make("--dry-run"))


def test_models_are_asked_where_a_figure_of_attacks_is_drawn(sources):
    found = jobs(sources, ["membership"])
    assert (found["train"], found["score_examples"], found["tabulate"]) == (4, 1, 1)
    assert "score_examples" not in jobs(sources, ["accuracy"])
