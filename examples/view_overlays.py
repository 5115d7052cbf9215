#!/usr/bin/env python3
"""Draws the PLY files of `kintsugi fracture --overlays` with PyVista, without a window.

    pip install pyvista
    kintsugi fracture builtin:vase --level 6 --surface rough --out out/ --overlays transition,triangles,points,faces,labels
    python3 examples/view_overlays.py out/ pictures/

Writes pictures/transition.png and so on, one for each file that is there: transition voxels by how many objects own a corner,
crack triangles and Voronoi faces by cell, separation points by kind, labelled voxels by piece. ParaView opens the same files
(File, Open, then colour by one of the arrays). `--window` shows them instead.
"""

import argparse
import sys
from pathlib import Path

import pyvista

# Of each file the array that colours it.
COLOURS = {"transition": "objects", "triangles": "cell", "points": "kind", "faces": "cell", "labels": "piece"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, help="folder that fracture wrote")
    parser.add_argument("pictures", type=Path, help="folder for the pictures; made if it is not there")
    parser.add_argument("--window", action="store_true", help="show them in a window")
    args = parser.parse_args()
    files = [args.results / "overlays" / f"{name}.ply" for name in COLOURS]
    files = [file for file in files if file.exists()]
    if not files:
        sys.exit(f"{args.results} has no overlays; write some with fracture --overlays")
    args.pictures.mkdir(parents=True, exist_ok=True)
    for file in files:
        mesh = pyvista.read(file)
        name = COLOURS[file.stem]
        # An array of points, or of faces.
        if name not in mesh.array_names:
            sys.exit(f"{file} has no array {name}, only {mesh.array_names}")
        plotter = pyvista.Plotter(off_screen=not args.window, window_size=(900, 700))
        plotter.set_background("white")
        points = mesh.n_points == mesh.n_cells or mesh.n_cells == 0
        plotter.add_mesh(mesh, scalars=name, cmap="tab20", opacity=1.0 if points else 0.7, show_edges=not points,
                         point_size=5, render_points_as_spheres=points)
        plotter.camera_position = "xy"
        plotter.camera.azimuth, plotter.camera.elevation = 30, 20
        if args.window:
            plotter.show()
        else:
            plotter.screenshot(args.pictures / f"{file.stem}.png")
        plotter.close()
        print(f"{file.name}: {mesh.n_points} points, {mesh.n_cells} cells, coloured by {name}")


if __name__ == "__main__":
    main()
