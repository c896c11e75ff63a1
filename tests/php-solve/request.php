<?php
if (isset($_REQUEST['op']) && $_REQUEST['op'] == 'go') echo 'REACHED';
