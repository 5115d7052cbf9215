"""Drawing: an SVG page on a light ground, and plane geometry for the figures.

Lengths are pixels, y goes down. Every number is written with one decimal, so that a figure has the same bytes wherever
it is drawn.
"""

import math

INK, GREY, FAINT, PAPER = "#24292f", "#6e7781", "#d0d7de", "#ffffff"
BLUE, ORANGE, GREEN, RED, GOLD, VIOLET = "#1f6feb", "#d9730d", "#2da44e", "#cf222e", "#bf8700", "#8250df"
CELLS = ["#9ecbff", "#ffd8a8", "#b2f2bb", "#ffc9c9", "#d0bfff", "#ffec99", "#a5e8e8", "#eebefa", "#d8e2b0", "#c5d0dc"]


def number(value):
    """A number as it stands in a file."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def points_of(points):
    return " ".join(f"{number(x)},{number(y)}" for x, y in points)


class Page:
    """A figure of a size, with what it shows in words."""

    def __init__(self, width, height, title):
        self.width, self.height, self.title, self.parts, self.tiles = width, height, title, [], {}

    def put(self, name, style, **attributes):
        words = [
            f'{key.replace("_", "-")}="{number(v) if isinstance(v, (int, float)) else v}"'
            for key, v in attributes.items()
        ]
        self.parts.append(f"<{name} {' '.join(words)}{style}/>")

    @staticmethod
    def style(fill="none", stroke=INK, width=1.5, dash=None, opacity=None):
        text = f' fill="{fill}" stroke="{stroke}" stroke-width="{number(width)}"'
        text += f' stroke-dasharray="{dash}"' if dash else ""
        return text + (f' opacity="{opacity}"' if opacity else "")

    def rect(self, x, y, w, h, **style):
        self.put("rect", self.style(**style), x=x, y=y, width=w, height=h)

    def tile(self, x, y, w, h, **style):
        """One of many boxes; `lay` draws those of one style together, which keeps files small."""
        box = f"M{number(x)} {number(y)}h{number(w)}v{number(h)}h{number(-w)}z"
        self.tiles.setdefault(self.style(**style), []).append(box)

    def lay(self):
        """Draws the tiles so far."""
        self.parts += [f'<path d="{"".join(boxes)}"{style}/>' for style, boxes in self.tiles.items()]
        self.tiles = {}

    def circle(self, at, r, **style):
        self.put("circle", self.style(**style), cx=at[0], cy=at[1], r=r)

    def dot(self, at, r=3, color=INK):
        self.circle(at, r, fill=color, stroke="none")

    def line(self, a, b, **style):
        self.put("line", self.style(**style) + ' stroke-linecap="round"', x1=a[0], y1=a[1], x2=b[0], y2=b[1])

    def polygon(self, points, **style):
        self.put("polygon", self.style(**style) + ' stroke-linejoin="round"', points=points_of(points))

    def polyline(self, points, **style):
        self.put("polyline", self.style(**style) + ' stroke-linejoin="round"', points=points_of(points))

    def arc(self, middle, r, begin, end, **style):
        """Part of a circle; angles in degrees, from +x, against the clock."""
        steps = max(2, int(abs(end - begin) / 5) + 1)
        angles = [math.radians(begin + (end - begin) * k / steps) for k in range(steps + 1)]
        self.polyline([(middle[0] + r * math.cos(a), middle[1] - r * math.sin(a)) for a in angles], **style)

    def arrow(self, a, b, color=INK, width=1.5, dash=None):
        """A line with a head at b."""
        angle = math.atan2(b[1] - a[1], b[0] - a[0])
        size = 5 + 2 * width
        back = (b[0] - 0.8 * size * math.cos(angle), b[1] - 0.8 * size * math.sin(angle))
        self.line(a, back, stroke=color, width=width, dash=dash)
        sides = [(b[0] - size * math.cos(angle + s), b[1] - size * math.sin(angle + s)) for s in (0.4, -0.4)]
        self.polygon([b, *sides], fill=color, stroke=color, width=1)

    def measure(self, a, b, color=INK, width=1.2):
        """A line with a head at either end."""
        middle = ((a[0] + b[0]) / 2, (a[1] + b[1]) / 2)
        self.arrow(middle, a, color, width)
        self.arrow(middle, b, color, width)

    def text(self, at, words, size=13, color=INK, anchor="start", bold=False, italic=False):
        words = words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        look = (' font-weight="bold"' if bold else "") + (' font-style="italic"' if italic else "")
        place = f'x="{number(at[0])}" y="{number(at[1])}" font-size="{number(size)}" text-anchor="{anchor}"'
        self.parts.append(f'<text {place} fill="{color}"{look}>{words}</text>')

    def lines(self, at, words, size=13, color=INK, anchor="start", bold=False):
        """Several lines of text, one below the other."""
        for row, line in enumerate(words):
            self.text((at[0], at[1] + row * size * 1.35), line, size, color, anchor, bold)

    def svg(self):
        """The file."""
        box = f'viewBox="0 0 {self.width} {self.height}" width="{self.width}" height="{self.height}"'
        title = self.title.replace("&", "&amp;").replace("<", "&lt;")
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {box} font-family="Helvetica, Arial, sans-serif">'
        ground = f'<rect x="0.5" y="0.5" width="{self.width - 1}" height="{self.height - 1}" rx="6"'
        ground += f' fill="{PAPER}" stroke="{FAINT}"/>'
        return "\n".join([head, f"<title>{title}</title>", ground, *self.parts, "</svg>"]) + "\n"


def clipped(polygon, normal, height):
    """The part of a convex polygon where dot(normal, x) <= height."""
    result = []
    for k, b in enumerate(polygon):
        a = polygon[k - 1]
        fa = normal[0] * a[0] + normal[1] * a[1] - height
        fb = normal[0] * b[0] + normal[1] * b[1] - height
        if (fa < 0) != (fb < 0):
            t = fa / (fa - fb)
            result.append((a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])))
        if fb <= 0:
            result.append(b)
    return result


def cell(seeds, k, box):
    """The Voronoi cell of seed k within a convex polygon."""
    s = seeds[k]
    for j, r in enumerate(seeds):
        if j != k:
            normal = (r[0] - s[0], r[1] - s[1])
            height = (r[0] ** 2 + r[1] ** 2 - s[0] ** 2 - s[1] ** 2) / 2
            box = clipped(box, normal, height)
    return box


def square(x, y, w, h=None):
    h = w if h is None else h
    return [(x, y), (x + w, y), (x + w, y + h), (x, y + h)]


def nearest(seeds, p):
    """The number of the seed nearest to a point."""
    return min(range(len(seeds)), key=lambda k: (seeds[k][0] - p[0]) ** 2 + (seeds[k][1] - p[1]) ** 2)


def mix(color, other, share):
    """A colour between two."""
    a, b = (([int(c[i : i + 2], 16) for i in (1, 3, 5)]) for c in (color, other))
    return "#" + "".join(f"{round(x + (y - x) * share):02x}" for x, y in zip(a, b))
