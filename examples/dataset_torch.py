"""A data set in PyTorch: a Dataset over kintsugi.data with collate, and a baseline that shows that it trains.

    pip install kintsugi torch
    kintsugi dataset examples/dataset.toml --out set/
    python examples/dataset_torch.py set/ --epochs 20
    python examples/dataset_torch.py set/recipe.json --keep made/     # without the set: breaks are made when they are used

The baseline says of two pieces, each in a random pose, whether they touch, from their points alone: a small net in the
manner of PointNet (Qi and others 2017) makes a vector of each piece, a second one compares two vectors. It prints its
accuracy on objects that it has not seen beside the share of the more frequent answer. Works with torch 1.13 and later.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from kintsugi.data import Breaks, Recipe


class BrokenObjects(Dataset):
    """Breaks as tensors; P pieces (those with points, the largest `most` of them), n points each.

    `source` is the folder of a set, or a recipe, whose meshes are looked for in `meshes` and whose breaks stay in `keep`.
    """

    def __init__(self, source, split, points=256, most=20, *, meshes=None, keep=None):
        is_set = Path(source).is_dir()
        self.breaks = Breaks(source, split) if is_set else Recipe(source, meshes, split, folder=keep)
        self.points, self.most = points, most

    def __len__(self):
        return len(self.breaks)

    def __getitem__(self, index):
        broken = self.breaks[index]
        has_points = np.flatnonzero(np.diff(broken.point_start) > 0)[: self.most]
        if len(has_points) == 0:
            raise SystemExit(f"{broken.name} has no points; make the set with points in [dataset]")
        # The same choice of points whenever this break is read.
        random = np.random.default_rng(index)
        places, normals, cracks = [], [], []
        for k in has_points:
            piece = broken.piece_points(k)
            rows = random.choice(len(piece.positions), self.points, replace=len(piece.positions) < self.points)
            turn = broken.start_matrix(k)[:3, :3]
            places.append((piece.positions[rows] - broken.centre[k]) @ turn.T)
            normals.append(piece.normals[rows] @ turn.T)
            cracks.append(piece.crack[rows])
        # Lengths as shares of the object's.
        size = np.ptp(broken.bounds.reshape(-1, 3), axis=0).max()
        return {
            "name": broken.name,
            "points": torch.from_numpy(np.stack(places) / size).float(),  # (P, n, 3), in the start pose
            "normals": torch.from_numpy(np.stack(normals)).float(),  # (P, n, 3)
            "crack": torch.from_numpy(np.stack(cracks)).float(),  # (P, n)
            "rotation": torch.from_numpy(broken.start_rotation[has_points]).float(),  # (P, 4) x, y, z, w
            "centre": torch.from_numpy(broken.centre[has_points] / size).float(),  # (P, 3)
            "touching": torch.from_numpy(broken.adjacency[np.ix_(has_points, has_points)]),  # (P, P)
        }


def collate(batch):
    """B breaks padded with zeros to the most pieces among them; `mask` (B, P) is true for pieces that are there."""
    most = max(len(item["points"]) for item in batch)
    out = {"name": [item["name"] for item in batch]}
    out["mask"] = torch.stack([torch.arange(most) < len(item["points"]) for item in batch])
    for key in ("points", "normals", "crack", "rotation", "centre"):
        first = batch[0][key]
        whole = torch.zeros(len(batch), most, *first.shape[1:])
        for row, item in enumerate(batch):
            whole[row, : len(item[key])] = item[key]
        out[key] = whole
    out["touching"] = torch.zeros(len(batch), most, most, dtype=torch.bool)
    for row, item in enumerate(batch):
        count = len(item["touching"])
        out["touching"][row, :count, :count] = item["touching"]
    return out


class Touching(nn.Module):
    """Logits (B, P, P) that two pieces touch; symmetric."""

    def __init__(self, width=64):
        super().__init__()
        self.each = nn.Sequential(nn.Linear(7, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))
        self.pair = nn.Sequential(nn.Linear(3 * width, width), nn.ReLU(), nn.Linear(width, 1))

    def forward(self, batch):
        points = torch.cat([batch["points"], batch["normals"], batch["crack"][..., None]], dim=-1)
        piece = self.each(points).max(dim=2).values  # the order of points does not matter
        first, second = piece[:, :, None], piece[:, None]
        # What does not change where the two are exchanged.
        both = torch.cat([first + second, (first - second).abs(), first * second], dim=-1)
        return self.pair(both)[..., 0]


def pairs_of(batch):
    """(B, P, P) true for each pair of pieces that are there, once."""
    mask = batch["mask"]
    return torch.triu(mask[:, :, None] & mask[:, None], diagonal=1)


@torch.no_grad()
def measure(net, loader):
    """Share of right answers, and the share of the more frequent answer."""
    right = total = touching = 0
    for batch in loader:
        pairs = pairs_of(batch)
        answer, truth = net(batch)[pairs] > 0, batch["touching"][pairs]
        right += int((answer == truth).sum())
        touching += int(truth.sum())
        total += truth.numel()
    return right / max(total, 1), max(touching, total - touching) / max(total, 1), total


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path, help="folder that `kintsugi dataset` wrote, or a recipe.json")
    parser.add_argument("--meshes", type=Path, help="folder of the meshes of a recipe")
    parser.add_argument("--keep", type=Path, help="folder in which the breaks of a recipe stay; else each epoch makes them again")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--points", type=int, default=256, help="points of each piece")
    parser.add_argument("--pieces", type=int, default=20, help="largest pieces of each break that are looked at")
    parser.add_argument("--workers", type=int, default=0, help="processes that read")
    given = parser.parse_args()

    torch.manual_seed(0)
    # A small set may have no objects in one of the parts.
    more = {"meshes": given.meshes, "keep": given.keep}
    seen, *parts = (
        BrokenObjects(given.source, split, given.points, given.pieces, **more) for split in ("train", "test", "val")
    )
    unseen = next((part for part in parts if len(part)), None)
    if len(seen) == 0 or unseen is None:
        raise SystemExit("the set has too few objects: it needs one in train and one in val or test")
    options = {"batch_size": given.batch, "collate_fn": collate, "num_workers": given.workers}
    train, test = DataLoader(seen, shuffle=True, **options), DataLoader(unseen, **options)

    net = Touching()
    optimiser = torch.optim.Adam(net.parameters(), lr=1e-3)
    began = time.monotonic()
    for epoch in range(1, given.epochs + 1):
        losses = []
        for batch in train:
            pairs = pairs_of(batch)
            if not pairs.any():
                continue
            loss = nn.functional.binary_cross_entropy_with_logits(net(batch)[pairs], batch["touching"][pairs].float())
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
        right, majority, _ = measure(net, test)
        print(f"epoch {epoch}: loss {np.mean(losses):.3f}, right {right:.3f}, {time.monotonic() - began:.0f} s", flush=True)
    right, majority, total = measure(net, test)
    print(f"of {total} pairs of unseen objects {100 * right:.1f} % right; the more frequent answer is {100 * majority:.1f} %")


if __name__ == "__main__":
    main()
