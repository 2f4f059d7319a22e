"""The cache of calibrations: what it returns is as good as new, whatever lies in its folder."""

import json
import math
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import pytest
from refusals import refuses

from dpfl.privacy import search
from dpfl.privacy.cache import NoiseCache

SETTING = (0.05, 20, 1.0, 1e-5)
KEY = {"work": [0.1, 5], "budget": {"epsilon": 2.0, "strategy": "decay"}}


@pytest.fixture
def cache(tmp_path):
    return NoiseCache(tmp_path / "cache")


@pytest.fixture(scope="module")
def noise():
    return search.noise_multiplier(*SETTING)


def only_file(cache):
    (path,) = cache.folder.iterdir()
    return path


def test_a_second_cache_on_the_folder_returns_the_same_without_calibrating(
    cache, noise, monkeypatch
):
    assert cache.noise_multiplier(*SETTING) == noise
    monkeypatch.setattr(search, "noise_multiplier", None)
    assert NoiseCache(cache.folder).noise_multiplier(*SETTING) == noise


@pytest.mark.parametrize(("place", "value"), [*enumerate((0.06, 21, 1.1, 1e-6, "rdp"))])
def test_every_part_of_the_setting_is_part_of_the_key(cache, noise, place, value):
    other = (*SETTING[:place], value, *SETTING[place + 1 :])
    cache.noise_multiplier(*SETTING)
    assert cache.noise_multiplier(*other) == search.noise_multiplier(*other) != noise


WRONG = [0.5, 0.999, 1.1, 1e-3, 1e-300, -1.0, 0.0, math.nan, math.inf, "1.1", None, [2]]
DAMAGED = [b"", b"{", b"null", b"[]", b"7", b"\xff\xfe", b'{"key": 1}', b'{"content": {}}']


@pytest.mark.parametrize("poison", [*WRONG, *DAMAGED])
def test_a_wrong_noise_or_a_damaged_file_is_found_out_and_replaced(cache, noise, poison):
    """Numbers are factors on the right noise: half of it would cost far more than the target."""
    cache.noise_multiplier(*SETTING)
    entry = json.loads(only_file(cache).read_text())
    false = poison * noise if isinstance(poison, float) else poison
    if not isinstance(poison, bytes):
        entry["content"]["noise_multiplier"] = false
        poison = json.dumps(entry).encode()
    only_file(cache).write_bytes(poison)
    assert cache.noise_multiplier(*SETTING) == noise
    assert json.loads(only_file(cache).read_text())["content"]["noise_multiplier"] == noise


def test_content_of_another_key_is_ignored(cache):
    cache.store(KEY, {"noise": [1.0, 2.0]})
    entry = json.loads(only_file(cache).read_text())
    only_file(cache).write_text(json.dumps({**entry, "key": {**KEY, "work": [0.1, 6]}}))
    assert cache.recall(KEY) is None


def test_what_is_stored_is_recalled(cache):
    assert cache.recall(KEY) is None
    cache.store(KEY, {"noise": (1.0, 2.0), "paid_steps": 10})
    told = {"budget": {"strategy": "decay", "epsilon": 2}, "work": (0.1, 5.0)}
    assert cache.recall(told) == {"noise": [1.0, 2.0], "paid_steps": 10}
    assert cache.recall({**KEY, "work": [0.1, 6]}) is None


def test_without_a_folder_nothing_is_kept(tmp_path, noise, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cache = NoiseCache(None)
    assert cache.noise_multiplier(*SETTING) == noise
    cache.store(KEY, {"noise": []})
    assert cache.recall(KEY) is None
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written_costs_no_answer(tmp_path, noise):
    (tmp_path / "file").write_text("")
    assert NoiseCache(tmp_path / "file").noise_multiplier(*SETTING) == noise


def test_many_processes_share_a_folder(cache):
    with ProcessPoolExecutor(2) as pool:
        list(pool.map(partial(cache.store, KEY), [{"noise": [float(n)]} for n in range(20)]))
    (kept,) = cache.recall(KEY)["noise"]
    assert kept in range(20)
    assert only_file(cache).suffix == ".json"


def test_mistakes_stay_mistakes(cache):
    refuses(r"sample_rate is 2.0, must be in", cache.noise_multiplier, 2.0, *SETTING[1:])
    assert not cache.folder.exists()
