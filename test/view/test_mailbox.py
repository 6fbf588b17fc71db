"""The newest job of each kind counts, none without a kind is lost."""

import threading

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


def test_none_where_there_is_no_job() -> None:
    assert Mailbox().take() is None


def test_jobs_of_many_threads_all_arrive() -> None:
    mailbox, done = Mailbox(), list[int]()

    def put(first: int) -> None:
        for number in range(first, first + 200):
            mailbox.put(lambda number=number: done.append(number))  # type: ignore[misc]
    threads = [threading.Thread(target=put, args=(200 * k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    while len(done) < 800:
        if job := mailbox.take():
            job()
    for thread in threads:
        thread.join()
    assert sorted(done) == list(range(800))
