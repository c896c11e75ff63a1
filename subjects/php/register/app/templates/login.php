<section id="login">
<h2>Please log in</h2>
<?php if ($error != '') { ?>
<div class="error">
<p><?php echo e($error); ?></p>
</div>
<?php
}
$form = new Form('login');
$form->text('login', 'Name', input('login'));
$form->text('password', 'Password', '', 'password');
$form->end('Log in', 'enter');
?>
</section>
