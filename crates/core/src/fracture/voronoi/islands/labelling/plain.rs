//! The published labelling in plain loops over voxels in a hash map: no binary search, no bits, no groups at rest.
//! For tests.
//!
//! In: voxels by cell. Out: labels, iteration by iteration.

use std::collections::HashMap;

use crate::svo::morton;

use super::Voxels;

/// A labelling in progress.
#[derive(Clone, Debug)]
pub struct Plain {
    /// Per voxel.
    pub labels: Vec<u32>,
    /// Follow chains of labels to their ends in every iteration.
    pub flatten: bool,
    neighbours: Vec<Vec<usize>>,
    groups: Vec<usize>,
    group_count: usize,
}

impl Plain {
    /// Before the first iteration.
    #[must_use]
    pub fn new(voxels: &Voxels) -> Self {
        let places: Vec<[i64; 3]> =
            voxels.list.iter().map(|v| morton::decode(v.key).map(i64::from)).collect();
        let mut at: HashMap<(u32, [i64; 3]), usize> = HashMap::new();
        for (i, voxel) in voxels.list.iter().enumerate() {
            let edge = 1i64 << voxel.size_log2;
            for n in 0..edge.pow(3) {
                let offset = [n % edge, n / edge % edge, n / edge / edge];
                at.insert((voxel.group, [0, 1, 2].map(|a| places[i][a] + offset[a])), i);
            }
        }
        let mut neighbours = vec![Vec::new(); voxels.len()];
        for (i, voxel) in voxels.list.iter().enumerate() {
            let edge = 1i64 << voxel.size_log2;
            for n in 0..27 {
                let d = [n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1];
                let Some(&other) = at.get(&(voxel.group, [0, 1, 2].map(|a| places[i][a] + d[a] * edge)))
                else {
                    continue;
                };
                // The paper's 13: the layer below, the row behind, the voxel to the left.
                let looked_at = matches!(d, [_, _, -1] | [_, 1, 0] | [-1, 0, 0]);
                let is_face = d.iter().map(|v| v.abs()).sum::<i64>() == 1;
                let size = voxels.list[other].size_log2;
                if (looked_at && size >= voxel.size_log2) || (is_face && size > voxel.size_log2) {
                    neighbours[i].push(other);
                }
            }
        }
        Self {
            labels: (0..voxels.len() as u32).collect(),
            flatten: true,
            neighbours,
            groups: voxels.list.iter().map(|v| v.group as usize).collect(),
            group_count: voxels.cells.len(),
        }
    }

    /// One iteration. Returns how many labels changed, per group.
    pub fn step(&mut self) -> Vec<u32> {
        let mut next = self.labels.clone();
        for (i, neighbours) in self.neighbours.iter().enumerate() {
            let around = neighbours.iter().copied().chain([i]);
            let largest = around.clone().map(|j| self.labels[j]).max().unwrap_or_default();
            for j in around {
                next[j] = next[j].max(largest);
            }
        }
        let mut changes = vec![0; self.group_count];
        for i in 0..next.len() {
            let mut end = next[i];
            while self.flatten && next[end as usize] != end {
                end = next[end as usize];
            }
            changes[self.groups[i]] += u32::from(end != self.labels[i]);
            self.labels[i] = end;
        }
        changes
    }
}
