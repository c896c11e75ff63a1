<?php
if (ucfirst($_GET['s'] ?? '') === 'Name') echo 'REACHED';
