"""The host's session: every pair of state and trigger, and the timers that run in each state."""

import pytest

from drivers.tdp.host.session import (
    HANDSHAKE_MS,
    HELLO_MS,
    NEXT,
    PING_MS,
    SILENCE_MS,
    HostSession,
    SessionState,
    Timer,
    Trigger,
)

WAY = {
    SessionState.IDLE: (),
    SessionState.GREETING: (Trigger.OPENED,),
    SessionState.STARTING: (Trigger.OPENED, Trigger.ANSWERED),
    SessionState.READING: (Trigger.OPENED, Trigger.ANSWERED, Trigger.STARTED),
    SessionState.RUNNING: (Trigger.OPENED, Trigger.ANSWERED, Trigger.STARTED, Trigger.STATE_READ),
    SessionState.CLOSED: (Trigger.OPENED, Trigger.ENDED),
}
ALLOWED = {
    (SessionState.IDLE, Trigger.OPENED): SessionState.GREETING,
    (SessionState.GREETING, Trigger.ANSWERED): SessionState.STARTING,
    (SessionState.GREETING, Trigger.ENDED): SessionState.CLOSED,
    (SessionState.STARTING, Trigger.STARTED): SessionState.READING,
    (SessionState.STARTING, Trigger.ENDED): SessionState.CLOSED,
    (SessionState.READING, Trigger.STATE_READ): SessionState.RUNNING,
    (SessionState.READING, Trigger.ENDED): SessionState.CLOSED,
    (SessionState.RUNNING, Trigger.STATE_READ): SessionState.RUNNING,
    (SessionState.RUNNING, Trigger.ENDED): SessionState.CLOSED,
}


def in_state(state: SessionState) -> HostSession:
    session = HostSession()
    for trigger in WAY[state]:
        assert session.fire(trigger, 1000, 100)
    assert session.state is state
    return session


@pytest.mark.parametrize("trigger", Trigger)
@pytest.mark.parametrize("state", SessionState)
def test_every_state_and_trigger(state: SessionState, trigger: Trigger) -> None:
    session = in_state(state)
    timers = dict(session._timers)
    wanted = ALLOWED.get((state, trigger))
    assert session.fire(trigger, 2000, 100) is (wanted is not None)
    assert session.state is (wanted or state)
    if wanted is None:
        assert session._timers == timers


def test_the_table_is_the_machine_s() -> None:
    assert NEXT == ALLOWED


@pytest.mark.parametrize(
    ("state", "timers"),
    [
        (SessionState.IDLE, set()),
        (SessionState.GREETING, {Timer.HANDSHAKE, Timer.HELLO}),
        (SessionState.STARTING, {Timer.HANDSHAKE, Timer.SILENCE, Timer.START, Timer.PING}),
        (SessionState.READING, {Timer.HANDSHAKE, Timer.SILENCE, Timer.PING}),
        (SessionState.RUNNING, {Timer.SILENCE, Timer.PING}),
        (SessionState.CLOSED, set()),
    ],
)
def test_timers_of_each_state(state: SessionState, timers: set[Timer]) -> None:
    session = in_state(state)
    assert set(session._timers) == timers
    assert (session.wake_at_ms is None) is not bool(timers)


def fired(session: HostSession, until_ms: int) -> list[tuple[int, Timer]]:
    found: list[tuple[int, Timer]] = []
    while session.wake_at_ms is not None and session.wake_at_ms <= until_ms:
        now_ms = session.wake_at_ms
        timer = session.take_due(now_ms)
        assert timer is not None
        found.append((now_ms, timer))
    return found


def test_hello_is_said_every_second_until_the_handshake_is_given_up() -> None:
    session = in_state(SessionState.GREETING)
    found = fired(session, 1000 + HANDSHAKE_MS)
    assert [at for at, timer in found if timer is Timer.HELLO] == [
        1000 + HELLO_MS * step for step in range(HANDSHAKE_MS // HELLO_MS + 1)
    ]
    assert (1000 + HANDSHAKE_MS, Timer.HANDSHAKE) in found


def test_start_backs_off_and_silence_ends_it() -> None:
    session = in_state(SessionState.STARTING)
    found = fired(session, 1000 + SILENCE_MS)
    assert [at - 1000 for at, timer in found if timer is Timer.START] == [0, 100, 300, 700, 1500, 2500]
    assert [at - 1000 for at, timer in found if timer is Timer.PING] == [500, 1000, 1500, 2000, 2500, 3000]
    assert (1000 + SILENCE_MS, Timer.SILENCE) in found


def test_a_frame_heard_moves_the_silence_on_and_a_ping_the_next_ping() -> None:
    session = in_state(SessionState.RUNNING)
    session.heard(3900)
    session.pinged(4000)
    assert session.take_due(4000) is None
    assert session.wake_at_ms == 4000 + PING_MS
    assert session.take_due(3900 + SILENCE_MS) is Timer.SILENCE


def test_a_closed_session_hears_nothing() -> None:
    session = in_state(SessionState.CLOSED)
    session.heard(5000)
    assert session.wake_at_ms is None
