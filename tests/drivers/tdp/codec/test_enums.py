from typing import get_args

import pytest

from drivers.commands import CommandKind, Outcome
from drivers.driver import DeviceKind
from drivers.facts import DeviceFact
from drivers.tdp.codec.command_messages import OutcomeMessage
from drivers.tdp.codec.enums import COMMAND_CODES, OUTCOME_CODES, KindCode
from drivers.tdp.codec.fact_codec import FactCode
from drivers.tdp.codec.fact_messages import State
from drivers.tdp.codec.fields import BadMessage
from drivers.tdp.codec.header import Header
from drivers.tdp.codec.messages import read_message


def test_every_device_fact_command_outcome_and_kind_has_a_code() -> None:
    names = {str(known.__struct_config__.tag).upper() for known in get_args(DeviceFact)}
    assert names == {code.name for code in FactCode}
    assert set(COMMAND_CODES) == set(CommandKind)
    assert set(OUTCOME_CODES) == set(Outcome) - {Outcome.UNKNOWN}
    assert {code.name.lower() for code in KindCode} == {kind.value for kind in DeviceKind}


def test_outcomes_of_messages_are_the_device_s_own() -> None:
    for payload in (OutcomeMessage(id=1, outcome=Outcome.REFUSED).to_bytes(), State(clock_ms=0, flags=0).to_bytes()):
        assert payload
    header = Header(to_host=True, message_type=OutcomeMessage.TYPE, session=1)
    with pytest.raises(BadMessage, match="no such outcome: 5"):
        read_message(header, header.to_bytes() + bytes(8) + b"\x05\x00")
