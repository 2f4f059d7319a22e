"""The numbers of methods, by which figures colour them."""

from dpfl.planning.method_order import numbers

STUDIES = {"first": ["adam", "sgd"], "second": ["new", "adam"]}


def config(*methods):
    studies = {
        study: {"methods": [m for m in own if m in methods]} for study, own in STUDIES.items()
    }
    return {"methods": {method: {} for method in methods}, "studies": studies}


def test_a_method_has_one_number_in_all_studies():
    found = config("sgd", "unused", "adam", "new")
    assert numbers(found, "first") == {"sgd": 0, "adam": 1}
    assert numbers(found, "second") == {"adam": 1, "new": 2}


def test_a_method_that_is_added_last_changes_no_other_number():
    before, after = config("sgd", "adam"), config("sgd", "adam", "new")
    assert numbers(before, "first") == numbers(after, "first")
