-- The FAQ manager's tables and first data. Dates are data: the application
-- never asks for the time, "today" is a setting.
-- Passwords: sha256(salt || password); root: secret, ella and nils: pencil,
-- guest: guest, gone: pencil (locked).
BEGIN;
CREATE TABLE settings (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
);
INSERT INTO settings VALUES ('today', '2011-05-17');
INSERT INTO settings VALUES ('per_page', '4');
INSERT INTO settings VALUES ('notice', 'The archive moves to a new disk on Friday.');

CREATE TABLE users (
  id INTEGER PRIMARY KEY,
  login TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  salt TEXT NOT NULL,
  hash TEXT NOT NULL,
  role TEXT NOT NULL,
  locked INTEGER NOT NULL DEFAULT 0
);
INSERT INTO users VALUES (1, 'root', 'The Administrator', '9f2c',
'4a5518cc4cb8b417c53bc6189a120413a857ba9ebaedf0cb142b13011f503ff7', 'admin', 0);
INSERT INTO users VALUES (2, 'ella', 'Ella Editor', '77aa',
'd67e348d461501c07428ea53b4ec41d17ddeae3f6cca32a428b5bea8e15968fb', 'editor', 0);
INSERT INTO users VALUES (3, 'nils', 'Nils O''Nib', '01be',
'b1ae905059f396a9b576f150701d6a66b6e039f3d02453145a86ad2d82241ad9', 'editor', 0);
INSERT INTO users VALUES (4, 'guest', 'A Guest', 'c0de',
'f26dde4274d19e0a801ccf01f8f7a8936a570b1ab23ede08a152b9b52330dfc7', 'reader', 0);
INSERT INTO users VALUES (5, 'gone', 'Long Gone', 'ffff',
'4e67fa8689d3ef602ccdc3439c9bcc5d24c1c8fef775a0d7e8a135acfc71b462', 'editor', 1);
CREATE TABLE topics (
  id INTEGER PRIMARY KEY,
  title TEXT NOT NULL,
  intro TEXT NOT NULL DEFAULT '',
  position INTEGER NOT NULL
);
INSERT INTO topics VALUES (1, 'Getting started', 'First steps for *everybody*.', 1);
INSERT INTO topics VALUES (2, 'Printing & paper', '', 2);
INSERT INTO topics VALUES (3, 'Network', 'Cables, plugs and the rest.', 3);
INSERT INTO topics VALUES (4, 'Attic', 'Nothing is kept here at the moment.', 4);

CREATE TABLE entries (
  id INTEGER PRIMARY KEY,
  topic_id INTEGER NOT NULL,
  question TEXT NOT NULL,
  answer TEXT NOT NULL DEFAULT '',
  status TEXT NOT NULL DEFAULT 'pending',
  author TEXT NOT NULL DEFAULT '',
  created TEXT NOT NULL,
  views INTEGER NOT NULL DEFAULT 0,
  helpful INTEGER NOT NULL DEFAULT 0,
  unhelpful INTEGER NOT NULL DEFAULT 0
);
INSERT INTO entries VALUES (1, 1, 'How do I log in?',
'Open the login page and type your name.

Then:

- type the password
- press *Enter*

If that fails see [[4]].', 'published', 'ella', '2011-01-03', 120, 9, 1);
INSERT INTO entries VALUES (2, 1, 'Where is the manual?',
'On the shelf.', 'published', 'ella', '2011-01-05', 40, 2, 2);
INSERT INTO entries VALUES (3, 1, 'How do I change my picture?',
'You cannot. Ask `root` for help.', 'published', 'nils', '2011-02-11', 7, 0, 0);
INSERT INTO entries VALUES (4, 1, 'I forgot my password',
'# go to the office
# show your card
# wait

  $ passwd --reset
  $ logout

Never write it down.', 'published', 'nils', '2011-02-12', 300, 20, 4);
INSERT INTO entries VALUES (5, 1, 'What is a *topic*?',
'A shelf for questions.', 'published', 'ella', '2011-03-01', 15, 1, 0);
INSERT INTO entries VALUES (6, 1, 'Who answers the questions?',
'- the editors
- sometimes the administrator', 'published', 'ella', '2011-03-02', 18, 3, 1);
INSERT INTO entries VALUES (7, 2, 'The printer is out of paper',
'Paper is in the <blue> cupboard & in room 3.

> Take one pack at a time.
> Write down your name.

See also [[8]] and [[99]].', 'published', 'nils', '2011-03-20', 77, 5, 5);
INSERT INTO entries VALUES (8, 2, 'Can I print on both sides?',
'Yes, with the option `-d`.', 'published', 'ella', '2011-03-21', 12, 1, 0);
INSERT INTO entries VALUES (9, 2, 'Why is everything pink?',
'', 'draft', 'ella', '2011-04-01', 0, 0, 0);
INSERT INTO entries VALUES (10, 3, 'Is there a wireless network?',
'There is, in the library.', 'published', 'ella', '2011-04-09', 55, 6, 0);
INSERT INTO entries VALUES (11, 3, 'My cable is broken',
'', 'pending', 'Ann Visitor', '2011-05-02', 0, 0, 0);
INSERT INTO entries VALUES (12, 2, 'May I bring my own paper?',
'', 'pending', '', '2011-05-16', 0, 0, 0);

CREATE TABLE tags (
  entry_id INTEGER NOT NULL,
  tag TEXT NOT NULL
);
INSERT INTO tags VALUES (1, 'login');
INSERT INTO tags VALUES (1, 'password');
INSERT INTO tags VALUES (4, 'password');
INSERT INTO tags VALUES (7, 'paper');
INSERT INTO tags VALUES (7, 'printer');
INSERT INTO tags VALUES (8, 'printer');

CREATE TABLE links (
  entry_id INTEGER NOT NULL,
  related_id INTEGER NOT NULL
);
INSERT INTO links VALUES (1, 4);
INSERT INTO links VALUES (4, 1);
INSERT INTO links VALUES (4, 3);
INSERT INTO links VALUES (7, 8);

CREATE TABLE comments (
  id INTEGER PRIMARY KEY,
  entry_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  body TEXT NOT NULL,
  created TEXT NOT NULL,
  reply_to INTEGER NOT NULL DEFAULT 0
);
INSERT INTO comments VALUES (1, 4, 'Otto', 'The office is closed on Mondays.', '2011-03-04', 0);
INSERT INTO comments VALUES (2, 4, 'ella', 'And on Tuesdays.', '2011-03-05', 1);
INSERT INTO comments VALUES (3, 4, '', 'Which card?', '2011-03-09', 0);
INSERT INTO comments VALUES (4, 7, 'Otto', 'Room 3 is locked <again>', '2011-04-01', 0);
COMMIT;
