<?php
// A question with its answer.

class Entry {
  public $id = 0;
  public $topicId = 0;
  public $question = '';
  public $answer = '';
  public $status = 'draft';
  public $author = '';
  public $created = '';
  public $views = 0;
  public $helpful = 0;
  public $unhelpful = 0;

  public static function fromRow($row) {
    $entry = new Entry();
    $entry->id = (int) $row['id'];
    $entry->topicId = (int) $row['topic_id'];
    $entry->question = $row['question'];
    $entry->answer = $row['answer'];
    $entry->status = $row['status'];
    $entry->author = $row['author'];
    $entry->created = $row['created'];
    $entry->views = (int) $row['views'];
    $entry->helpful = (int) $row['helpful'];
    $entry->unhelpful = (int) $row['unhelpful'];
    return $entry;
  }

  public static function load($id) {
    $row = db_row('SELECT * FROM entries WHERE id = ?', array($id));
    return $row === null ? null : self::fromRow($row);
  }

  public static function find($where, $args, $order, $limit = -1, $from = 0) {
    $rows = db_all("SELECT * FROM entries WHERE $where ORDER BY $order"
      . ' LIMIT ? OFFSET ?', array_merge($args, array($limit, $from)));
    return array_map('Entry::fromRow', $rows);
  }

  public static function count($where, $args = array()) {
    return (int) db_value("SELECT COUNT(*) FROM entries WHERE $where", $args);
  }

  public function isVisible() {
    return $this->status == 'published' || has_role('editor');
  }

  public function topic() {
    return db_row('SELECT * FROM topics WHERE id = ?', array($this->topicId));
  }

  public function tags() {
    $tags = array();
    foreach (db_all('SELECT tag FROM tags WHERE entry_id = ? ORDER BY tag',
      array($this->id)) as $row) {
      $tags[] = $row['tag'];
    }
    return $tags;
  }

  public function related() {
    $rows = db_all('SELECT e.* FROM entries e JOIN links l'
      . ' ON l.related_id = e.id WHERE l.entry_id = ? ORDER BY e.id',
      array($this->id));
    return array_map('Entry::fromRow', $rows);
  }

  public function comments($replyTo = 0) {
    return db_all('SELECT * FROM comments WHERE entry_id = ? AND reply_to = ?'
      . ' ORDER BY id', array($this->id, $replyTo));
  }

  // The neighbours in the topic: (previous or null, next or null).
  public function neighbours() {
    $before = self::find("topic_id = ? AND id < ? AND status = 'published'",
      array($this->topicId, $this->id), 'id DESC', 1);
    $after = self::find("topic_id = ? AND id > ? AND status = 'published'",
      array($this->topicId, $this->id), 'id', 1);
    return array($before[0] ?? null, $after[0] ?? null);
  }

  public function save() {
    $values = array($this->topicId, $this->question, $this->answer,
      $this->status, $this->author);
    if ($this->id == 0) {
      $values[] = setting('today');
      db_run('INSERT INTO entries (topic_id, question, answer, status, author,'
        . ' created) VALUES (?, ?, ?, ?, ?, ?)', $values);
      $this->id = (int) db()->lastInsertId();
    } else {
      $values[] = $this->id;
      db_run('UPDATE entries SET topic_id = ?, question = ?, answer = ?,'
        . ' status = ?, author = ? WHERE id = ?', $values);
    }
  }

  public function setTags($text) {
    db_run('DELETE FROM tags WHERE entry_id = ?', array($this->id));
    foreach (preg_split('/[\s,]+/', $text, -1, PREG_SPLIT_NO_EMPTY) as $tag) {
      db_run('INSERT INTO tags VALUES (?, ?)', array($this->id, $tag));
    }
  }
}
