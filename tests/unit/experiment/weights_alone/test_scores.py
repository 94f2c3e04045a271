"""`scores`: shares of eigenvalues and compositions by hand, and what random rotations give."""

import numpy as np
import pytest
import torch
from torch import Tensor

from attnviz.experiment.weights_alone import scores
from attnviz.experiment.weights_alone.scores import Factors

GENERATOR_SEED = 7


def drawn(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(GENERATOR_SEED))


@pytest.mark.parametrize(
    ("circuit", "expected"),
    [
        (torch.eye(5), 1.0),
        (-torch.eye(5), -1.0),
        (torch.diag(torch.tensor([3.0, 1.0, -2.0, 0.0, 0.0])), 2 / 6),
        (torch.eye(5).roll(1, 0), 0.0),  # eigenvalues: the fifth roots of 1
    ],
)
def test_share_of_known_eigenvalues(circuit: Tensor, expected: float) -> None:
    values = scores.eigenvalues(torch.eye(5), circuit)
    assert scores.share(values) == pytest.approx(expected, abs=1e-6)


def test_share_of_a_circuit_without_eigenvalues_is_not_a_number() -> None:
    shift = torch.diag(torch.ones(4), 1)  # nilpotent: every eigenvalue is 0
    assert np.isnan(scores.share(scores.eigenvalues(torch.zeros(5, 5), shift)))


def test_eigenvalues_are_those_of_the_whole_circuit() -> None:
    left, right = drawn(3, 11), drawn(11, 3)
    whole = torch.linalg.eigvals((right @ left).double())
    largest = whole[whole.abs().argsort(descending=True)][:3].abs().numpy()
    ours = np.abs(scores.eigenvalues(left, right))
    assert ours == pytest.approx(largest, rel=1e-5)


def test_own_first_counts_the_rows_whose_own_entry_is_the_largest() -> None:
    # rows of right · left: (2 0 0), (3 1 0), (0 0 1): the second has its largest elsewhere
    left = torch.eye(3)
    right = torch.tensor([[2.0, 0, 0], [3, 1, 0], [0, 0, 1]])
    assert scores.own_first(left, right, torch.arange(3)) == pytest.approx(2 / 3)
    assert scores.own_first(left, right, torch.tensor([1])) == 0


def test_own_positive_counts_the_rows_whose_own_entry_is_above_0() -> None:
    # rows of right · left: (2 0 0), (3 -1 0), (0 0 1)
    left = torch.eye(3)
    right = torch.tensor([[2.0, 0, 0], [3, -1, 0], [0, 0, 1]])
    assert scores.own_positive(left, right, torch.arange(3)) == pytest.approx(2 / 3)
    assert scores.own_positive(left, right, torch.tensor([1])) == 0


def test_shuffled_positive_is_that_of_the_whole_circuit_with_rows_in_another_order() -> None:
    left, right, some = drawn(3, 11), drawn(11, 3), torch.tensor([4, 0, 9])
    generator = torch.Generator().manual_seed(0)
    wanted = []
    for _ in range(5):
        whole = right[torch.randperm(11, generator=generator)] @ left
        wanted.append(float((whole.diagonal()[some] > 0).double().mean()))
    assert len(set(wanted)) > 1
    assert scores.shuffled_positive(left, right, some, 5) == pytest.approx(wanted)


def test_shuffled_shares_of_a_copying_circuit_are_those_of_permutations() -> None:
    """A permutation's share is its fixed points over its size, 1 of n on average."""
    n = 7
    shares = scores.shuffled_shares(torch.eye(n), torch.eye(n), draws=20)
    assert shares.shape == (20,)
    assert abs(shares.mean()) < 0.4 and shares.max() < 1


def factors(written: Tensor, read: Tensor) -> Factors:
    return Factors(written[None], {"k": read[None]})


def meeting(n: int) -> np.ndarray:
    return np.full((n, n), True)


def test_composition_of_one_shared_direction_is_one_and_of_none_is_zero() -> None:
    along, across = torch.tensor([[3.0, 0, 0, 0, 0]]), torch.tensor([[0, 2.0, 0, 0, 0]])
    one, none = (
        scores.squared_composition(factors(along, read.T), {"k": meeting(1)})["k"].item()
        for read in (along, across)
    )
    assert one == pytest.approx(1)
    assert none == 0


def test_composition_is_the_textbook_norm_of_whole_matrices() -> None:
    """‖A·B‖ ÷ (‖A‖·‖B‖), by blocks that do not divide d_model, of heads of different widths."""
    a, b = drawn(3, 5, 131), drawn(3, 131, 7)
    ours = scores.squared_composition(Factors(a, {"q": b}), {"q": meeting(3)})["q"].sqrt()
    for i in range(3):
        for j in range(3):
            wanted = (a[i] @ b[j]).norm() / (a[i].norm() * b[j].norm())
            assert float(ours[i, j]) == pytest.approx(float(wanted), rel=1e-5)


def test_only_pairs_that_meet_need_be_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seven heads in pieces of two; each meets the later ones."""
    monkeypatch.setattr(scores, "SENDERS", 2)
    both = Factors(drawn(7, 3, 13), {"k": drawn(7, 13, 5)})
    later = np.triu(meeting(7), 1)
    whole = scores.squared_composition(both, {"k": meeting(7)})["k"].numpy()
    ours = scores.squared_composition(both, {"k": later})["k"].numpy()
    assert ours[later] == pytest.approx(whole[later])
    assert ours[6, 0] == 0.0


def test_root_keeps_every_norm() -> None:
    near, far = drawn(2, 13, 3), drawn(2, 13, 3)
    whole = (near @ far.transpose(1, 2)).flatten(1).norm(dim=1)
    ours = (near @ scores.root(far)).flatten(1).norm(dim=1)
    assert ours.numpy() == pytest.approx(whole.numpy(), rel=1e-5)


def test_mean_and_spread_over_rotations_are_those_of_drawn_rotations() -> None:
    """E‖A·Q·B‖² = ‖A‖²‖B‖²/d and its variance, against 4,000 rotations."""
    d, n = 11, 4000
    a, b = drawn(3, d), drawn(d, 2)
    gaussian = torch.randn(n, d, d, generator=torch.Generator().manual_seed(3))
    q, r = torch.linalg.qr(gaussian)
    q = q * r.diagonal(dim1=1, dim2=2).sign()[:, None]
    squares = (a @ q @ b).square().sum((1, 2)) / (a.square().sum() * b.square().sum())
    spread = scores.spread_over_rotations(factors(a, b), "k").item()
    assert float(squares.mean()) == pytest.approx(1 / d, rel=0.02)
    assert spread == pytest.approx(float(squares.std()), rel=0.05)


def test_along_diagonals_takes_what_is_visible() -> None:
    table = torch.tensor([[1.0, 9], [3, 5]])
    visible = torch.ones(2, 2).tril().bool()
    means = scores.along_diagonals(table, visible, np.array([0, 1]))
    assert means.tolist() == [3.0, 3.0]  # (1 + 5) / 2, and 3
    hidden = scores.along_diagonals(table, visible, np.array([-1]))
    assert np.isnan(hidden).all()


def test_mean_weights_are_the_softmax_of_what_is_visible() -> None:
    weights = scores.mean_weights(torch.zeros(3, 3), torch.ones(3, 3).tril().bool())
    assert weights[2].tolist() == pytest.approx([1 / 3] * 3)
    assert weights[0].tolist() == [1, 0, 0]
