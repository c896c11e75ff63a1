12ab 1x 9_ 0z 1.5x 2e5y 3abc4
