"""
Draw a sketch of each kind of constraint for constraints.md, as one SVG file.

    tools/run python docs/sketches.py
"""

from collections.abc import Callable
import math
from pathlib import Path
from xml.sax.saxutils import escape

PICTURE = Path(__file__).with_name('sketches.svg')
WIDTH, HEIGHT, COLUMNS, TOP = 230, 196, 4, 34      # panel size, columns, legend height [px]
ALLOWED, EDGE = '#cdebc9', '#3c9a3c'               # colours of allowed regions
OWN, GIVEN, LINK, INK = '#1f5fbf', '#d9660a', '#a9adb3', '#333'
Point = tuple[float, float]


class Sketch:
    """Drawing in a panel, with x to the right and y up from the panel's centre [px]."""

    def __init__(self) -> None:
        self.parts: list[str] = []

    def path(self, *points: Point, stroke: str = INK, fill: str = 'none', width: float = 1.6,
             dashes: str = '', closed: bool = False) -> None:
        steps = ' '.join(f'{"L" if i else "M"}{x:.1f} {-y:.1f}' for i, (x, y) in enumerate(points))
        self.parts.append(f'<path d="{steps}{" Z" if closed else ""}" stroke="{stroke}" '
                          f'fill="{fill}" stroke-width="{width}" stroke-linejoin="round" '
                          f'stroke-linecap="round" stroke-dasharray="{dashes}"/>')

    def area(self, *points: Point) -> None:
        self.path(*points, stroke=EDGE, fill=ALLOWED, width=1.2, closed=True)

    def arrow(self, start: Point, end: Point, stroke: str, width: float = 2.2,
              dashes: str = '') -> None:
        along = math.atan2(end[1] - start[1], end[0] - start[0])
        self.path(start, end, stroke=stroke, width=width, dashes=dashes)
        self.path(*(polar(9, math.degrees(along) + turn, end) for turn in (155, 205)), end,
                  stroke=stroke, fill=stroke, width=1, closed=True)

    def arc(self, middle: Point, radius: float, start: float, end: float, stroke: str = INK,
            ends: bool = False) -> None:
        """Draw an arc between angles [deg]; `ends` adds an arrow head."""
        points = [polar(radius, start + (end - start) * i / 24, middle) for i in range(25)]
        self.path(*points, stroke=stroke, width=1.4)
        if ends:
            self.arrow(points[-2], points[-1], stroke, 1.4)

    def dot(self, at: Point, color: str = OWN, radius: float = 4.5) -> None:
        self.parts.append(f'<circle cx="{at[0]:.1f}" cy="{-at[1]:.1f}" r="{radius}" '
                          f'fill="{color}"/>')

    def oval(self, at: Point, radii: Point, turn: float = 0, allowed: bool = True) -> None:
        self.parts.append(
            f'<ellipse rx="{radii[0]}" ry="{radii[1]}" transform="translate({at[0]} {-at[1]}) '
            f'rotate({-turn})" fill="{ALLOWED if allowed else "#fff"}" stroke="{EDGE}" '
            'stroke-width="1.2"/>')

    def text(self, at: Point, words: str, color: str = INK, anchor: str = 'middle') -> None:
        self.parts.append(f'<text x="{at[0]:.1f}" y="{-at[1]:.1f}" fill="{color}" '
                          f'text-anchor="{anchor}">{escape(words)}</text>')

    def caption(self, words: str) -> None:
        self.text((0, -73), words, EDGE)

    def link(self, *points: Point, width: float = 15) -> None:
        self.path(*points, stroke=LINK, width=width)
        for point in points:
            self.dot(point, '#fff', width / 5)

    def axes(self, at: Point, color: str, turn: float = 0, size: float = 34,
             dashes: str = '') -> None:
        for angle, length in ((-18, 1.0), (90, 1.0), (205, 0.75)):
            self.arrow(at, polar(size * length, angle + turn, at), color, 1.8, dashes)


def polar(radius: float, angle: float, middle: Point = (0, 0)) -> Point:
    turn = math.radians(angle)
    return middle[0] + radius * math.cos(turn), middle[1] + radius * math.sin(turn)


