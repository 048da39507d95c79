module edgeweave

go 1.21
