"""The pattern of some names matches them and no other, however it is said."""

import re

from hypothesis import given
from hypothesis import strategies as st

from dpfl.planning import naming

ENDS = st.text("0123456789abcdef", min_size=8, max_size=8)
NAMES = st.lists(st.tuples(st.sampled_from(["digits-sgd-eps0.5-s0", "a"]), ENDS), unique=True)


@given(NAMES, st.data())
def test_a_pattern_matches_the_wanted_names_alone(parts, data):
    names = [f"{head}-{end}" for head, end in parts]
    wanted = [name for name in names if data.draw(st.booleans())]
    pattern = re.compile(f"runs/({naming.pattern(wanted, names)})/summary.json")
    found = [name for name in names if pattern.fullmatch(f"runs/{name}/summary.json")]
    assert found == wanted
