// The fracture boundary set of a dusty fracture, with its attributes.
//#include fracture/voronoi/surface/dusty/attributes
//#include fracture/voronoi/surface/dusty/records
//#include fracture/voronoi/surface/rough/copying
