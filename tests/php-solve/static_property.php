<?php
class S { static $v; } S::$v = $_GET['v'] ?? ''; if (S::$v === 'st') echo 'REACHED';
