1u 1U 1l 1L 0u 0x1u 077L 12uu 5ul 3u4
