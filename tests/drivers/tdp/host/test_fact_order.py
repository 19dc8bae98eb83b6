from collections import Counter

from drivers.driver import DeviceKind, Heard
from drivers.facts import CutCard
from drivers.tdp.codec.command_messages import Alive
from drivers.tdp.codec.fact_messages import FactMessage
from drivers.tdp.codec.session_messages import Started
from drivers.tdp.host.fact_order import FactOrder
from drivers.tdp.host.rtt import Question


def test_an_asked_sign_of_life_is_heard_at_or_after_the_question() -> None:
    """However lopsided the measured round trip was: the device read its clock after it was asked."""
    order = FactOrder(DeviceKind.SHOE, Counter())
    order.clock.measured(sent_ms=0, arrived_ms=400, device_ms=10_390)  # the answer took next to no time
    assert not order.begin(bytes(8), Started(gap=False, first_number=5), None)
    order.alive(Alive(ping=1, clock_ms=10_501, next_number=5), Question(500, 5))
    assert order.heard(502) == [Heard(500, 500)]
    drawn = FactMessage.of(5, CutCard(at_ms=10_450))
    fact = order.take(drawn, 503)
    assert fact is not None
    assert fact.fact.at_ms == 500
