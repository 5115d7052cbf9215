//! Figures 7 and 12: the tree of spheres over sites, and the tree of boxes over Morton codes.
//!
//! In: the sites of figure 3; ten bodies on the ground. Out: drawings and tables of the trees that box cutting and the
//! search for near pairs build of them.

use std::sync::Arc;

use glam::DVec3;

use super::{
    super::{
        entry::{Made, NOTHING, Table, number},
        of_glondu::resting,
        svg::{Anchor, COLORS, Drawing, FAINT, INK, Pen},
        work::Work,
    },
    axes::prism,
    flat::{SITES, cells, in_plane, outline, place},
};
use crate::{
    bodies::{
        World, WorldSettings,
        broad_phase::{
            MANY, bounds,
            tree::{CODE_BITS, Child, Tree},
        },
    },
    cli::CliError,
    fracture::box_cut::{NearestBy, SphereNode, sphere_nodes},
    geometry::Aabb,
};

/// Colour of cells and boxes.
const AREA: &str = "#f1efea";

/// The colour of a level of a tree.
fn color(level: usize) -> &'static str {
    COLORS[level % COLORS.len()]
}

/// The letter of a node of the sphere tree.
fn letter(node: u32) -> String {
    char::from_u32(u32::from('A') + node).map_or_else(|| node.to_string(), String::from)
}

/// By site: its place in the order of insertion, from 1.
fn insertions(nodes: &[SphereNode]) -> [u32; SITES.len()] {
    let mut numbers = [1; SITES.len()];
    for (node, number) in nodes.iter().zip(2..) {
        numbers[node.sites[1] as usize] = number;
    }
    numbers
}

/// The lower left and the upper right corner of the drawing of figure 7, units of the sites.
const FRAME: [[f64; 2]; 2] = [[-20.0, 20.0], [3400.0, 1480.0]];
/// Where the cells and the tree stand in it.
const LEFT: [f64; 2] = [0.0, 220.0];
const RIGHT: [f64; 2] = [1980.0, 0.0];

fn moved([x, y]: [f64; 2], by: [f64; 2]) -> [f64; 2] {
    [x + by[0], y + by[1]]
}

/// Figure 7.
pub fn spheres(work: &mut Work<'_>) -> Result<Made, CliError> {
    let nodes = sphere_nodes(&in_plane(&SITES));
    let numbers = insertions(&nodes);
    let [low, high] = FRAME;
    let mut drawing = Drawing::new(low, high, 1080.0);
    for cell in &cells(&SITES) {
        let corners: Vec<[f64; 2]> = outline(cell).into_iter().map(|corner| moved(corner, LEFT)).collect();
        drawing.polygon(&corners, &Pen { area: AREA, ..Pen::default() });
    }
    let at = |site: u32| moved(place(SITES[site as usize]), RIGHT);
    for node in &nodes {
        drawing.circle(at(node.sites[0]), node.radius, &Pen::line(color(node.level as usize), 1.2));
    }
    for node in &nodes {
        let [initial, inserted] = node.sites.map(at);
        drawing.arrow(initial, inserted, &Pen::line(color(node.level as usize), 2.0));
    }
    for panel in [LEFT, RIGHT] {
        for (site, number) in SITES.iter().zip(numbers) {
            let at = moved(place(*site), panel);
            drawing.dot(at, 4.0, INK);
            drawing.text(moved(at, [46.0, 40.0]), &number.to_string(), 15.0, Anchor::Middle, INK);
        }
    }
    let mut table = Table::new(
        "Nodes of the tree; sites by the order of insertion",
        &[
            "node",
            "round",
            "initial site",
            "inserted site",
            "radius, units",
            "child nearer to the initial",
            "other child",
        ],
    );
    for (node, k) in nodes.iter().zip(0u32..) {
        // Letters stand at different angles, since circles of parent and child may have one centre.
        let (sine, cosine) = libm::sincos(0.4 + 0.8 * f64::from(k));
        let label = moved(at(node.sites[0]), [node.radius * cosine, node.radius * sine]);
        drawing.dot(label, 9.0, "#ffffff");
        drawing.text(label, &letter(k), 13.0, Anchor::Middle, color(node.level as usize));
        let [initial, inserted] = node.sites.map(|site| numbers[site as usize].to_string());
        let [near, other] = node.children.map(|child| child.map_or_else(|| NOTHING.to_owned(), letter));
        let round = (node.level + 1).to_string();
        table.row([letter(k), round, initial, inserted, number(Some(node.radius), 1), near, other]);
    }
    work.write("spheres.svg", &drawing.svg())?;
    let caption = "Voronoi cells of nine sites with the order of insertion (left) and the tree (right): an arrow goes from the \
                   initial site of a node to the site that the node inserts, its circle stands round the initial site and holds \
                   all sites below. Colours are rounds: blue is the root.";
    let of_shape = "The tree has the paper's shape: two sites a node, of which a child takes one over as its initial site; up to \
                    two children a node in a round; the radius reaches from the initial site to the farthest one below. What \
                    differs is the choice: the paper takes two random sites for the root, and later the one of least number or \
                    any. Here the one of least hash of its number is inserted, at the root as well, so that neither threads nor \
                    the order of the sites change the tree.";
    let of_search = format!(
        "Box cutting searches this tree on the cores from {} sites on, since a scan over fewer is as fast (figure \
         14). A search returns several neighbours at once, where the paper's returns one, and leaves out what lies \
         beyond the plane between the two sites of a node. Passes on a device have bins of a grid in place of the \
         tree. The paper's drawing comes without coordinates, so the sites are others.",
        NearestBy::TREE_FROM
    );
    Ok(Made::picture("spheres.svg", caption).table(table).note(of_shape).note(of_search))
}

