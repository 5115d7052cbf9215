//! Invariants of every forest, as a check for tests and reports.

use super::forest::{NONE, SphereForest};

impl SphereForest {
    /// Checks that every point is reached exactly once from the roots, every sphere contains all points below it, and
    /// levels grow downwards.
    ///
    /// # Errors
    /// The violated invariant, in a sentence.
    pub fn validate(&self) -> Result<(), String> {
        let mut met = vec![0u32; self.points.len()];
        let mut path = Vec::new();
        for &root in &self.roots {
            self.validate_below(root as usize, &mut path, &mut met)?;
        }
        match met.iter().position(|times| *times != 1) {
            Some(point) => Err(format!("point {point} is in the forest {} times", met[point])),
            None => Ok(()),
        }
    }

    fn validate_below(&self, index: usize, path: &mut Vec<usize>, met: &mut [u32]) -> Result<(), String> {
        let node = &self.nodes[index];
        let point = &self.points[node.point as usize];
        if node.is_first {
            met[node.point as usize] += 1;
            let parent = path.last().map_or(NONE, |above| self.nodes[*above].point);
            if point.parent != parent {
                return Err(format!(
                    "point {} lies below {parent} and its parent is {}",
                    node.point, point.parent
                ));
            }
            let outside = |above: &&usize| {
                let sphere = &self.nodes[**above];
                sphere.centre.distance(point.position) > sphere.radius
            };
            if let Some(above) = path.iter().find(outside) {
                return Err(format!("sphere {above} does not hold point {}", node.point));
            }
        }
        path.push(index);
        let mut below: Vec<usize> = self.children[node.children.0 as usize..node.children.1 as usize]
            .iter()
            .map(|child| *child as usize)
            .collect();
        if !node.is_last {
            below.push(index + 1);
        }
        for next in below {
            if self.nodes[next].level <= node.level {
                return Err(format!("sphere {next} is not below sphere {index}"));
            }
            self.validate_below(next, path, met)?;
        }
        path.pop();
        Ok(())
    }
}
