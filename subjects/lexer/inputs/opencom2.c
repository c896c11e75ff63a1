a /*/ b