/// Middles of the bodies of figure 12 from above, decimetres.
const PLACES: [[i16; 2]; 10] =
    [[10, 20], [35, 10], [22, 50], [60, 25], [50, 70], [85, 55], [110, 15], [125, 40], [100, 80], [140, 75]];

/// World boxes of the bodies of figure 12.
fn boxes() -> Vec<(u32, Aabb)> {
    let shape = Arc::new(prism(&[[-0.6, -0.6], [0.6, -0.6], [0.6, 0.6], [-0.6, 0.6]]));
    let mut world = World::on_cpu(WorldSettings::default());
    for [x, y] in PLACES.map(|place| place.map(|at| 0.1 * f64::from(at))) {
        world.add(resting(&shape, 6, DVec3::new(x, y, 0.0)));
    }
    let all = world.bodies.iter().filter_map(|body| bounds(body, 0.0, 0.0, DVec3::ZERO));
    (0..).zip(all.map(|obb| obb.aabb())).collect()
}

/// The codes of a tree in binary digits.
fn codes(tree: &Tree) -> Vec<String> {
    tree.leaves.iter().map(|(code, _)| format!("{code:0width$b}", width = CODE_BITS as usize)).collect()
}

/// How many digits two codes begin with alike.
fn alike(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}

/// By code: how many digits it has in common with one of its neighbours, at most.
fn in_common(codes: &[String]) -> Vec<usize> {
    let beside: Vec<usize> = codes.windows(2).map(|pair| alike(&pair[0], &pair[1])).collect();
    let at = |k: Option<usize>| k.and_then(|k| beside.get(k)).copied().unwrap_or_default();
    (0..codes.len()).map(|k| at(Some(k)).max(at(k.checked_sub(1)))).collect()
}

/// Digits that are enough to tell all codes apart, whole triples.
fn enough(in_common: &[usize]) -> usize {
    let most = in_common.iter().max().map_or(0, |most| most + 1);
    most.next_multiple_of(3).min(CODE_BITS as usize)
}

/// By inner node: how many nodes are above it.
fn depths(tree: &Tree) -> Vec<usize> {
    let mut depths = vec![0; tree.nodes.len()];
    let mut open = vec![(0u32, 0)];
    while let Some((k, depth)) = open.pop() {
        let Some(node) = tree.nodes.get(k as usize) else { continue };
        depths[k as usize] = depth;
        for child in node.children {
            if let Child::Inner(child) = child {
                open.push((child, depth + 1));
            }
        }
    }
    depths
}

/// Pixels between two codes, rows of nodes and digits; where the codes begin.
const STEP: f64 = 62.0;
const ROW: f64 = 46.0;
const LINE: f64 = 15.0;
const CODES: f64 = 470.0;

