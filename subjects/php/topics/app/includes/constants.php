<?php
$userTag = 'user';
$pwTag = 'pw';
$typeTag = 'type';
$topicTag = 'topic';
$authTag = 'auth';
function check_password($user, $pw) {
  return $pw == 'x';
}
?>
