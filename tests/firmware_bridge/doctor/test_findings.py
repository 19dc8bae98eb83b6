from firmware_bridge.doctor.findings import Finding, Health, exit_status


def test_the_worst_finding_is_the_status() -> None:
    ok, unknown, warning, wrong = (Finding("x", health, "X.") for health in Health)
    assert exit_status([]) == exit_status([ok]) == 0
    assert exit_status([ok, unknown]) == exit_status([warning, ok]) == 1
    assert exit_status([ok, warning, wrong, unknown]) == 2
