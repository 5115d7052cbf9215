"""What the program reads beside meshes: scenes, seeds, presets, jobs and small texts."""

import json
import struct

from .common import every, lines, write


def scene():
    write("scene", "short", '[[body]]\nfile = "builtin:vase"\n')
    body = """name = "x"
gravity = [0.0, -9.81, 0.0]
dt = 0.01
[camera]
target = [0.0, 0.5, 0.0]
distance = 3.0
yaw = 0.1
pitch = 0.2
fov_y = 0.8
[walls]
low = [-2.0, 0.0, -2.0]
high = [2.0, 4.0, 2.0]
[[body]]
name = "a"
file = "builtin:box"
level = 5
size = 1.0
on_floor = true
break_threshold = 2.0
rolling_resistance = 0.1
[body.fracture]
seeds = 12
preset = "clustered"
surface = "rough"
[body.fracture.crack]
transition_level = 4
[[body]]
name = "b"
file = "builtin:sphere"
position = [0.0, 2.0, 0.0]
rotation = [0.0, 0.0, 0.0, 1.0]
[[pair]]
bodies = ["a", "b"]
physics_level = 4
[[event]]
kind = "impact"
time = 0.5
point = [0.0, 0.5, 0.4]
direction = [0.0, 0.0, -1.0]
speed = 2.0
"""
    write("scene", "long", body)
    one = '[[body]]\nfile = "builtin:box"\nlevel = 5\n'
    fracture = lambda text: one + "[body.fracture]\n" + text
    broken = one + """[[break]]
body = 0
point = [0.0, 0.1, 0.0]
direction = [0.0, -1.0, 0.0]
joined = [[0, 1]]
fracture = { seeds = 6, rng = 3 }
[[break]]
of = 0
part = 2
point = [0.1, 0.0, 0.0]
direction = [1.0, 0.0, 0.0]
fracture = { seeds = 2 }
[[pose]]
of = 0
part = 1
position = [0.0, 0.5, 0.0]
rotation = [0.0, 0.0, 0.0, 1.0]
linear_velocity = [1.0, 0.0, 0.0]
asleep = true
hidden = true
locked = true
[[deleted]]
of = 1
part = 0
"""
    files = {
        "broken": broken,
        "projectile": one + '[[event]]\nkind = "projectile"\ntime = 0.1\n[event.body]\nfile = "builtin:sphere"\nlevel = 4\n'
        + "linear_velocity = [0.0, 0.0, -9.0]\nposition = [0.0, 1.0, 3.0]\n",
        "pinned": one + "[pinned]\nbody = 0\npoint = [0.0, 0.5, 0.0]\ndirection = [0.0, -1.0, 0.0]\n",
        "view": one + '[view]\ncolor_by = "Crack"\nexplode = 0.25\n',
        "names": '"name" = "ü\\u0000\\n\\"x"\n' + one,
        "contacts": 'contacts = "octree"\nresponse = "impulse"\nsleeping = false\nfloor = false\nsubsteps = 64\n' + one,
        "adaptive": "[adaptive_level]\nnear = 5.0\nmost = 2\n" + one,
        "fallback": '[[body]]\nfile = "not/here.obj"\nfallback = "builtin:statue"\nlevel = 4\nup = "minus-z"\n',
        "same-body-many-times": one * 40,
        "pieces": fracture("target_pieces = 30\nlocal = 0.3\n"),
        "dusty": fracture('surface = "dusty"\n[body.fracture.crack.dusty]\nwidth = 2.0\nirregularity = 0.1\n'),
        "rings": fracture('preset = "radial"\nradii = [0.1, 0.2]\ncounts = [3, 4]\n'),
        "grain": fracture('preset = "grain"\ngrain_axis = [1.0, 1.0, 0.0]\ngrain_ratio = 9.0\n'),
        "inward": fracture('preset = "inward"\nblow_strength = 1.0\nkeep = [0, 1, 5]\n'),
        "method": fracture('method = "box-cut"\noptions = { voxel_level = 5.0 }\n'),
        "smallest": fracture('smallest = { voxels = 9, fraction = 0.01, rule = "drop" }\n'),
        "interior": fracture('[body.fracture.interior]\nmaterial = "wood"\ncolor = "#a0b0c0"\nscale = 2.0\nseed = 9\n'),
        "preset-by-name": '[[body]]\nfile = "builtin:box"\npreset = "ceramic"\nfriction = 0.9\n',
        "pairs": '[[body]]\nname = "a"\nfile = "builtin:box"\nlevel = 5\n[[pair]]\nbodies = ["a", "a"]\nphysics_level = 3\n',
        "dotted-keys": 'camera.target = [0.0, 0.0, 0.0]\ncamera.distance = 1.0\ncamera.yaw = 0.0\ncamera.pitch = 0.0\n'
        "camera.fov_y = 1.0\n" + one,
        "crlf": body.replace("\n", "\r\n"),
    }
    extremes = {
        "dt": ("dt = 0.00001", "dt = 0.0"), "substeps": ("substeps = 1", "substeps = 65"),
        "gravity": ("gravity = [0, 0, 0]", "gravity = [inf, 0.0, nan]"),
        "floor-height": ("floor_height = -1e6", "floor_height = 1e7"),
        "units": ("meters_per_unit = 1e-9", "meters_per_unit = -1.0"),
        "generations": ("break_generations = 0", "break_generations = -1"),
        "bodies": ("break_pieces = 100000", "break_pieces = 100001"),
        "walls": ("walls = { low = [-1, 0, -1], high = [1, 2, 1] }", "walls = { low = [1, 0, 1], high = [-1, 2, -1] }"),
    }
    for name, (sound, bad) in extremes.items():
        files[f"extreme-{name}"] = sound + "\n" + one
        files[f"bad-{name}"] = bad + "\n" + one
    for name, line in {
        "level": "level = 13", "level-zero": "level = 0", "size": "size = 0.0", "density": "density = nan",
        "friction": "friction = -1.0", "rotation": "rotation = [0.0, 0.0, 0.0, 0.0]", "position": "position = [nan, 0.0, 0.0]",
        "threshold": "break_threshold = -1.0", "misspelt": "densitty = 1.0", "physics-level": "level = 3\nphysics_level = 9",
        "preset": 'preset = "no such material"', "up": 'up = "w"', "type": "level = \"five\"",
    }.items():
        files[f"bad-body-{name}"] = '[[body]]\nfile = "builtin:box"\n' + line + "\n"
    for name, line in {
        "seeds": "seeds = 8193", "radii": "radii = [-1.0]", "rng": "rng = -1", "counts": "radii = [0.1]\ncounts = [1, 2]",
        "method": 'method = "hammer"', "options": 'options = { hardness = 1.0 }', "colour": 'interior = { color = "red" }',
        "keep": "seeds = 3\nkeep = [9]", "target": "target_pieces = 0", "transition": "crack = { transition_level = 40 }",
    }.items():
        files[f"bad-fracture-{name}"] = fracture(line + "\n")
    files |= {
        "bad-no-file": "[[body]]\nlevel = 5\n",
        "bad-not-toml": "body = [\n",
        "bad-event-of-no-kind": one + "[[event]]\ntime = 1.0\n",
        "bad-event-time": one + '[[event]]\nkind = "impact"\ntime = nan\npoint = [0, 0, 0]\ndirection = [0, 1, 0]\n',
        "bad-direction": one + '[[event]]\nkind = "impact"\ntime = 1.0\npoint = [0, 0, 0]\ndirection = [0, 0, 0]\n',
        "bad-pair-of-nobody": one + '[[pair]]\nbodies = ["x", "y"]\nphysics_level = 3\n',
        "bad-break-of-later": one + "[[break]]\nof = 5\npoint = [0, 0, 0]\ndirection = [0, 1, 0]\nfracture = {}\n",
        "bad-break-of-nobody": one + "[[break]]\nbody = 9\npoint = [0, 0, 0]\ndirection = [0, 1, 0]\nfracture = {}\n",
        "bad-deep": "a = " + "[" * 3000,
        "bad-deep-tables": "[" + "a." * 3000 + "a]\n",
        "bad-twice": "dt = 0.01\ndt = 0.02\n" + one,
        "bad-camera-half": "camera = { distance = 1.0 }\n" + one,
    }
    every("scene", files)
    # A session is a scene file, read from a folder.
    every("session", {name: text for name, text in files.items() if not name.startswith(("bad-fracture", "extreme"))}
          | {"short": '[[body]]\nfile = "builtin:vase"\n', "long": body,
             "bad-not-text": b"\xff\xfe\x00", "file-beside": '[[body]]\nfile = "a.obj"\nlevel = 4\n',
             "file-elsewhere": '[[body]]\nfile = "../a.obj"\nfallback = "/b.obj"\n',
             "seeds-file": fracture('seeds_file = "seeds.txt"\n')})


