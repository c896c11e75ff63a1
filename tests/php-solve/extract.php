<?php
extract($_GET); if (isset($_GET['who']) && ($who ?? '') == 'me') echo 'REACHED';
