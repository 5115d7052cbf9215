// How the descent below the transition level (2018, sec. 5.3) writes its pairs: (object, node) with
//   list_first   index of the crossed transition voxel in `records`
//   list_count   0: no crack comes here, the node is wholly the object's
//                else bits 0..24: triangles that touch the node; CROSSED is always set, DEAD where nothing is the object's
//#include fracture/voronoi/surface/rough/touch
//#include fracture/voronoi/surface/rough/sides
//#include fracture/voronoi/exact

const CROSSED: u32 = 0x40000000u;
const DEAD: u32 = 0x80000000u;
const TRIANGLES: u32 = 0xffffffu;

// Low corner of a node of `level`, in units of its transition voxel.
fn node_in_voxel(key: u32, level: u32, transition: u32) -> vec3<i32> {
    let below = level - transition;
    return vec3<i32>(morton_decode(key & ((1u << (3u * below)) - 1u))) * (CRACK_EDGE >> below);
}

// Centre of octant c of a node, and half its edge, in the same units.
fn octant_half(child_level: u32, transition: u32) -> i32 {
    return CRACK_EDGE >> (child_level - transition + 1u);
}

fn octant_centre(key: u32, c: u32, child_level: u32, transition: u32) -> vec3<i32> {
    let half = octant_half(child_level, transition);
    return node_in_voxel(key, child_level - 1u, transition) + half * (2i * crack_corner(c) + vec3<i32>(1i));
}

// What one octant of a crossed node is to an object: TAKES a part of it, all of it (HOLDS), or nothing. `touched`
// are the triangles that touch it, `whole` says that it lies inside the source, so that its side is decided here
// and now; a boundary octant that no triangle touches is left to its leaves where triangles vote.
const NOTHING: u32 = 0u;
const TAKES: u32 = 1u;
const HOLDS: u32 = 2u;

fn octant_state(object: u32, touched: u32, centre: vec3<i32>, whole: bool, votes: bool) -> u32 {
    if votes && !whole {
        return TAKES;
    }
    if touched != 0u {
        return select(NOTHING, TAKES, (touched & triangles_of(object)) != 0u);
    }
    return select(NOTHING, HOLDS, cone_object(centre) == object);
}