def seeds():
    every("seeds", {
        "text": "# x y z\n1 2 3\n-1.5, 0, 2e1  # the last\n0 0 0\n",
        "commas": "1,2,3\n4,5,6\n", "tabs": "1\t2\t3\n", "semicolons-in-comments": "1 2 3 # ; 4\n", "crlf": "1 2 3\r\n4 5 6\r\n",
        "blank-lines": "\n\n1 2 3\n\n\n", "exponents": "1e-300 -1e300 +1E0\n", "many": lines([(k, k, k) for k in range(300)]),
        "bad-two": "1 2\n", "bad-four": "1 2 3 4\n", "bad-nan": "nan 0 0\n", "bad-infinite": "1e999 0 0\n",
        "bad-words": "a b c\n", "bad-empty": "", "bad-only-comments": "# 1 2 3\n", "bad-not-text": b"\xff\xfe1 2 3\n",
        "bad-hexadecimal": "0x1 0x2 0x3\n", "bad-a-secret": "root:x:0:0:root:/root:/bin/sh\n",
    })

    def array(kind, shape, data, order="False", version=1, tail=", "):
        head = "{'descr': '%s', 'fortran_order': %s, 'shape': %s%s}" % (kind, order, shape, tail)
        start = 10 if version == 1 else 12
        head += " " * (-(len(head) + start + 1) % 64) + "\n"
        length = struct.pack("<H" if version == 1 else "<I", len(head))
        return b"\x93NUMPY" + bytes([version, 0]) + length + head.encode() + data

    nine = (1, 2, 3, -1.5, 0, 20, 0, 0, 0)
    whole = array("<f8", "(3, 3)", struct.pack("<9d", *nine))
    every("npy", {
        "float64": whole,
        "float32": array("<f4", "(3, 3)", struct.pack("<9f", *nine)),
        "bytes-after": whole + b"1234",
        "no-last-comma": array("<f8", "(3, 3)", struct.pack("<9d", *nine), tail=""),
        "one-seed": array("<f8", "(1, 3)", struct.pack("<3d", 1, 2, 3)),
        "bad-fortran": array("<f8", "(3, 3)", struct.pack("<9d", *nine), "True"),
        "bad-big-endian": array(">f8", "(3, 3)", struct.pack(">9d", *nine)),
        "bad-integers": array("<i8", "(3, 3)", struct.pack("<9q", *map(int, nine))),
        "bad-objects": array("|O", "(3, 3)", b"cos\nsystem\n"),
        "bad-flat": array("<f8", "(9,)", struct.pack("<9d", *nine)),
        "bad-huge": array("<f8", "(18446744073709551615, 3)", b""),
        "bad-none": array("<f8", "(0, 3)", b""),
        "bad-short": whole[:-8],
        "bad-nan": array("<f8", "(1, 3)", struct.pack("<3d", float("nan"), 0, 0)),
        "bad-head-length": whole[:8] + b"\xff\xff" + whole[10:],
        "bad-magic": b"\x93NUMPX" + whole[6:],
        "bad-empty": b"",
    })