def space(x: float, y: float, z: float = 0) -> Point:
    """Project a point (x, y, z): x to the lower right, y to the upper right."""
    return 0.85 * x + 0.75 * y, -0.32 * x + 0.38 * y + z


def box(s: Sketch, low: tuple[float, ...], high: tuple[float, ...]) -> None:
    """Draw an allowed box, seen from the front and above."""
    (x, y, z), (X, Y, Z) = low, high
    s.area(space(x, y, z), space(X, y, z), space(X, Y, z), space(X, Y, Z), space(x, Y, Z),
           space(x, y, Z))
    for end in ((x, y, Z), (X, Y, Z), (X, y, z)):
        s.path(space(X, y, Z), space(*end), stroke=EDGE, width=1)


# -- a sketch for each kind ------------------------------------------------------------------

def angle_between_vectors(s: Sketch) -> None:
    o = (-35.0, -40.0)
    s.area(o, *(polar(105, 55 + i * 4 - 28, o) for i in range(15)))
    s.arrow(o, polar(112, 55, o), GIVEN)
    s.arrow(o, polar(98, 36, o), OWN)
    s.arc(o, 50, 36, 55)
    s.text(polar(62, 45, o), 'φ')
    s.text((-16, 66), 'other_vector', GIVEN, 'end')
    s.text((52, 4), 'vector', OWN, 'start')
    s.caption('lower ≤ φ ≤ upper: a cone')


def center_of_mass(s: Sketch) -> None:
    box(s, (-42, -26, -36), (42, 26, -8))
    s.link((-66, -50), (-54, 8), (10, 46), (62, 16), width=12)
    for at, radius in (((-60, -22), 7), ((-22, 27), 6), ((40, 29), 5)):
        s.dot(at, INK, radius)
        s.path(at, (-4, -16), width=0.8, dashes='3 3')
    s.dot((-4, -16), OWN, 6)
    s.text((6, -28), 'c', OWN, 'start')
    s.caption('lower ≤ c ≤ upper')


def frame_orientation(s: Sketch) -> None:
    s.axes((-8, -15), GIVEN, size=62, dashes='5 4')
    s.axes((-8, -15), OWN, 24, size=62)
    s.arc((-8, -15), 46, 90, 114, ends=True)
    s.text((-24, 50), 'θ')
    s.text((6, 52), 'reference R*', GIVEN, 'start')
    s.text((62, 8), 'frame R', OWN)
    s.caption('lower ≤ θ n ≤ upper, or θ alone')


def frame_pose(s: Sketch) -> None:
    s.axes((-58, -32), GIVEN, size=46, dashes='5 4')
    s.axes((38, 6), OWN, 20, size=46)
    s.arrow((-58, -32), (35, 5), INK, 1.4, '3 3')
    s.text((6, -26), 'p - p*', anchor='start')
    s.text((-50, 22), 'reference', GIVEN)
    s.text((62, 50), 'frame', OWN)
    s.arc((38, 6), 30, 90, 110, ends=True)
    s.caption('both: position and rotation')


def frame_position(s: Sketch) -> None:
    box(s, (-45, -30, -16), (45, 30, 30))
    s.axes((-84, -46), GIVEN, size=26)
    s.text((-97, -30), 'A', GIVEN)
    s.arrow((-84, -46), (3, -2), INK, 1.2, '3 3')
    s.link((84, 62), (50, 52), (6, 2), width=10)
    s.dot((6, 2))
    s.text((14, -12), 'Q', OWN, 'start')
    s.caption('lower ≤ Q in A ≤ upper: a box')


