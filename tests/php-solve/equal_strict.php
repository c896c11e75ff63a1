<?php
if (($_POST['pw'] ?? '') === 'secret') echo 'REACHED';
