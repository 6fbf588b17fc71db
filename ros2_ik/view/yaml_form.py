"""YAML editor for a part of a session: show, edit, apply, save as a file, load from a file."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from ros2_ik.core import IKError
from ros2_ik.view.server import InputHandle

if TYPE_CHECKING:
    from ros2_ik.view.page import Page


class YamlForm:
    """
    A text field with buttons to show, apply, save and load a part of a session.

    `dump()` returns that part as YAML. `load(text)` replaces that part by YAML text, or raises
    IKError. `save()` returns the content of the file to download, whose name is `file`.
    """

    def __init__(self, page: 'Page', file: str, dump: Callable[[], str],
                 load: Callable[[str], None], save: Callable[[], str]) -> None:
        self._dump, self._load = dump, load
        gui = page.server.gui
        self.text: InputHandle = gui.add_text('YAML', '', multiline=True)
        page.bind(gui.add_button('Show').on_click, lambda _: self.show())
        page.bind(gui.add_button('Apply').on_click, lambda _: self.apply())
        page.bind(gui.add_button('Save as YAML').on_click, lambda event: (
            event.client.send_file_download(file, save().encode(), save_immediately=True)))
        upload = gui.add_upload_button('Load YAML', mime_type='.yaml,.yml')
        page.bind(upload.on_upload, lambda event: self.load(event.value.content))
        # empty until Show is pressed, because meshes make the text of a scene long
        self._shown: str | None = None

    def show(self) -> None:
        """Write the present YAML into the text field."""
        self.text.value = self._shown = self._dump()

    def apply(self) -> None:
        """Apply the edited text; raises IKError if the session has changed since `show`."""
        if self._shown != self._dump():
            raise IKError('something has changed since this text was shown: press Show, which '
                          'replaces the text, and edit again')
        self._load(self.text.value)
        self._shown = self._dump()

    def load(self, content: bytes) -> None:
        """Apply the content of a file, and show it; raises IKError."""
        self._load(content.decode(errors='replace'))
        self.show()
