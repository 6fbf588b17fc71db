"""The panel of constraints and costs, made of the fields of their kinds."""

from functools import partial
from html import escape
import inspect
import re
from typing import Any, TYPE_CHECKING

from ros2_ik.core import fields, function_kinds, SpecField, written_kinds
from ros2_ik.view.problem import BOUNDS, Entry, form_of, WAYS
from ros2_ik.view.status import SMALL

if TYPE_CHECKING:
    from ros2_ik.view.page import Page

FRAME, FLAG = form_of(fields.Frame), form_of(fields.Flag)
CHOICES = ' | '    # between the words of a choice


class ConstraintForm:
    """
    A folder for each entry of a session's problem: switch, fields, bounds, hard or soft.

    Fields are written as in problem files: [0, 0, 1], panda_hand, 0.5; empty is the default.
    """

    def __init__(self, page: 'Page') -> None:
        self._page, self._session = page, page.session
        gui = page.server.gui
        self._tip_place = gui.add_folder(None)
        self._tips: dict[str, Any] = {}
        kinds = tuple(written_kinds())
        self._kind = gui.add_dropdown('kind', kinds)
        self._about = gui.add_html(_sentence(kinds[0]))
        page.bind(self._kind.on_update, lambda event: self._tell(event.value))
        page.bind(gui.add_button('Add').on_click, lambda _: self.add(self._kind.value))
        page.bind(gui.add_button('Save as YAML').on_click, self._save)
        upload = gui.add_upload_button('Load YAML', mime_type='.yaml,.yml')
        page.bind(upload.on_upload, lambda event: self._load(event.value.content))
        self._place = gui.add_folder(None)
        self._shown: list[Entry] = []
        self._folders: list[Any] = []

    # -- what people do --------------------------------------------------------------------

    def add(self, kind: str) -> None:
        """Add an entry of a kind, off until it is filled in."""
        self._session.problem.entries.append(Entry.new(kind, self._session.tips[0]))
        self._session.status = f'{kind}: fill in what it needs and its bounds, then switch it on'

    def _tell(self, kind: str) -> None:
        self._about.content = _sentence(kind)

    def _changed(self, entry: Entry) -> None:
        if entry.on:
            self._session.entries_changed()

    def _write(self, entry: Entry, name: str, bound: bool, event: Any) -> None:
        value = event.value
        text = str(value).lower() if isinstance(value, bool) else value
        (entry.write_bound if bound else entry.write)(name, text)
        self._changed(entry)

    def _set(self, entry: Entry, name: str, event: Any) -> None:
        setattr(entry, name, event.value)
        self._session.entries_changed()

    def _remove(self, entry: Entry, _: Any) -> None:
        self._session.problem.entries.remove(entry)
        self._changed(entry)

    def _switch_tip(self, tip: str, event: Any) -> None:
        wanted = self._session.problem.wanted
        (wanted.add if event.value else wanted.discard)(tip)
        self._session.entries_changed()

    def _save(self, event: Any) -> None:
        event.client.send_file_download('problem.yaml', self._session.problem_yaml().encode(),
                                        save_immediately=True)

    def _load(self, content: bytes) -> None:
        self._session.load_yaml(content.decode(errors='replace'))

    # -- what people see -------------------------------------------------------------------

    def show(self) -> None:
        """Show the entries that there are now."""
        problem, gui = self._session.problem, self._page.server.gui
        for tip in problem.targets:
            if tip not in self._tips:
                with self._tip_place:
                    self._tips[tip] = gui.add_checkbox(f'target of {tip}', tip in problem.wanted)
                self._page.bind(self._tips[tip].on_update, partial(self._switch_tip, tip))
            switch = self._tips[tip]
            if switch.value != (tip in problem.wanted):
                switch.value = tip in problem.wanted
        if [id(entry) for entry in problem.entries] == [id(entry) for entry in self._shown]:
            return
        for folder in self._folders:
            folder.remove()
        self._shown = list(problem.entries)
        with self._place:
            self._folders = [self._folder(entry) for entry in self._shown]

    def _folder(self, entry: Entry) -> Any:
        gui, bind = self._page.server.gui, self._page.bind
        folder = gui.add_folder(entry.bound('name') or entry.kind)
        with folder:
            gui.add_html(_sentence(entry.kind))
            bind(gui.add_checkbox('on', entry.on).on_update, partial(self._set, entry, 'on'))
            bind(gui.add_dropdown('is', WAYS, initial_value=entry.way).on_update,
                 partial(self._set, entry, 'way'))
            for name, field in entry.fields.items():
                bind(self._input(entry, name, field).on_update,
                     partial(self._write, entry, name, False))
            for name in BOUNDS:
                bind(gui.add_text(name, entry.bound(name)).on_update,
                     partial(self._write, entry, name, True))
            bind(gui.add_button('Remove').on_click, partial(self._remove, entry))
        return folder

    def _input(self, entry: Entry, name: str, field: SpecField) -> Any:
        """Return what a field is edited by."""
        gui, text, form = self._page.server.gui, entry.text(name), field.type.form
        if form == FLAG:
            return gui.add_checkbox(name, bool(entry.content.get(name, field.unwritten)))
        words = self._words(field)
        if words is not None and (not text or text in words):
            return gui.add_dropdown(name, words, initial_value=text or words[0], hint=form)
        needed = '' if not field.needed else ' (needed)'
        return gui.add_text(f'{name}{needed}', text, hint=form)

    def _words(self, field: SpecField) -> tuple[str, ...] | None:
        """Return the words a field chooses from, the default first; None where it does not."""
        form = field.type.form
        if form == FRAME:
            frames = self._session.robot.frame_names
            return frames if field.needed else ('', *frames)
        if CHOICES in form:
            return tuple(form.split(CHOICES))
        return None


def _sentence(kind: str) -> str:
    """Return what a kind of function is, by the first sentence of its documentation, as HTML."""
    text = (inspect.getdoc(function_kinds()[kind]) or '').partition('\n\n')[0]
    html = re.sub('`(.+?)`', r'<code>\1</code>', escape(' '.join(text.split())))
    return f'<div style="{SMALL}">{html}</div>'
