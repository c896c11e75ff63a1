<?php
if (($_COOKIE['theme'] ?? '') == 'dark') echo 'REACHED';
