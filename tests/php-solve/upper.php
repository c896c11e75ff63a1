<?php
if (strtoupper($_GET['s'] ?? '') === 'LOUD') echo 'REACHED';
