"""Sentences of the report are true for whatever figures come."""

from typing import Any

from laserloop.studies.halilovic.check import Claim
from laserloop.studies.halilovic.claims import explain
from laserloop.studies.halilovic.contexts import PAGES, show_story, write_headline
from laserloop.studies.halilovic.report import render_markdown
from laserloop.studies.halilovic.results import Results

Found = dict[str, Any]


def gather(found: Found) -> Results:
    return Results(settings={"name": "full"}, **{name.split("/")[-1]: part for name, part in found.items()})


def write_story(results: Results) -> list[str]:
    return render_markdown("story", {}, show_story(results)).strip().split("\n\n")


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
    page = render_markdown("closed_loop", {}, PAGES["closed_loop"](results), results)
    assert (
        "\n- With δ, 1 of 3 runs have a tick above the bound: corner + δ spiral 0.5 K (1). A margin" in page
    )


def test_a_story_leaves_out_what_was_not_run(found: Found) -> None:
    assert len(write_story(gather({"plant": found["plant"]}))) == 1


def test_a_headline_counts_verdicts() -> None:
    assert write_headline([Claim(key="C1", sentence="")]) == (
        "Of the paper's 1 claims, 0 are confirmed, 0 partly, 0 not and 1 not judged yet"
    )


def test_a_cause_is_given_only_if_a_figure_shows_it(found: Found) -> None:
    key = "table_1.order"
    assert "spreads by 130 K, under hf-random by 60 K" in explain(key, gather(found))
    found["table_1"]["excitations"][0]["t_max_std_k"] = 50.0
    assert explain(key, gather(found)) == ""


def test_noise_explains_an_error_only_by_the_errors_of_its_own_sentence(found: Found) -> None:
    errors = {
        ("noise", "0"): (6.6, 10.1),
        ("noise", "10"): (13.3, 14.6),
        ("shared noise", "10"): (10.4, 12.5),
    }
    found["ablations"]["points"] = [
        {"axis": axis, "value": value, "seen": seen, "unseen": unseen}
        for (axis, value), (seen, unseen) in errors.items()
    ]
    assert explain("noise.seen", gather(found)) == ""  # 3.8 K are more than 3 with either reading
    unseen = explain("noise.unseen", gather(found))
    assert "our unseen error becomes 14.6 K, with one for all inputs 12.5 K, by which" in unseen


def test_an_lstm_that_had_stopped_learning_is_no_excuse(found: Found) -> None:
    assert "best epoch was 199 of 200" in explain("lstm", gather(found))
    trained = found["trainings"]["corner-lstm"]
    trained["training"] = trained["training"] | {"schedule": "cosine"}  # whose best epoch is always the last
    assert explain("lstm", gather(found)) == ""
    trained["training"] = trained["training"] | {"schedule": "plateau"}
    trained["metrics"]["best_epoch"] = 100
    assert explain("lstm", gather(found)) == ""


def test_the_angle_of_the_corner_explains_its_failure_only_if_another_one_meets_more(found: Found) -> None:
    corners = found["closed_loop"]["corners"]
    assert explain("c4.run", gather(found)) == ""  # all corners are alike
    sharper = next(row for row in corners if (row["variant"], row["label"]) == ("166°", "baseline"))
    sharper.update(met=4, overshoot_k=49.0, n_over=25)
    told = explain("c4.run", gather(found))
    assert "of 8 corners that of 166° meets 4 of 5 sentences about it" in told
    assert "with 49.0 K over in 25 ticks" in told


def test_a_search_that_was_capped_is_told_with_its_tick(found: Found) -> None:
    key = "c3.solved"
    for loop in found["closed_loop"]["table_2"]:
        loop["series"]["iterations"] = [15] * loop["ticks"]
    assert explain(key, gather(found)) == ""
    loop = found["closed_loop"]["table_2"][1]
    ticks = loop["ticks"]
    loop["statuses"] = {"solved": ticks - 1, "iteration cap reached: best plan so far applied": 1}
    loop["series"]["iterations"] = [500, *[15] * (ticks - 1)]
    told = explain(key, gather(found))
    assert f"cap of 500 iterations: tick 1 of {loop['label']}, {loop['path']}, while the plate was" in told
    loop["series"]["iterations"] = [*[15] * (ticks - 1), 500]
    assert explain(key, gather(found)).endswith(f"tick {ticks} of {loop['label']}, {loop['path']}.")
    capped = loop["statuses"]
    loop["statuses"] = {"solved": ticks - 1, "no prediction": 1}
    assert explain(key, gather(found)) == ""
    loop["statuses"] = capped
    del loop["series"]  # kept of some loops only
    assert explain(key, gather(found)) == ""