def gaze_angle(s: Sketch) -> None:
    o, tilt = (-62.0, 32.0), -20
    s.area(o, *(polar(140, tilt - 22 + i * 2, o) for i in range(23)))
    s.path((-92, 36), (-66, 48), (-58, 24), (-84, 12), fill=LINK, stroke=LINK, closed=True)
    s.arrow(o, polar(105, tilt, o), OWN)
    target = polar(112, tilt - 14, o)
    s.path(o, target, stroke=GIVEN, dashes='4 3')
    s.dot(target, GIVEN)
    s.dot(o, OWN, 3.5)
    s.arc(o, 78, tilt - 14, tilt)
    s.text(polar(89, tilt - 6, o), 'φ')
    s.text((44, 6), 'axis', OWN, 'start')
    s.text((target[0] + 10, target[1] + 12), 'target', GIVEN, 'start')
    s.caption('φ ≤ upper: a viewing cone')
    s.text((-62, 58), 'origin', OWN)


def joint_coupling(s: Sketch) -> None:
    s.arrow((-80, -55), (88, -55), INK, 1.4)
    s.arrow((-75, -60), (-75, 62), INK, 1.4)
    s.area((-75, -38), (55, 58), (75, 58), (-75, -52))
    s.dot((-5, 4))
    s.text((-66, 54), 'q2', anchor='start')
    s.text((78, -49), 'q1', anchor='end')
    s.caption('bounds on ratios · q - offset')


def joint_positions(s: Sketch) -> None:
    o = (-48.0, -40.0)
    s.area(o, *(polar(98, 5 + i * 4, o) for i in range(19)))
    s.link((-98, -54), o, polar(88, 52, o))
    s.path(o, polar(98, 23, o), stroke=GIVEN, dashes='5 4')
    s.arc(o, 56, 23, 52, OWN, ends=True)
    s.text(polar(70, 37, o), 'q', OWN)
    s.text((46, -4), 'reference', GIVEN, 'start')
    s.text((54, -36), 'lower', EDGE, 'start')
    s.text((-36, 62), 'upper', EDGE, 'end')
    s.caption('lower ≤ q - reference ≤ upper')


def manipulability(s: Sketch) -> None:
    s.link((-95, -50), (-72, 15), (-26, -2), width=11)
    s.oval((-26, -2), (32, 22), 30)
    s.dot((-26, -2))
    s.link((8, -50), (34, -6), (64, 44), width=11)
    s.oval((64, 44), (34, 4), -30, allowed=False)
    s.dot((64, 44))
    s.text((-50, 42), 'all directions', EDGE)
    s.text((56, -6), 'nearly', INK, 'start')
    s.text((52, -20), 'singular', INK, 'start')
    s.caption('f ≥ lower: far from singular')


def minimum_distance(s: Sketch) -> None:
    s.path((-62, -36), (-25, 28), (38, 34), stroke='#fadcdc', width=44)
    s.link((-62, -36), (-25, 28), (38, 34), width=18)
    s.path((45, -6), (88, -6), (88, -50), (45, -50), fill='#fbe3cf', stroke=GIVEN, closed=True)
    s.path((-95, 44), (-70, 64), (-60, 40), fill='#fbe3cf', stroke=GIVEN, closed=True)
    for start, end, name, at in (((36, 24), (45, -5), 'd1', (50, 10)),
                                 ((-33, 31), (-62, 44), 'd2', (-44, 50))):
        s.path(start, end, stroke='#c22', width=2)
        s.text(at, name, '#c22', 'start')
    s.caption('d1, d2, ... ≥ lower: clearance')


def pair_distance(s: Sketch) -> None:
    s.link((-85, 25), (-42, 38), width=30)
    s.path((20, -46), (78, -46), (78, 12), (20, 12), fill='#fbe3cf', stroke=GIVEN, closed=True)
    s.path((-31, 27), (20, 0), stroke='#c22', width=2)
    s.text((-6, 21), 'd', '#c22', 'start')
    s.text((-66, 60), 'first', OWN)
    s.text((49, -20), 'second', GIVEN)
    s.caption('lower ≤ d ≤ upper')


def point_to_line_distance(s: Sketch) -> None:
    s.path((-72, -32), (56, 35), stroke=EDGE, width=47)
    s.path((-72, -32), (56, 35), stroke=ALLOWED, width=45)
    s.arrow((-96, -45), (90, 53), GIVEN)
    s.link((-66, 64), (-35, 56), (-18, 12), width=9)
    s.dot((-18, 12))
    s.path((-18, 12), (-11, 0), stroke='#c22', width=2)
    s.text((-2, -6), 'd', '#c22', 'start')
    s.text((-26, 4), 'point', OWN, 'end')
    s.text((104, 62), 'line_direction', GIVEN, 'end')
    s.caption('d ≤ upper: a tube')


