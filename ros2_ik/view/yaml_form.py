"""A part of a session as YAML: shown, edited and applied as text, saved and loaded as a file."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from ros2_ik.core import IKError
from ros2_ik.view.server import InputHandle

if TYPE_CHECKING:
    from ros2_ik.view.page import Page


class YamlForm:
    """
    A text field with buttons to show, apply, save and load.

    `dump` returns the part of the session as YAML, `load` replaces it by YAML or raises IKError,
    and `save` returns the content of `file`.
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
        self._shown: str | None = None    # nothing at first: meshes make a scene's text long

    def show(self) -> None:
        """Show the form's part of the session as it is now."""
        self.text.value = self._shown = self._dump()

    def apply(self) -> None:
        """Replace the shown content by the text; raises IKError if it has changed since."""
        if self._shown != self._dump():
            raise IKError('something has changed since this text was shown: press Show, which '
                          'replaces the text, and edit again')
        self._load(self.text.value)
        self._shown = self._dump()

    def load(self, content: bytes) -> None:
        """Replace the part of the session by the content of a file; raises IKError."""
        self._load(content.decode(errors='replace'))
        self.show()
