café "café" // café
