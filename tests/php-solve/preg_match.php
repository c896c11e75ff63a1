<?php
if (preg_match('/^[A-Z]{2}-\d{4}$/', $_GET['s'] ?? '')) echo 'REACHED';