def point_to_plane(s: Sketch) -> None:
    corners = [(-56, -46), (56, -46), (56, 46), (-56, 46)]
    s.path(*(space(x, y, -26) for x, y in corners), fill='#fbe3cf', stroke=GIVEN, closed=True)
    box(s, (-56, -46, -4), (56, 46, 24))
    s.arrow(space(-25, -20, -26), space(-25, -20, 52), GIVEN)
    s.link((92, 66), (60, 62), (30, 12), width=9)
    s.dot((30, 12))
    s.path((30, 12), (30, -28), stroke='#c22', width=2)
    s.text((36, -14), 'f', '#c22', 'start')
    s.text((-42, 60), 'normal', GIVEN)
    s.text((38, 2), 'point', OWN, 'start')
    s.text((-74, -42), 'plane', GIVEN)
    s.caption('lower ≤ f ≤ upper: a slab')


def point_to_point_distance(s: Sketch) -> None:
    o = (-25.0, 8.0)
    s.oval(o, (62, 62))
    s.oval(o, (32, 32), allowed=False)
    s.dot(o, GIVEN)
    s.link((92, 56), (60, 52), polar(52, 25, o), width=9)
    s.dot(polar(52, 25, o))
    s.path(o, polar(52, 25, o), stroke='#c22', width=2)
    s.text((-6, 24), 'd', '#c22')
    s.text((-25, -12), 'other_point', GIVEN)
    s.text((42, 18), 'point', OWN, 'start')
    s.caption('lower ≤ d ≤ upper: a shell')


def polyhedron(s: Sketch) -> None:
    s.area((-66, -36), (-38, 46), (42, 54), (76, 4), (32, -46))
    s.link((88, 66), (52, 46), width=9)
    s.path((-20, 4), (18, 26), (52, 46), (18, 26), (26, -14), stroke=LINK, width=7)
    for at, name in (((-20, 4), 'p1'), ((26, -14), 'p2')):
        s.dot(at)
        s.text((at[0], at[1] - 18), name, OWN)
    s.arrow((-53, 2), (-76, 10), GIVEN, 1.5)
    s.text((-100, 20), 'row of A', GIVEN, 'start')
    s.caption('A [p1; p2] ≤ upper')


def region_distance(s: Sketch) -> None:
    box(s, (-62, -30, -36), (-12, 20, 10))
    s.oval((48, -18), (36, 36))
    s.link((-92, 66), (-40, 62), (6, 30), width=9)
    s.dot((6, 30))
    s.path((6, 30), (23, 8), stroke='#c22', width=2)
    s.text((22, 24), 'f', '#c22', 'start')
    s.text((2, 44), 'point', OWN, 'start')
    s.text((78, 24), 'regions', EDGE)
    s.caption('f ≤ 0: in one of the regions')


def support_polygon(s: Sketch) -> None:
    corners = [(-70, -42), (65, -48), (75, 30), (0, 62), (-68, 36)]
    s.path(*(space(x, y, -18) for x, y in corners), fill='#fff', stroke=GIVEN, closed=True)
    s.area(*(space(0.76 * x, 0.76 * y, -18) for x, y in corners))
    for x, y in corners:
        s.dot(space(x, y, -18), GIVEN, 3.5)
    s.dot((8, 46), OWN, 6)
    s.path((8, 46), (8, -14), stroke=OWN, dashes='4 3')
    s.dot((8, -14), OWN, 3)
    s.text((18, 44), 'c', OWN, 'start')
    s.text((-58, 34), 'corners', GIVEN)
    s.caption('f ≥ lower: inside, with margin')


