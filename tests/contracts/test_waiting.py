"""Browser tests wait for what they assert: none of them reads the page once."""

import pytest

from tests.contracts import project, waiting_rules


def test_no_browser_test_asserts_what_it_read_once() -> None:
    files = sorted((project.ROOT / "tests" / "browser").glob("test_*.py"))
    assert files
    found = [
        finding
        for path in files
        for finding in waiting_rules.single_readings(path.name, path.read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "lines",
    [
        "assert box.inner_text() == '1'",
        "assert '1' in page.url",
        "assert data(box)['step'] == '1'",
        "shown = box.all_inner_texts()\n    assert shown == ['1']",
        "assert number_of(box) == 1",
        "expect_true(lambda: '1' in opened.page.url)",
        "expect_equal(lambda: len(opened.seen.sent), 1)",
        "assert box.evaluate_all('(all) => all.length') == 1",
    ],
)
def test_a_single_reading_is_found(lines: str) -> None:
    source = (
        f"def test_a():\n    {lines}\n\ndef number_of(box):\n    return int(box.inner_text())\n"
    )
    assert len(waiting_rules.single_readings("a.py", source)) == 1


@pytest.mark.parametrize(
    "lines",
    [
        "expect(box).to_have_text('1')",
        "expect_equal(lambda: box.inner_text(), '1')",
        "eventually(lambda: check(box))",
        "opened.wait_until(lambda: len(opened.seen.sent) == 1)",
        "assert page.evaluate('1 + 1') == 2",
    ],
)
def test_a_wait_is_left_alone(lines: str) -> None:
    source = f"def test_a():\n    {lines}\n\ndef check(box):\n    assert box.inner_text() == '1'\n"
    wanted = 0 if "eventually" in lines else 1
    assert len(waiting_rules.single_readings("a.py", source)) == wanted
