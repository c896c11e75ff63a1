<?php
switch ($n) {
  case 1:
    echo "one";
    break;
  default:
    echo "other";
}
