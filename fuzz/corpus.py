"""Writes the small files of fuzz/corpus anew: python3 fuzz/corpus.py. Sound ones, and under names that begin with "bad"
those that are refused; fuzz/draco.mjs writes those that Draco packs. What fuzzing found lies beside them as "bad-found-..."
or "found-..." and is left alone."""

from samples import gltf, meshes, results, scenes, usd

ALL = (
    meshes.obj, meshes.ply, meshes.stl, meshes.off, gltf.gltf, meshes.vox, usd.usda, usd.usdc, usd.usdz, meshes.fbx,
    scenes.scene, scenes.seeds, results.folders, scenes.presets, scenes.jobs, scenes.small, results.repeated, results.results,
)

for make in ALL:
    make()
