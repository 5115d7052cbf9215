// The fracture boundary set below crack surfaces, with its attributes.
//#include fracture/voronoi/surface/rough/attributes
//#include fracture/voronoi/surface/rough/copying
//#include fracture/voronoi/surface/rough/records
