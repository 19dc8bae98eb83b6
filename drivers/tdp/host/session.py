"""The host's session with a device: its states and the timers that run in each (drivers/tdp/spec.md section 8)."""

import enum
from typing import Final

from transitions import Machine

from drivers.tdp.host.rtt import backed_off

HELLO_MS: Final = 1000
HANDSHAKE_MS: Final = 10_000
PING_MS: Final = 500
SILENCE_MS: Final = 3000


class SessionState(enum.Enum):
    """Section 8.4. IDLE: the port has not been opened."""

    IDLE = "idle"
    GREETING = "greeting"
    STARTING = "starting"
    READING = "reading"
    RUNNING = "running"
    CLOSED = "closed"


class Trigger(enum.Enum):
    """What moves a session on: the port was opened, HELLO_ANSWER, STARTED or STATE came, or it came to its end."""

    OPENED = "opened"
    ANSWERED = "answered"
    STARTED = "started"
    STATE_READ = "state_read"
    ENDED = "ended"


class Timer(enum.Enum):
    """HELLO, START, PING: time to send it. HANDSHAKE, SILENCE: the connection has come to nothing."""

    HANDSHAKE = "handshake"
    SILENCE = "silence"
    HELLO = "hello"
    START = "start"
    PING = "ping"


NEXT: Final[dict[tuple[SessionState, Trigger], SessionState]] = {
    (SessionState.IDLE, Trigger.OPENED): SessionState.GREETING,
    (SessionState.GREETING, Trigger.ANSWERED): SessionState.STARTING,
    (SessionState.STARTING, Trigger.STARTED): SessionState.READING,
    (SessionState.READING, Trigger.STATE_READ): SessionState.RUNNING,
    (SessionState.RUNNING, Trigger.STATE_READ): SessionState.RUNNING,
    (SessionState.GREETING, Trigger.ENDED): SessionState.CLOSED,
    (SessionState.STARTING, Trigger.ENDED): SessionState.CLOSED,
    (SessionState.READING, Trigger.ENDED): SessionState.CLOSED,
    (SessionState.RUNNING, Trigger.ENDED): SessionState.CLOSED,
}
"""Every pair that is allowed; any other changes nothing."""

LINKED: Final = (SessionState.STARTING, SessionState.READING, SessionState.RUNNING)
FLOWING: Final = (SessionState.READING, SessionState.RUNNING)


class HostSession:
    """The machine and its timers; sends nothing itself. Times are the table's clock in ms."""

    def __init__(self) -> None:
        self.state = SessionState.IDLE
        self._timers: dict[Timer, int] = {}
        self._start_wait_ms = 0
        entered = {
            SessionState.GREETING: self._enter_greeting,
            SessionState.STARTING: self._enter_starting,
            SessionState.READING: self._enter_reading,
            SessionState.RUNNING: self._enter_running,
            SessionState.CLOSED: self._enter_closed,
        }
        self._machine = Machine(
            model=self,
            states=[{"name": state, "on_enter": entered.get(state, [])} for state in SessionState],
            transitions=[
                {"trigger": trigger.value, "source": source, "dest": dest} for (source, trigger), dest in NEXT.items()
            ],
            initial=SessionState.IDLE,
            auto_transitions=False,
            ignore_invalid_triggers=True,
        )

    def fire(self, trigger: Trigger, now_ms: int, start_wait_ms: int = 0) -> bool:
        """Whether the state allows it. `start_wait_ms`: with ANSWERED, how long to wait for STARTED at first."""
        return bool(self._machine.dispatch(trigger.value, now_ms, start_wait_ms))

    def heard(self, now_ms: int) -> None:
        """A good frame of this session arrived."""
        if self.state in LINKED:
            self._timers[Timer.SILENCE] = now_ms + SILENCE_MS

    def pinged(self, now_ms: int) -> None:
        """A PING was sent: the next one is due a while later."""
        self._timers[Timer.PING] = now_ms + PING_MS

    @property
    def wake_at_ms(self) -> int | None:
        """When the next timer runs out; None where none runs."""
        return min(self._timers.values(), default=None)

    def take_due(self, now_ms: int) -> Timer | None:
        """The first timer that has run out, set anew where it repeats; None when none has."""
        for timer in Timer:
            due_ms = self._timers.get(timer)
            if due_ms is None or due_ms > now_ms:
                continue
            match timer:
                case Timer.HELLO:
                    self._timers[timer] = now_ms + HELLO_MS
                case Timer.PING:
                    self._timers[timer] = now_ms + PING_MS
                case Timer.START:
                    self._timers[timer] = now_ms + self._start_wait_ms
                    self._start_wait_ms = backed_off(self._start_wait_ms)
                case Timer.HANDSHAKE | Timer.SILENCE:
                    del self._timers[timer]
            return timer
        return None

    def _enter_greeting(self, now_ms: int, _start_wait_ms: int) -> None:
        self._timers = {Timer.HANDSHAKE: now_ms + HANDSHAKE_MS, Timer.HELLO: now_ms}

    def _enter_starting(self, now_ms: int, start_wait_ms: int) -> None:
        self._start_wait_ms = start_wait_ms
        del self._timers[Timer.HELLO]
        self._timers |= {Timer.SILENCE: now_ms + SILENCE_MS, Timer.START: now_ms, Timer.PING: now_ms + PING_MS}

    def _enter_reading(self, _now_ms: int, _start_wait_ms: int) -> None:
        del self._timers[Timer.START]

    def _enter_running(self, _now_ms: int, _start_wait_ms: int) -> None:
        self._timers.pop(Timer.HANDSHAKE, None)

    def _enter_closed(self, _now_ms: int, _start_wait_ms: int) -> None:
        self._timers = {}
