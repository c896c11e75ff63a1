<ul>
<?php foreach (query('SELECT id FROM ticket') as $ticket) { ?>
<li><a href="ticket.php?id=<?= $ticket['id'] ?>">ticket</a>
<a href="ticket.php?id=<?= $ticket['id'] ?>&amp;as=text">as text</a></li>
<?php } ?>
</ul>
