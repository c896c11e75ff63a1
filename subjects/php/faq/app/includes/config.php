<?php
// Settings of the FAQ manager that do not live in the database.
define('FAQ_TITLE', 'Frequently asked');
define('FAQ_ROOT', dirname(__DIR__));
define('FAQ_SCHEMA', dirname(FAQ_ROOT) . '/schema.sql');
define('FAQ_DB', getenv('FAQ_DB') ?: dirname(FAQ_ROOT) . '/data/faq.sqlite');
define('MAX_QUESTION', 80);
define('MAX_COMMENT', 200);

$roles = array('reader' => 1, 'editor' => 2, 'admin' => 3);
$statuses = array(
  'published' => 'Published',
  'pending' => 'Waiting for an answer',
  'draft' => 'Draft',
);
$months = array('January', 'February', 'March', 'April', 'May', 'June', 'July',
  'August', 'September', 'October', 'November', 'December');
