from simulator.mechanics.world import RandomStreams, World


def test_what_is_due_first_happens_first_and_equals_keep_their_order() -> None:
    world, seen = World(100), list[tuple[str, int]]()
    for name, delay in (("late", 20), ("first", 5), ("second", 5)):
        world.after(delay, lambda name=name: seen.append((name, world.now_ms)))  # type: ignore[misc]
    while world.step():
        pass
    assert seen == [("first", 105), ("second", 105), ("late", 120)]


def test_a_time_that_is_past_means_now() -> None:
    world = World(50)
    world.at(10, lambda: None)
    assert world.next_ms == 50


def test_run_until_stops_at_its_limit() -> None:
    world = World()

    def again() -> None:
        world.after(10, again)

    again()
    assert not world.run_until(lambda: False, limit_ms=95)
    assert world.now_ms == 90
    assert world.run_until(lambda: world.now_ms >= 120, limit_ms=1000)


def test_one_stream_does_not_shift_another() -> None:
    alone, crowded = RandomStreams(3), RandomStreams(3)
    crowded.stream("newcomer").random()
    crowded.token("newcomer", 8)
    assert alone.stream("shuffler").random() == crowded.stream("shuffler").random()
    assert RandomStreams(4).stream("shuffler").random() != RandomStreams(3).stream("shuffler").random()
