<?php
if (isset($_FILES['doc'])) { if (str_ends_with($_FILES['doc']['name'], '.csv')) echo 'REACHED'; }