/// The bodies from above, and the tree over their codes.
fn drawn(boxes: &[(u32, Aabb)], tree: &Tree) -> Drawing {
    let (codes, depths) = (codes(tree), depths(tree));
    let in_common = in_common(&codes);
    let digits = enough(&in_common);
    let rows = depths.iter().max().map_or(0, |most| most + 1);
    let column = |leaf: u32| CODES + STEP * (f64::from(leaf) + 0.5);
    let height = |depth: usize| ROW * (rows - depth) as f64 - 10.0;
    let high = [CODES + STEP * codes.len() as f64, ROW * rows as f64 + 20.0];
    let mut drawing = Drawing::new([0.0, -40.0 - LINE * digits as f64], high, 1080.0);
    // Arrows to children lie below the nodes.
    for (node, depth) in tree.nodes.iter().zip(&depths) {
        for (child, leaf) in node.children.into_iter().zip([node.split(), node.split() + 1]) {
            let end = match child {
                Child::Inner(child) => height(depths[child as usize]) + 9.0,
                Child::Leaf(_) => 2.0,
            };
            drawing.arrow([column(leaf), height(*depth)], [column(leaf), end], &Pen::line(FAINT, 1.2));
        }
    }
    for ((node, depth), k) in tree.nodes.iter().zip(&depths).zip(0u32..) {
        let (y, split) = (height(*depth), column(node.split()) + 0.5 * STEP);
        let end = if node.first == k { column(node.last) + 8.0 } else { column(node.first) - 8.0 };
        drawing.arrow([column(k), y], [end, y], &Pen::line(color(*depth), 3.0));
        drawing.line([split, y - 9.0], [split, y + 9.0], &Pen::line(INK, 2.0));
        drawing.dot([column(k), y], 9.0, color(*depth));
        drawing.text([column(k), y], &k.to_string(), 11.0, Anchor::Middle, "#ffffff");
    }
    for ((code, common), k) in codes.iter().zip(in_common).zip(0u32..) {
        drawing.text([column(k), -12.0], &k.to_string(), 13.0, Anchor::Middle, INK);
        for (place, digit) in code.chars().take(digits).enumerate() {
            let pen = if place < common { COLORS[0] } else { FAINT };
            let at = [column(k), -32.0 - LINE * place as f64];
            drawing.text(at, &digit.to_string(), 12.0, Anchor::Middle, pen);
        }
    }
    // The plan on the left, in the order of the codes.
    let whole = boxes.iter().fold(Aabb::NOTHING, |whole, (_, one)| whole.joined(*one));
    let scale = (CODES - 50.0) / whole.size().x.max(f64::MIN_POSITIVE);
    let on_plan = |at: DVec3| [(at.x - whole.low.x) * scale, (at.y - whole.low.y) * scale];
    let ordered: Vec<&Aabb> =
        tree.leaves.iter().filter_map(|(_, k)| boxes.get(*k as usize)).map(|(_, one)| one).collect();
    let middles: Vec<[f64; 2]> = ordered.iter().map(|one| on_plan(one.middle())).collect();
    drawing.chain(&middles, &Pen::line(COLORS[1], 1.2));
    for ((one, middle), k) in ordered.into_iter().zip(&middles).zip(0u32..) {
        drawing.rectangle(on_plan(one.low), on_plan(one.high), &Pen { area: AREA, ..Pen::default() });
        drawing.text(*middle, &k.to_string(), 13.0, Anchor::Middle, INK);
    }
    drawing
}

