"""Every mistake in what a user writes is one line with its place and its bound; nothing starts.

The cases are the tables of `bad_input`; each states the words that its line must hold.
"""

import pytest
from bad_input import cases

from dpfl.base.errors import UserError


@pytest.mark.parametrize("case", cases.ALL, ids=str)
def test_a_mistake_is_one_line(case, root, tmp_path, monkeypatch):
    with pytest.raises(UserError) as error:
        case.meet(cases.Place(root, tmp_path, monkeypatch))
    case.expect(str(error.value))
    assert not list(tmp_path.glob("results/*"))


def test_there_are_many_cases_and_none_twice():
    names = list(map(str, cases.ALL))
    assert len(names) >= 200
    assert len(set(names)) == len(names)