def user_function(s: Sketch) -> None:
    s.link((-96, -46), (-74, 42), (-40, -14), width=11)
    s.path((-74, 42), (-4, 42), width=0.9, dashes='3 3')
    s.path((-40, -14), (-4, -14), width=0.9, dashes='3 3')
    s.arrow((-8, -14), (-8, 41), OWN, 1.6)
    s.text((-14, 6), 'f(q)', OWN, 'end')
    s.text((60, 30), 'any Python')
    s.text((60, 14), 'callable of a')
    s.text((60, -2), 'configuration')
    s.caption('lower ≤ f(q) ≤ upper')


# -- bounds, targets and weights of a function -----------------------------------------------

def _graph(s: Sketch, *price: Point) -> None:
    s.arrow((-92, -40), (96, -40), INK, 1.4)
    s.text((94, -32), 'f', anchor='end')
    if price:
        s.arrow((-86, -46), (-86, 62), INK, 1.4)
        s.text((-78, 56), 'cost', anchor='start')
        s.path(*price, stroke=OWN, width=2.4)


def constraint(s: Sketch) -> None:
    s.area((-45, -40), (-45, 50), (45, 50), (45, -40))
    _graph(s)
    s.text((0, 10), 'allowed')
    s.text((-45, -56), 'lower', EDGE)
    s.text((45, -56), 'upper', EDGE)
    s.caption('otherwise: no solution')


def cost(s: Sketch) -> None:
    _graph(s, *((x, -40 + 0.024 * (x - 5) ** 2) for x in range(-55, 66, 5)))
    s.path((5, -46), (5, 40), stroke=GIVEN, dashes='4 3')
    s.text((5, -58), 'target', GIVEN)
    s.caption('as small as possible')


def soft_constraint(s: Sketch) -> None:
    s.area((-35, -40), (-35, 50), (40, 50), (40, -40))
    _graph(s, *((x, -40 + 0.045 * max(-35 - x, x - 40, 0) ** 2) for x in range(-80, 86, 5)))
    s.text((-35, -56), 'lower', EDGE)
    s.text((40, -56), 'upper', EDGE)
    s.caption('inside if possible')


USES = {'constraint (hard)': constraint, 'cost': cost, 'cost with bounds (soft)':
        soft_constraint}
SKETCHES: dict[str, Callable[[Sketch], None]] = {function.__name__: function for function in (
    angle_between_vectors, center_of_mass, frame_orientation, frame_pose, frame_position,
    gaze_angle, joint_coupling, joint_positions, manipulability, minimum_distance, pair_distance,
    point_to_line_distance, point_to_plane, point_to_point_distance, polyhedron, region_distance,
    support_polygon, user_function)}


def picture() -> str:
    """Return all sketches as SVG."""
    panels = [*SKETCHES.items(), *USES.items()]
    rows = math.ceil(len(panels) / COLUMNS)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{COLUMNS * WIDTH}" '
             f'height="{TOP + rows * HEIGHT}" font-family="sans-serif" font-size="13">',
             '<rect width="100%" height="100%" fill="#fff"/>']
    for x, words, color in ((16, 'green: allowed region', EDGE),
                            (250, 'blue: of the frame', OWN),
                            (430, 'orange: reference, target, object', GIVEN),
                            (690, 'grey: links', '#777')):
        parts.append(f'<text x="{x}" y="22" fill="{color}" font-weight="bold">{words}</text>')
    for number, (name, draw) in enumerate(panels):
        x, y = number % COLUMNS * WIDTH, TOP + number // COLUMNS * HEIGHT
        sketch = Sketch()
        draw(sketch)
        parts += [f'<rect x="{x + 4}" y="{y + 2}" width="{WIDTH - 8}" height="{HEIGHT - 6}" '
                  'rx="6" fill="none" stroke="#ddd"/>',
                  f'<text x="{x + WIDTH / 2}" y="{y + 22}" text-anchor="middle" '
                  f'font-family="monospace" font-weight="bold">{name}</text>',
                  f'<g transform="translate({x + WIDTH / 2} {y + HEIGHT / 2 + 14})">',
                  *sketch.parts, '</g>']
    return '\n'.join([*parts, '</svg>', ''])


if __name__ == '__main__':
    PICTURE.write_text(picture(), encoding='utf-8')