def presets():
    whole = """name = "Ceramic"
about = "A fired pot"
density = 2200.0
friction = 0.5
restitution = 0.2
rolling_resistance = 0.2
break_threshold = 3.5
[fracture]
preset = "spheres"
seeds = 40
radii = [0.1, 0.25, 0.5, 0.9]
surface = "rough"
[fracture.crack.noise]
amplitude = 0.5
frequency = 48
octaves = 2
[fracture.interior]
material = "clay"
"""
    files = {"whole": whole, "name": 'name = "x"\n', "letters": 'name = "äöü 💥"\n', "crlf": whole.replace("\n", "\r\n"),
             "own-of-a-blow": 'name = "x"\n[fracture]\nrng = 7\nkeep = [1, 2]\nseeds_file = "a.txt"\nlabelling = "iterative"\n'}
    for name, line in {
        "dusty": 'surface = "dusty"\ncrack = { dusty = { width = 3.0 } }', "pieces": "target_pieces = 12", "local": "local = 0.2",
        "radial": 'preset = "radial"\ncounts = [1, 2, 3, 4]', "grain": 'preset = "grain"\ngrain_ratio = 3.0',
        "clustered": 'preset = "clustered"\nclusters = 3\nspread = 0.2', "uniform": 'preset = "uniform"\nseeds = 1',
        "inward": 'preset = "inward"\nblow_strength = 0.0', "box-cut": 'method = "box-cut"\noptions = { voxel_level = 4.0 }',
        "smallest": "smallest = { fraction = 0.1 }", "interior": 'interior = { material = "marble", color = "#fff000", seed = 3 }',
        "transition": "crack = { transition_level = 12 }", "sides": 'surface = "rough"\ncrack = { sides = "votes", offset = "balance" }',
        "level": "island_level = 12",
    }.items():
        files[f"fracture-{name}"] = f'name = "x"\n[fracture]\n{line}\n'
    for name, line in {
        "density": "density = -1.0", "friction": "friction = inf", "restitution": "restitution = 2.0", "threshold": "break_threshold = nan",
        "misspelt": "densitty = 1.0", "seeds": "fracture = { seeds = 0 }", "radii": "fracture = { radii = [nan] }",
        "method": 'fracture = { method = "saw" }', "colour": 'fracture = { interior = { color = "#12" } }', "type": "fracture = 3",
        "deep": "fracture = " + "[" * 2000,
    }.items():
        files[f"bad-{name}"] = f'name = "x"\n{line}\n'
    every("preset", files | {"bad-empty": "", "bad-no-name": 'name = " "\n', "bad-long-name": f'name = "{"x" * 61}"\n',
                             "bad-control": 'name = "a\\u0007b"\n', "bad-not-toml": "name = \n"})


