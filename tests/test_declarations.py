"""A wrong declaration fails where it stands, with the repair in the message."""

from __future__ import annotations

from typing import Any

import pytest

from formulas.catalogue import assemble, catalogue
from formulas.errors import CatalogueError, Problem
from formulas.formula import Relation, definition, formula
from formulas.quantities import FLOP_PER_MULTIPLY_ADD


def test_a_right_one_is_a_relation() -> None:
    @formula(gives="kv_transfer_time", section="scaling")
    def moved(prompt_tokens: Any, kv_bytes_per_token: Any, transfer_bandwidth: Any) -> Any:
        """Moving a cache."""
        return prompt_tokens * kv_bytes_per_token / transfer_bandwidth

    assert isinstance(moved, Relation)
    assert moved.inputs == ("prompt_tokens", "kv_bytes_per_token", "transfer_bandwidth")
    assert moved.meaning == "Moving a cache."
    assert moved(6, 4, 3) == 8


def test_an_unknown_quantity() -> None:
    with pytest.raises(CatalogueError, match="no quantity 'ring_gpu'; did you mean 'ring_gpus'"):

        @formula(gives="all_reduce_time")
        def ring(ring_gpu: Any, link_latency: Any) -> Any:
            return ring_gpu * link_latency


def test_an_unknown_result() -> None:
    with pytest.raises(CatalogueError, match="gives no quantity 'step_tim'; did you mean"):

        @formula(gives="step_tim")
        def step(weight_bytes: Any, memory_bandwidth: Any) -> Any:
            return weight_bytes / memory_bandwidth


def test_an_unused_parameter() -> None:
    with pytest.raises(CatalogueError, match=r"takes \['d_model'\].*name it in cancels="):

        @formula(gives="weight_bytes")
        def weights(n_params: Any, bytes_per_weight: Any, d_model: Any) -> Any:
            return n_params * bytes_per_weight


def test_a_parameter_that_does_not_cancel() -> None:
    with pytest.raises(CatalogueError, match=r"\['n_params'\] is declared to cancel but does not"):

        @formula(gives="weight_bytes", cancels=("n_params",))
        def weights(n_params: Any, bytes_per_weight: Any) -> Any:
            return n_params * bytes_per_weight


def test_a_letter_for_what_is_never_mentioned() -> None:
    with pytest.raises(CatalogueError, match=r"a letter for \['batch'\].*drop the letter"):

        @formula(gives="weight_bytes", letters={"batch": "B"})
        def weights(n_params: Any, bytes_per_weight: Any) -> Any:
            return n_params * bytes_per_weight


def test_one_letter_for_two_quantities() -> None:
    with pytest.raises(CatalogueError, match=r"one letter, N, stands for two .*letters="):

        @formula(gives="weight_bytes", letters={"n_params": "N", "bytes_per_weight": "N"})
        def weights(n_params: Any, bytes_per_weight: Any) -> Any:
            return n_params * bytes_per_weight


def test_two_sides_of_different_dimension() -> None:
    with pytest.raises(CatalogueError, match="step_time is in s, but the right side is in byte"):

        @formula(gives="step_time")
        def step(n_params: Any, bytes_per_weight: Any) -> Any:
            return n_params * bytes_per_weight


def test_a_number_without_its_unit() -> None:
    """Two operations for each parameter are 2 FLOP; the message says where such numbers live."""
    with pytest.raises(CatalogueError, match=r"constant of formulas/quantities\.py"):

        @formula(gives="prefill_flops")
        def work(active_params: Any, prompt_tokens: Any) -> Any:
            return 2 * active_params * prompt_tokens

    @formula(gives="prefill_flops")
    def right(active_params: Any, prompt_tokens: Any) -> Any:
        return FLOP_PER_MULTIPLY_ADD.symbol * active_params * prompt_tokens

    assert right.gives == "prefill_flops"


def test_hours_are_not_seconds() -> None:
    """The same dimension at another scale is another unit."""
    with pytest.raises(CatalogueError, match="the right side is in"):

        @formula(gives="cost_per_million_tokens")
        def cost(n_gpus: Any, price_per_gpu_hour: Any, output_token_rate: Any) -> Any:
            return n_gpus * price_per_gpu_hour / output_token_rate


def test_a_sum_of_different_dimensions() -> None:
    with pytest.raises(CatalogueError, match=r"link_latency is in s|message_bytes is in byte"):

        @formula(gives="transfer_time")
        def transfer(link_latency: Any, message_bytes: Any) -> Any:
            return link_latency + message_bytes


def test_a_duplicate() -> None:
    @definition(gives="itl")
    def one(tpot: Any) -> Any:
        return tpot

    @definition(gives="itl")
    def other(step_time: Any) -> Any:
        return step_time

    with pytest.raises(CatalogueError, match=r"deployment\.itl.*declared twice.*variant="):
        assemble([one, other])


def test_a_relation_of_its_own_variant_is_no_duplicate() -> None:
    @definition(gives="itl")
    def one(tpot: Any) -> Any:
        return tpot

    @definition(gives="itl", variant="rough")
    def other(step_time: Any) -> Any:
        return step_time

    assert set(assemble([one, other])) == {"deployment.itl", "deployment.itl.rough"}


# -- looking up


def test_the_catalogue_has_the_sheet() -> None:
    assert len(catalogue().formulas) == 51


@pytest.mark.parametrize(
    ("word", "outputs"),
    [
        ("prefill_flops", ["prefill_flops", "prefill_time"]),
        ("prefill_flops.prefill_time", ["prefill_time"]),
        ("deployment.tpot", ["tpot"]),
        ("decode_step_bound", ["step_time", "sequence_token_rate"]),
    ],
)
def test_using_names_relations(word: str, outputs: list[str]) -> None:
    assert [r.gives for r in catalogue().named(word)] == outputs


def test_names_that_are_not_there() -> None:
    with pytest.raises(Problem, match="no formula 'ring_all_reduc'") as caught:
        catalogue().named("ring_all_reduc")
    assert "ring_all_reduce" in caught.value.help[0]
    with pytest.raises(Problem, match="no variable 'contxt'"):
        catalogue().quantity("contxt")


def test_tpot_and_e2e_latency_are_one_equation() -> None:
    """Solved for the other, one is the other."""
    relations = catalogue().relations
    tpot, latency = relations["tpot"], relations["e2e_latency"]
    assert (tpot.same_as, latency.same_as) == ("e2e_latency", "tpot")
    for ttft, output, step in [(1, 2, 3), (5, 100, 7)]:
        assert tpot(latency(ttft, output, step), ttft, output) == step
