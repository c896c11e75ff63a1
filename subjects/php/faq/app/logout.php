<?php
require 'includes/start.php';
if (current_user() !== null) {
  unset($_SESSION['user_id']);
  flash('Good bye.');
}
redirect('index.php');