/// Figure 12.
pub fn hierarchy(work: &mut Work<'_>) -> Result<Made, CliError> {
    let boxes = boxes();
    let tree = Tree::over(&boxes);
    work.write("hierarchy.svg", &drawn(&boxes, &tree).svg())?;
    let codes = codes(&tree);
    let digits = enough(&in_common(&codes));
    let start = |leaf: u32, digits: usize| {
        codes.get(leaf as usize).and_then(|code| code.get(..digits)).unwrap_or_default().to_owned()
    };
    let mut table = Table::new(
        "Inner nodes over the ordered codes",
        &[
            "node",
            "begins with code",
            "direction",
            "ends at code",
            "digits in common",
            "split between",
            "children",
        ],
    );
    for (node, k) in tree.nodes.iter().zip(0u32..) {
        let (way, end) = if node.first == k { ("up", node.last) } else { ("down", node.first) };
        let common = alike(&start(node.first, CODE_BITS as usize), &start(node.last, CODE_BITS as usize));
        let [before, behind] = node.children.map(|child| match child {
            Child::Inner(k) => format!("node {k}"),
            Child::Leaf(k) => format!("code {k}"),
        });
        table.row([
            k.to_string(),
            start(k, digits),
            way.to_owned(),
            end.to_string(),
            start(k, common),
            format!("{} and {}", node.split(), node.split() + 1),
            format!("{before}, {behind}"),
        ]);
    }
    let caption = "Left: ten bodies from above, numbered and joined in the order of their codes. Right: their codes, first digit \
                   on top, and the nodes over them. A node (disc) stands above the code of its own number and reaches to the end \
                   of its thick arrow; it splits at the black stroke, and thin arrows lead from the two codes at the split to its \
                   children. Digits that a code has in common with a neighbour are blue.";
    let of_nodes = format!(
        "{} nodes over {} codes, as the paper's N - 1 over N. Direction, end and split follow from common digits by \
         the paper's rules; equal codes, on which the paper is silent, go on with the digits of their places.",
        tree.nodes.len(),
        tree.leaves.len()
    );
    let of_digits = format!(
        "A code has {CODE_BITS} digits, those of z, y and x in turn; the first {digits} are shown, which tell the codes \
         apart. All bodies lie at one height, so every third digit is 0."
    );
    let of_search = format!(
        "The tree is the one that the search for near pairs builds on the cores; the paper builds its own on a \
         device, a thread for each node, as the passes here do where there is a device. From {MANY} \
         bodies on every search uses such a tree; fewer are sorted along one axis and swept, unless their pairs are \
         kept for several steps. Ten are drawn, so that they fit on a page."
    );
    Ok(Made::picture("hierarchy.svg", caption).table(table).note(of_nodes).note(of_digits).note(of_search))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_site_is_inserted_once_and_every_circle_is_in_the_drawing() {
        let nodes = sphere_nodes(&in_plane(&SITES));
        let mut numbers = insertions(&nodes).to_vec();
        numbers.sort_unstable();
        assert_eq!(numbers, (1..=SITES.len() as u32).collect::<Vec<_>>());
        for node in &nodes {
            let [x, y] = moved(place(SITES[node.sites[0] as usize]), RIGHT);
            // Planted error to see this fail: a lower frame.
            assert!(x - node.radius > 1600.0 && x + node.radius < FRAME[1][0], "{node:?}");
            assert!(y - node.radius > FRAME[0][1] && y + node.radius < FRAME[1][1], "{node:?}");
        }
    }

    /// The sites below each node, by distances to the two sites of each node above.
    #[test]
    fn a_circle_reaches_to_the_farthest_site_below() {
        let nodes = sphere_nodes(&in_plane(&SITES));
        let apart = |a: u32, b: u32| {
            let [[ax, ay], [bx, by]] = [a, b].map(|site| place(SITES[site as usize]));
            ((ax - bx) * (ax - bx) + (ay - by) * (ay - by)).sqrt()
        };
        let mut farthest = vec![0.0f64; nodes.len()];
        for site in 0..SITES.len() as u32 {
            let mut at = Some(0u32);
            while let Some(k) = at {
                let [initial, inserted] = nodes[k as usize].sites;
                farthest[k as usize] = farthest[k as usize].max(apart(site, initial));
                let side = usize::from(apart(site, inserted) < apart(site, initial));
                at = nodes[k as usize].children[side].filter(|_| site != inserted && site != initial);
            }
        }
        for (node, far) in nodes.iter().zip(farthest) {
            // Planted error to see this fail: the distance to the inserted site as the radius.
            assert!((node.radius - far).abs() < 1e-3, "{node:?} {far}");
        }
    }

    /// Ranges and splits again, from the codes alone: a node is a longest run of codes with the same first digits, and
    /// its split is where the next digit turns from 0 to 1.
    #[test]
    fn ranges_and_splits_follow_from_the_digits() {
        let tree = Tree::over(&boxes());
        let codes = codes(&tree);
        assert_eq!((tree.nodes.len(), codes.len()), (PLACES.len() - 1, PLACES.len()));
        for node in &tree.nodes {
            let [first, last] = [node.first, node.last].map(|leaf| leaf as usize);
            let own = &codes[first][..alike(&codes[first], &codes[last])];
            let run: Vec<usize> = (0..codes.len()).filter(|k| codes[*k].starts_with(own)).collect();
            assert_eq!(run, (first..=last).collect::<Vec<_>>(), "{node:?}");
            let zeros = run.iter().filter(|k| codes[**k].as_bytes()[own.len()] == b'0').count();
            // Planted error to see this fail: the split of the second child.
            assert_eq!(node.split() as usize + 1, first + zeros, "{node:?}");
        }
    }

    #[test]
    fn every_code_has_its_digits_and_every_node_its_row_in_the_drawing() {
        let boxes = boxes();
        let tree = Tree::over(&boxes);
        let digits = enough(&in_common(&codes(&tree)));
        let mut starts: Vec<String> = codes(&tree).iter().map(|code| code[..digits].to_owned()).collect();
        assert!(starts.is_sorted());
        starts.dedup();
        // Planted error to see this fail: one triple of digits fewer.
        assert_eq!(starts.len(), PLACES.len());
        let texts = drawn(&boxes, &tree).svg().matches("<text").count();
        assert_eq!(texts, tree.nodes.len() + PLACES.len() * (digits + 2));
        // Nodes side by side do not overlap.
        let depths = depths(&tree);
        for (a, own) in tree.nodes.iter().zip(&depths) {
            let level = tree.nodes.iter().zip(&depths).filter(|(_, depth)| *depth == own);
            assert_eq!(level.filter(|(b, _)| a.first <= b.last && b.first <= a.last).count(), 1);
        }
    }
}
