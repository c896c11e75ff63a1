<section class="refused">
<h2><?php echo e($reason); ?></h2>
<?php if ($user->role == 'student' || $user->role == 'parent') { ?>
<p>Ask the office if you think this is wrong.</p>
<?php } else { ?>
<p><?php echo anchor('home', array(), 'Back to the start'); ?></p>
<?php } ?>
</section>
