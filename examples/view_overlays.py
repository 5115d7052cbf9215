#!/usr/bin/env python3
"""Draws the PLY files of `kintsugi fracture --overlays` with PyVista, without a window.

    pip install pyvista
    kintsugi fracture builtin:vase --level 6 --surface rough --out out/ --overlays transition,triangles,points,faces,labels
    python3 examples/view_overlays.py out/ pictures/

Writes pictures/transition.png and so on, one for each file that is there, in the colours that Kintsugi draws in:
transition voxels by how many objects own a corner, crack triangles and Voronoi faces by cell, separation points by
kind, labelled voxels by piece; of a later break (--generations) out/overlays/001 in place of out. ParaView opens the
same files (File, Open, then colour by RGB). `--window` shows them instead.
"""

import argparse
import sys
from pathlib import Path

import pyvista

NAMES = ("transition", "triangles", "points", "faces", "labels")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, help="folder that fracture wrote")
    parser.add_argument("pictures", type=Path, help="folder for the pictures; made if it is not there")
    parser.add_argument("--window", action="store_true", help="show them in a window")
    args = parser.parse_args()
    own = args.results / "overlays"
    folder = own if own.is_dir() else args.results
    files = [folder / f"{name}.ply" for name in NAMES]
    files = [file for file in files if file.exists()]
    if not files:
        sys.exit(f"{args.results} has no overlays; write some with fracture --overlays")
    args.pictures.mkdir(parents=True, exist_ok=True)
    for file in files:
        mesh = pyvista.read(file)
        plotter = pyvista.Plotter(off_screen=not args.window, window_size=(900, 700))
        plotter.set_background("white")
        points = mesh.n_cells in (0, mesh.n_points)
        plotter.add_mesh(mesh, scalars="RGB", rgb=True, show_edges=not points, opacity=1.0 if points else 0.8,
                         point_size=6, render_points_as_spheres=points)
        plotter.camera_position = "xy"
        plotter.camera.azimuth, plotter.camera.elevation = 30, 20
        if args.window:
            plotter.show()
        else:
            plotter.screenshot(args.pictures / f"{file.stem}.png")
        plotter.close()
        print(f"{file.name}: {mesh.n_points} points, {mesh.n_cells} cells")


if __name__ == "__main__":
    main()