def jobs():
    one = 'meshes = ["builtin:box"]\n'
    every("jobs", {
        "one": one,
        "grid": one + 'levels = [4, 5]\nrng = [1, 2, 3]\nup = "z"\n[fracture]\nsurface = "dusty"\n[grid]\nseeds = [2, 4]\n'
        "crack.dusty.width = [1, 2]\nradii = [[0.1, 0.3], [0.2]]\n",
        "single": 'generations = 2\nimpact = [0, 1, 0.2]\ndirection = [0, 0, -1]\n[[job]]\nmesh = "a.obj"\nlevel = 3\nrng = 9\n'
        "fracture = { seeds = 3 }\n[[job]]\nmesh = 'builtin:vase'\n",
        "shared-and-own": '[fracture]\nseeds = 5\n[fracture.crack]\nstrength = 0.5\n[[job]]\nmesh = "x"\n[job.fracture.crack.noise]\noctaves = 3\n',
        "methods": one + '[grid]\nmethod = ["octree", "box-cut"]\noptions.voxel_level = [4.0]\n',
        "same-mesh-twice": 'meshes = ["builtin:box", "builtin:box"]\nrng = [1, 1, 1]\n',
        "formula": 'meshes = ["=1+1", "@x", "-y"]\n',
        "lists-of-lists": one + "[grid]\ncounts = [[1, 2, 3, 4], [4, 3, 2, 1]]\n",
        "many": one + f"rng = {list(range(900))}\n",
        "numbers-large": one + "rng = [9223372036854775807]\nlevels = [4294967295]\n",
        "bad-empty": "", "bad-no-mesh": "levels = [4]\n", "bad-misspelt": one + "level = [4]\n",
        "bad-grid-empty": one + "[grid]\nseeds = []\n", "bad-grid-value": one + "[grid]\nseeds = 3\n",
        "bad-rng-twice": one + "rng = [1]\nfracture = { rng = 2 }\n", "bad-method": one + '[grid]\nmethod = ["saw"]\n',
        "bad-too-many": one + "".join(f"grid.options.o{k} = [1, 2, 3]\n" for k in range(40)),
        "bad-product": 'meshes = ["a", "b"]\n' + "".join(f"grid.a{k} = {list(range(100))}\n" for k in range(12)),
        "bad-type": one + 'levels = ["four"]\n', "bad-negative": one + "rng = [-1]\n",
        "bad-not-text": b"\xff\xfe", "bad-deep": "grid." + "a." * 2000 + "a = [1]\n", "bad-deep-lists": "meshes = " + "[" * 3000,
        "bad-job-without-mesh": "[[job]]\nlevel = 3\n", "bad-seeds": one + "fracture = { seeds = -1 }\n",
    })


