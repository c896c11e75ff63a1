1e 1e+ 2.5e- 3E; 0e .5e
