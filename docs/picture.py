"""
Draw the README's picture: one pose of the hand, and four configurations that reach it.

    tools/run python docs/picture.py
"""

from pathlib import Path

from PIL import Image

from ros2_ik.cli import main

PICTURE = Path(__file__).with_name('panda.png')
COMMAND = """picture panda --tip panda_hand_tcp --xyz 0.45 0.1 0.3 --rpy 180 0 0 --deg
    --from -45 18 --solutions 4 --random-state 16 --size 1200 380"""

if __name__ == '__main__':
    main([*COMMAND.split(), '--output', str(PICTURE)])
    Image.open(PICTURE).quantize(128, Image.Quantize.MAXCOVERAGE).save(PICTURE, optimize=True)
