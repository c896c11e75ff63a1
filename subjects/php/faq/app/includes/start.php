<?php
// What every page needs.
require_once __DIR__ . '/config.php';
require_once __DIR__ . '/db.php';
require_once __DIR__ . '/auth.php';
require_once __DIR__ . '/html.php';
require_once __DIR__ . '/entry.php';
require_once __DIR__ . '/markup.php';
require_once __DIR__ . '/pager.php';
