from simulator.mechanics.world import World
from simulator.wires.virtual import VirtualWire


def test_bytes_arrive_later_and_in_order() -> None:
    world, seen = World(), list[tuple[int, bytes]]()
    wire = VirtualWire(world, lambda data: seen.append((world.now_ms, data)), 3)
    wire.plug()
    wire.send(b"a")
    world.after(1, lambda: wire.send(b"b"))
    while world.step():
        pass
    assert seen == [(3, b"a"), (4, b"b")]


def test_what_is_under_way_when_the_cable_comes_out_is_gone() -> None:
    world, seen = World(), list[bytes]()
    wire = VirtualWire(world, seen.append, 3)
    wire.send(b"not plugged in")
    wire.plug()
    wire.send(b"under way")
    wire.pull()
    wire.send(b"pulled")
    wire.plug()
    wire.send(b"again")
    while world.step():
        pass
    assert seen == [b"again"]


def test_a_fault_may_lose_cut_and_delay() -> None:
    world, seen = World(), list[tuple[int, bytes]]()
    wire = VirtualWire(
        world, lambda data: seen.append((world.now_ms, data)), 1, lambda data: [(0, data[:1]), (5, data[1:])]
    )
    wire.plug()
    wire.send(b"xyz")
    while world.step():
        pass
    assert seen == [(1, b"x"), (6, b"yz")]
