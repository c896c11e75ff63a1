<?php
if (!empty($_POST['name'])) echo 'REACHED';
