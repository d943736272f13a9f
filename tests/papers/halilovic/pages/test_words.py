"""Sentences of the report are true for whatever figures come."""

from typing import Any

from laserloop.papers.halilovic.pages.findings import explain
from laserloop.papers.halilovic.pages.loop_words import explain as explain_loops
from laserloop.papers.halilovic.pages.results import Results
from laserloop.papers.halilovic.pages.story import write_headline, write_story
from laserloop.papers.halilovic.pages.verdict import Verdict

Found = dict[str, Any]


def gather(found: Found) -> Results:
    return Results(settings={"name": "full"}, **{name.split("/")[-1]: part for name, part in found.items()})


def test_five_sentences_tell_the_story(found: Found) -> None:
    story = write_story(gather(found))
    assert len(story) == 5
    assert "exceed 800 K in 22 ticks, by up to 51.1 K" in story[1]
    assert "none on any of the three paths" in story[2]
    assert "20 µs (1850 times less; p99 60 µs), inside its tick" in story[4]


def test_a_baseline_that_keeps_the_bound_is_not_said_to_break_it(found: Found) -> None:
    for row in found["closed_loop"]["table_2"]:
        row.update(n_over=0, overshoot_k=0.0)
    assert "keeps T_max below 800 K, where the paper's exceeds it by 51 K" in write_story(gather(found))[1]


def test_what_the_margin_leaves_is_told(found: Found) -> None:
    row = next(
        r for r in found["closed_loop"]["table_2"] if (r["label"], r["path"]) == ("corner + δ", "spiral")
    )
    row.update(n_over=1, overshoot_k=0.5)
    results = gather(found)
    assert "1 tick on all three paths together, by up to 0.5 K" in write_story(results)[2]
    told = next(sentence for sentence in explain_loops(results) if sentence.startswith("With δ"))
    assert told.startswith("With δ, 1 of 3 runs have a tick above the bound: corner + δ spiral 0.5 K (1).")


def test_a_story_leaves_out_what_was_not_run(found: Found) -> None:
    assert len(write_story(gather({"plant": found["plant"]}))) == 1


def test_a_headline_counts_verdicts() -> None:
    assert write_headline([Verdict(key="C1", claim="")]) == (
        "Of the paper's 1 claims, 0 are confirmed, 0 partly, 0 not and 1 not judged yet"
    )


def test_a_cause_is_given_only_if_a_figure_shows_it(found: Found) -> None:
    sentence = "persistent is easier than hf-random, in every seen row"
    assert "spreads by 130 K, under hf-random by 60 K" in explain(sentence, gather(found))
    found["table_1"]["excitations"][0]["t_max_std_k"] = 50.0
    assert explain(sentence, gather(found)) == "not explained by anything measured here."


def test_an_lstm_that_had_stopped_learning_is_no_excuse(found: Found) -> None:
    sentence = "the LSTM matches the one-shot DeepONet"
    assert "best epoch was 199 of 200" in explain(sentence, gather(found))
    found["trainings"]["corner-lstm"]["metrics"]["best_epoch"] = 100
    assert explain(sentence, gather(found)) == "not explained by anything measured here."


def test_a_search_that_was_capped_is_told_with_its_tick(found: Found) -> None:
    sentence = "the solver converges at every step of all closed loops"
    assert explain(sentence, gather(found)) == "not explained by anything measured here."
    loop = found["closed_loop"]["table_2"][1]
    ticks = loop["ticks"]
    loop["statuses"] = {"solved": ticks - 1, "iteration cap reached: best plan so far applied": 1}
    loop["series"]["iterations"] = [500, *[15] * (ticks - 1)]
    told = explain(sentence, gather(found))
    assert f"cap of 500 iterations: tick 1 of {loop['label']}, {loop['path']}, while the plate was" in told
    loop["series"]["iterations"] = [*[15] * (ticks - 1), 500]
    assert explain(sentence, gather(found)).endswith(f"tick {ticks} of {loop['label']}, {loop['path']}.")
    capped = loop["statuses"]
    loop["statuses"] = {"solved": ticks - 1, "no prediction": 1}
    assert explain(sentence, gather(found)) == "not explained by anything measured here."
    loop["statuses"] = capped
    del loop["series"]  # kept of some loops only
    assert explain(sentence, gather(found)) == "not explained by anything measured here."
