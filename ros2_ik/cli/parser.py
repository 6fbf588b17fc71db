"""A parser that guesses nothing, and says what may be meant."""

import argparse
import difflib
import re
from typing import Any


class Parser(argparse.ArgumentParser):
    """Takes whole options only: --exec, completed, would move a robot."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse as usual; what is unknown to a subcommand is refused here, in its words."""
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:
            words = [word.strip() for word in unknown]
            self.error(f'unrecognized arguments: {" ".join(words)}{self._hint(words, known)}')
        return known, unknown

    def _hint(self, words: list[str], known: argparse.Namespace) -> str:
        if not words[0].startswith('-'):
            tip = next((target.tip for target in getattr(known, 'targets', ()) if target.tip), '')
            return f'; several tips are written --tip {tip} --tip {words[0]}' if tip else ''
        options = re.findall(r'--[a-z][a-z-]*', self.format_help())
        word = words[0].partition('=')[0]
        near = [option for option in options if option.startswith(word)] \
            or difflib.get_close_matches(word, options, 1)
        return f"; did you mean '{near[0]}'?" if near else ''
