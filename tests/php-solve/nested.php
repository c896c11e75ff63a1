<?php
if (isset($_POST['f']['a']) && $_POST['f']['a'] == 'deep') echo 'REACHED';
