#!/usr/bin/env python3
"""Opens a .usda, .usdc or .usdz of Kintsugi with Pixar's library, and has it judged by the library's own rules.

    pip install usd-core numpy
    python3 tests/openers/usd_check.py out/pieces.usd[acz] [--trajectory sim/trajectory.npz] [--report out/report.json]

Runs UsdUtils.ComplianceChecker (what `usdchecker` was) and UsdValidation (what it is), whichever the library
has: both up to 25.x, the newer alone after. Errors, failed checks and warnings count. Then reads what an
importer reads: default prim, up axis, metres a unit, mesh prims and rigid bodies, masses (against those
of the report's meshes, or the trajectory's), time samples and the pose at the last of them against the last state of
the simulation. A .usdc beside a .usda of the same name must be the same layer, by the text that the library makes of both.
Ends with 1 if anything fails.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np
from pxr import Sdf, Usd, UsdGeom, UsdPhysics, UsdUtils

sys.path.insert(0, str(Path(__file__).parent))
import readers


def compliance(path):
    """(errors, warnings) by UsdUtils.ComplianceChecker; None where the library has it no more."""
    if not hasattr(UsdUtils, "ComplianceChecker"):
        return None
    checker = UsdUtils.ComplianceChecker(arkit=False, skipARKitRootLayerCheck=True)
    checker.CheckCompliance(str(path))
    return checker.GetErrors() + checker.GetFailedChecks(), checker.GetWarnings()


def validation(stage):
    """(errors, warnings) by every validator of UsdValidation; None where the library has none."""
    try:
        from pxr import UsdValidation
    except ImportError:
        return None
    registry = UsdValidation.ValidationRegistry()
    context = UsdValidation.ValidationContext(registry.GetOrLoadAllValidators())
    errors, warnings = [], []
    for found in context.Validate(stage):
        where = [str(s.GetPrim().GetPath()) for s in found.GetSites() if s.IsPrim()][:1]
        text = f"{found.GetName()}: {found.GetMessage()} {where}"
        (errors if found.GetType() == UsdValidation.ValidationErrorType.Error else warnings).append(text)
    return errors, warnings


def number(prim):
    """The piece that a prim is, by its name or its parent's."""
    own = readers.number_of(prim.GetName())
    return readers.number_of(prim.GetParent().GetName()) if own is None else own


def masses(stage, wrong, report, trajectory):
    """Masses by piece, compared with what is known."""
    known = {}
    if report:
        pieces = json.loads(Path(report).read_text())["pieces"]
        # Files have the masses of the solids that the meshes bound, where there are any.
        known = {p["id"]: p.get("mesh", p)["mass"] for p in pieces}
    elif trajectory is not None:
        known = dict(enumerate(trajectory["mass"].tolist()))
    found, centres = {}, 0
    for prim in stage.Traverse():
        if prim.HasAPI(UsdPhysics.MassAPI):
            api = UsdPhysics.MassAPI(prim)
            found[number(prim)] = float(api.GetMassAttr().Get() or 0.0)
            centres += api.GetCenterOfMassAttr().HasAuthoredValue()
    off = 0.0
    for piece, mass in found.items():
        if mass <= 0:
            wrong.append(f"piece {piece} has mass {mass}")
        elif piece in known:
            off = max(off, abs(mass / known[piece] - 1))
    if off > 1e-5:
        wrong.append(f"masses differ from those known by {off:.2e}")
    if known and set(found) - {None} != set(known):
        wrong.append(f"{len(found)} masses for {len(known)} pieces")
    return {
        "masses": len(found),
        "mass_sum": sum(found.values()),
        "mass_off": off,
        "centres_of_mass": centres,
    }