def small():
    """Cameras, settings, the memory of imports."""
    camera = {"target": [0, 0.5, 0], "distance": 2, "yaw": 0.5, "pitch": 0.2, "fov_y": 0.6}
    change = lambda **new: json.dumps(camera | new)
    every("camera", {
        "whole": json.dumps(camera), "indented": json.dumps(camera, indent=2), "bad-more-fields": change(roll=1),
        "far": change(distance=1e30, target=[1e30, -1e30, 0]), "near": change(distance=1e-30, fov_y=0.01), "wide": change(fov_y=3),
        "exponents": json.dumps(camera).replace("0.5", "5e-1"), "blank-before": "\n\t " + json.dumps(camera),
        "bad-distance": change(distance=-2), "bad-no-distance": change(distance=0), "bad-fov": change(fov_y=4), "bad-fov-zero": change(fov_y=0),
        "bad-large": change(yaw=0).replace('"yaw": 0', '"yaw": 1e400'), "bad-null": change(pitch=None), "bad-two": change(target=[0, 1]),
        "bad-text": change(yaw="left"), "bad-empty": "", "bad-half": json.dumps({"yaw": 1}), "bad-list": "[1, 2, 3]",
        "bad-deep": '{"target":' + "[" * 3000, "bad-not-text": b"{\xff\xfe}", "bad-twice": '{"yaw":1,' + json.dumps(camera)[1:],
    })
    every("settings", {
        "blender": 'keymap = "blender"\n', "maya": 'keymap = "maya"\n', "more": 'keymap = "maya"\nother = 3\n[a]\nb = 1\n',
        "crlf": '# mine\r\nkeymap = "blender"\r\n', "bad-other": 'keymap = "emacs"\n', "bad-empty": "", "bad-number": "keymap = 3\n",
        "bad-deep": "keymap = " + "[" * 3000, "bad-not-text": b"\xff\xfe", "bad-own": 'keymap = "kintsugi"\n', "bad-twice": 'keymap = "maya"\n' * 2,
    })
    memory = lambda up="z", size="2.5", more="": f'["/"]\nup = "{up}"\nsize = {size}\n{more}'
    every("imports", {
        "whole": memory(), "others": memory(more='["/a b.obj"]\nup = "x"\nsize = 1.0\n'), "up-alone-counts": memory("minus-x", "0.0"),
        "size-huge": memory("x", "1e300"), "size-nan": memory("x", "nan"), "size-infinite": memory("y", "2.5"), "whole-number": memory("y", "3"),
        "many": memory(more="".join(f'["/{k}"]\nup = "y"\nsize = {k}.5\n' for k in range(200))),
        "bad-up": memory("w"), "bad-text": memory("z", '"big"'), "bad-half": '["/"]\nup = "z"\n', "bad-empty": "", "bad-not-text": b"\xff",
        "bad-other": '["/a"]\nup = "z"\nsize = 1.0\n', "bad-deep": '["/"]\nup = ' + "[" * 3000, "bad-same": memory("y", "1.0"),
    })
