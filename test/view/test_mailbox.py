"""The newest job of each kind counts, none without a kind is lost."""

from ros2_ik.view.mailbox import Mailbox


def taken(mailbox: Mailbox) -> None:
    while job := mailbox.take():
        job()


def test_newest_of_a_kind_in_the_place_of_the_first() -> None:
    mailbox, done = Mailbox(), list[str]()
    for name, kind in (('drag 1', 'drag'), ('click 1', None), ('slide', 'joint'),
                       ('drag 2', 'drag'), ('click 2', None), ('drag 3', 'drag')):
        mailbox.put(lambda name=name: done.append(name), kind)  # type: ignore[misc]
    taken(mailbox)
    assert done == ['drag 3', 'click 1', 'slide', 'click 2']


def test_what_is_put_first_comes_first_and_drops_what_it_says() -> None:
    mailbox, done = Mailbox(), list[str]()
    for name, kind in (('click', None), ('move', 'move'), ('drag', 'drag')):
        mailbox.put(lambda name=name: done.append(name), kind)  # type: ignore[misc]
    for name in ('stop 1', 'stop 2'):
        mailbox.put_first(lambda name=name: done.append(name),  # type: ignore[misc]
                          'stop', 'move')
    assert mailbox.waits('stop')
    taken(mailbox)
    assert done == ['stop 2', 'click', 'drag']
