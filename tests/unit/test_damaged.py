"""Files that are damaged after they were written: told in one line, never believed."""

import json
import subprocess

import numpy as np
import pytest
import tiny
import torch
from refusals import line_of
from safetensors.torch import save_file
from test_run import KilledError, killing

from dpfl.base import files
from dpfl.training import run


def train(settings, inputs, folder, kill_after=None):
    """Train until a line is told; return metrics, final weights and the lines."""
    lines = []
    result = run.train(settings, inputs, folder, killing(kill_after, lines))
    weights = [p.detach().tolist() for p in result.model.parameters()]
    return json.dumps([result.metrics, weights]), lines


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Settings, inputs, and what a run of them ends with."""
    settings, folder = tiny.settings(), tmp_path_factory.mktemp("undisturbed")
    inputs = tiny.inputs_of(settings, folder)
    return settings, inputs, train(settings, inputs, folder / "run")[0]


def flip(path):
    """Flip one bit in the middle of a file."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


DAMAGES = {
    "flipped": flip,
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "empty": lambda path: path.write_bytes(b""),
    "missing": lambda path: path.unlink(),
    "list": lambda path: path.write_text("[]"),
    "folder": lambda path: (path.unlink(), path.mkdir()),
}


def killed(undisturbed, folder, rounds=3):
    """Leave the checkpoint of a run that was killed after some rounds; return its folder."""
    settings, inputs, _ = undisturbed
    with pytest.raises(KilledError):
        train(settings, inputs, folder, rounds)
    return folder / run.CHECKPOINT


def resumed(undisturbed, folder):
    """Train on to the same end as undisturbed; return the lines."""
    settings, inputs, whole = undisturbed
    found, lines = train(settings, inputs, folder)
    assert found == whole
    return lines


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("file", ["run.3.pt", "manifest.json"])
def test_a_damaged_last_round_is_repeated_from_the_one_before(undisturbed, tmp_path, file, damage):
    path = killed(undisturbed, tmp_path / "run") / file
    # A bit of the manifest that nothing is computed from would be no damage to the run.
    DAMAGES["cut" if (file, damage) == ("manifest.json", "flipped") else damage](path)
    lines = resumed(undisturbed, tmp_path / "run")
    silent = (file, damage) == ("manifest.json", "missing")
    told = [] if silent else [f"{path}: not whole; the run goes back to the round before"]
    assert lines[: len(told) + 1] == [*told, "continuing after round 2"]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_state_of_both_rounds_starts_the_run_again(undisturbed, tmp_path, damage):
    folder = killed(undisturbed, tmp_path / "run")
    rounds = [json.loads((folder / f"{n}.json").read_text()) for n in ("manifest", "previous")]
    now, before = ({entry["file"] for entry in r["files"].values()} for r in rounds)
    path = folder / min(now & before)  # of a client that took no part in the last round
    DAMAGES[damage](path)
    lines = resumed(undisturbed, tmp_path / "run")
    assert lines[0] == f"{path}: not whole; the run starts again"
    assert lines[1].startswith("round 1/")


@pytest.mark.parametrize("content", ["[]", "{}", '{"fingerprint": 1}', "null", ""])
def test_manifests_of_another_shape_start_the_run_again(undisturbed, tmp_path, content):
    folder = killed(undisturbed, tmp_path / "run")
    fingerprint = json.loads((folder / "manifest.json").read_text())["fingerprint"]
    for name in ("manifest.json", "previous.json"):
        (folder / name).write_text(content.replace("1", json.dumps(fingerprint)))
    lines = resumed(undisturbed, tmp_path / "run")
    assert lines[0] == f"{folder / 'manifest.json'}: not whole; the run starts again"


def test_what_does_not_belong_in_a_checkpoint_does_not_stop_it(undisturbed, tmp_path):
    folder = killed(undisturbed, tmp_path / "run")
    (folder / "stray" / "deep").mkdir(parents=True)
    (folder / "link").symlink_to(tmp_path)
    (folder / "run.4.pt").write_bytes(b"half")
    assert resumed(undisturbed, tmp_path / "run")[0] == "continuing after round 3"
    assert not (folder / "stray").exists() and tmp_path.exists()


def test_a_file_in_place_of_the_checkpoint_folder_is_replaced(undisturbed, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / run.CHECKPOINT).write_text("a file")
    resumed(undisturbed, tmp_path / "run")


def test_a_checkpoint_tells_those_who_watch(undisturbed, tmp_path):
    folder = killed(undisturbed, tmp_path / "run")
    shown = json.loads((folder / "manifest.json").read_text())
    assert (shown["round"], shown["rounds"]) == (3, 4)
    last = json.loads(undisturbed[2])[0][3]
    assert shown["test_accuracy"] == last["test_accuracy"]
    assert shown["epsilon_spent"] == last["epsilon_spent"]


WEIGHTS = {"w": torch.arange(6.0)}
FORMATS = {
    "a.json": (lambda path: path.write_text('{"rate": 0.1}'), files.read_json),
    "a.npy": (lambda path: np.save(path, np.arange(9)), files.read_array),
    "a.csv": (lambda path: path.write_text("round,loss\n0,1.5\n"), files.read_table),
    "a.safetensors": (lambda path: save_file(WEIGHTS, path), files.read_weights),
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("damage", ["flipped", "cut", "empty"])
@pytest.mark.parametrize("known", [files.SUM, files.SUMS])
def test_a_file_is_compared_with_its_digest(tmp_path, name, damage, known):
    write, read = FORMATS[name]
    path = tmp_path / name
    write(path)
    files.write_sum(path)
    if known == files.SUMS:
        path.with_name(f"{name}{files.SUM}").rename(tmp_path / files.SUMS)
    assert read(path) is not None
    DAMAGES[damage](path)
    assert line_of(read, path) == f"{path}: not whole; delete it and run again"


@pytest.mark.parametrize("name", FORMATS)
def test_an_empty_file_without_a_digest_is_not_whole_either(tmp_path, name):
    path = tmp_path / name
    path.touch()
    assert line_of(FORMATS[name][1], path).endswith("not whole; delete it and run again")


def test_digests_are_those_of_sha256sum(tmp_path):
    path = tmp_path / "a.json"
    path.write_text("{}")
    files.write_sum(path)
    command = ["sha256sum", "--check", "--status", f"{path.name}{files.SUM}"]
    assert subprocess.run(command, cwd=tmp_path).returncode == 0
    DAMAGES["cut"](path)
    assert subprocess.run(command, cwd=tmp_path).returncode == 1