def motion(stage, wrong, trajectory):
    """The pose at the last time sample against the last state."""
    animated = [
        p
        for p in stage.Traverse()
        if p.IsA(UsdGeom.Xformable) and UsdGeom.Xformable(p).TransformMightBeTimeVarying()
    ]
    samples = sorted({t for p in animated for t in UsdGeom.Xformable(p).GetTimeSamples()})
    out = {
        "animated": len(animated),
        "samples": len(samples),
        "frames_a_second": stage.GetTimeCodesPerSecond(),
        "from": stage.GetStartTimeCode(),
        "to": stage.GetEndTimeCode(),
    }
    if trajectory is None or not samples:
        if trajectory is not None:
            wrong.append("nothing moves")
        return out
    # What lies still at the end has no keys there, so the last one may lie before it.
    if samples[0] < out["from"] or samples[-1] > out["to"]:
        wrong.append(
            f"samples from {samples[0]} to {samples[-1]}, the stage says {out['from']} to {out['to']}"
        )
    cache = UsdGeom.XformCache(Usd.TimeCode(samples[-1]))
    position, rotation = trajectory["position"], trajectory["rotation"]
    shift = turn = 0.0
    compared = 0
    for prim in animated:
        body = number(prim)
        if body is None or body >= position.shape[1] or not np.isfinite(position[-1, body, 0]):
            continue
        have = np.array(cache.GetLocalToWorldTransform(prim)).T * stage_unit(stage)
        have_rotation = have[:3, :3] / np.cbrt(np.linalg.det(have[:3, :3]))
        shift = max(shift, float(np.abs(have[:3, 3] - position[-1, body]).max()))
        turn = max(turn, float(np.abs(have_rotation - readers.quaternion_matrix(rotation[-1, body])).max()))
        compared += 1
    out.update(compared=compared, metres=shift, turn=turn)
    if not compared or shift > 1e-4 or turn > 1e-3:
        wrong.append(
            f"the last pose is {shift:.3g} m and {turn:.3g} (entries of the rotation) off, over {compared} pieces"
        )
    return out


def as_text(path, wrong):
    """Whether a binary layer is that of the text beside it; None where there is none."""
    beside = path.with_suffix(".usda")
    if path.suffix != ".usdc" or not beside.is_file():
        return None
    binary, text = (Sdf.Layer.FindOrOpen(str(p)).ExportToString().splitlines() for p in (path, beside))
    lines = [i for i, (a, b) in enumerate(zip(binary, text)) if a != b]
    if lines or len(binary) != len(text):
        wrong.append(f"{len(lines)} lines differ from {beside.name}, the first is {lines[:1]}; {len(binary)}, {len(text)} lines")
    return not lines and len(binary) == len(text)


def stage_unit(stage):
    """Metres a unit."""
    return UsdGeom.GetStageMetersPerUnit(stage)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--trajectory", type=Path)
    parser.add_argument("--report", type=Path)
    parser.add_argument("--json")
    options = parser.parse_args()
    trajectory = np.load(options.trajectory) if options.trajectory else None
    results = []
    for path in options.files:
        older = compliance(path)
        stage = Usd.Stage.Open(str(path))
        newer, wrong = validation(stage), []
        for name, found in (("usdchecker", older), ("validation", newer)):
            if found:
                wrong += [f"{name}: {e}" for e in found[0]] + [f"{name} warns: {w}" for w in found[1]]
        if older is None and newer is None:
            wrong.append("this library has no checker")
        meshes = [p for p in stage.Traverse() if p.IsA(UsdGeom.Mesh)]
        result = {
            "file": str(path),
            "usd": ".".join(map(str, Usd.GetVersion())),
            "default_prim": str(stage.GetDefaultPrim().GetPath()),
            "up": UsdGeom.GetStageUpAxis(stage),
            "metres": stage_unit(stage),
            "meshes": len(meshes),
            "rigid_bodies": sum(p.HasAPI(UsdPhysics.RigidBodyAPI) for p in stage.Traverse()),
            "colliders": sum(p.HasAPI(UsdPhysics.CollisionAPI) for p in stage.Traverse()),
            "compliance": [len(x) for x in older] if older else None,
            "validation": [len(x) for x in newer] if newer else None,
            **masses(stage, wrong, options.report, trajectory),
            "motion": motion(stage, wrong, trajectory),
            "as_text": as_text(path, wrong),
        }
        result.update(faults=wrong, ok=not wrong)
        results.append(result)
        print(json.dumps({k: v for k, v in result.items() if k != "faults"}))
        for fault in wrong[:20]:
            print(f"{path}: {fault}", file=sys.stderr)
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1))
    sys.exit(0 if all(r["ok"] for r in results) else 1)


if __name__ == "__main__":
    main()
