// Which Voronoi cells come near each boundary voxel: what the preview writes and the picture reads to draw cracks
// on an object that is still whole.
//
//   words 0 .. 4 * seeds   the seeds: x, y, z in fixed point (i32), object id
//   then 8 words a voxel   word 0: cells in the list, SEAM_ALL where they do not fit and all seeds count; with SEAM_QUIET where they are
//                          of one object, so that no crack is near
//                          words 1..8: up to 14 cells, 16 bits each, the voxel's own first
//                          or word 0: SEAM_PLANES + n (0 without any), words 1..8: up to 7 planes as a
//                          leaf's second plane is packed (shared/octree), where cracks are no bisectors

const SEAM_WORDS = 8u;
const SEAM_CELLS = 14u;
const SEAM_ALL = 15u;
const SEAM_PLANES = 256u;
const SEAM_QUIET = 512u;
// A crack this near to a voxel is in its list: lines are never wider, units (16384 a grid side). SEAM_REACH of
// fracture/voronoi/seams.rs.
const SEAM_REACH = 128;
