breaks cas Char con doe els floats fo iff in lon ret size structs voids While IF
