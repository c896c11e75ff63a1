Part one <?= $i ?>

<?php return 'one';
