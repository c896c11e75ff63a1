-- The school register's tables and first data. Dates are data: the
-- application never asks for the time, "today" is a setting.
-- Passwords: sha256(salt || password). office: keys; teachers: chalk; pupils:
-- apple; guardians: lunch; old (switched off): chalk.
SET foreign_key_checks = 0;

CREATE TABLE settings (
  name VARCHAR(20) PRIMARY KEY,
  value VARCHAR(100) NOT NULL
) ENGINE=InnoDB;
INSERT INTO settings VALUES ('school', 'Elm Street School'),
  ('today', '2010-11-08'), ('per_page', '6'), ('pass_mark', '50');

CREATE TABLE users (
  id INT AUTO_INCREMENT PRIMARY KEY,
  login VARCHAR(20) NOT NULL UNIQUE,
  salt CHAR(4) NOT NULL,
  hash CHAR(64) NOT NULL,
  role ENUM('admin', 'teacher', 'student', 'parent') NOT NULL,
  person_id INT NOT NULL DEFAULT 0,
  active TINYINT NOT NULL DEFAULT 1
) ENGINE=InnoDB;
INSERT INTO users VALUES (1, 'office', '1111',
  '487371f4a053423dbe84e3cd969cecf1432bfcfff3cc4d5ab04d0c4fe5c803ac', 'admin', 0, 1);
INSERT INTO users VALUES (2, 'frank', '2222',
  '06351ba847c16ce644dc637b3ecd59bbe561c91b56aa15070cdee1e5920ea78a', 'teacher', 1, 1);
INSERT INTO users VALUES (3, 'grace', '3333',
  '0c967ef2609858c39feacd9ea19461425321d4548b3ae95944b1d747523db005', 'teacher', 2, 1);
INSERT INTO users VALUES (4, 'henry', '4444',
  '7a4d0d61e2f7ebb317ec1180fa2744c6f8ce1ec687a6176c19c68c81b62050ad', 'teacher', 3, 1);
INSERT INTO users VALUES (5, 'anna', '5555',
  '8c5c2ee11bcea0d66ceddefdd9230875c4978f89951c7bca034d85e9ec746e12', 'student', 1, 1);
INSERT INTO users VALUES (6, 'ben', '6666',
  'f9e09d21fa49abe0ab295dd635378b8027181c9a6277fe4a1d166ffdee8e5aae', 'student', 2, 1);
INSERT INTO users VALUES (7, 'mia', '7777',
  '7f2599ad1d6324ed6ae0594ecd888f038cdb1f7c6c18f8e8ba2c36160e87c73e', 'student', 9, 1);
INSERT INTO users VALUES (8, 'mrsfox', '8888',
  'dae01a53bd404a3b2e6e11b7b343815b5ca9cbbcd43ed3bd793ccca7283e913d', 'parent', 0, 1);
INSERT INTO users VALUES (9, 'mrgray', '9999',
  'fe444a5b0e1a452ec8ee09cd835ff4c716aa16fd429087936375f652eb65a82b', 'parent', 0, 1);
INSERT INTO users VALUES (10, 'old', 'aaaa',
  'd1136b34a7053d649b74a3e60df73cd2d98640500273d2a9eca4e18f79ee3d01', 'teacher', 4, 0);
INSERT INTO users VALUES (11, 'mrsnone', 'bbbb',
  'b180233a1b01671c3a1fac9f129ae345d3a969fc12c50e87dccd4b9b3064c002', 'parent', 0, 1);

CREATE TABLE teachers (
  id INT AUTO_INCREMENT PRIMARY KEY,
  name VARCHAR(100) NOT NULL,
  room VARCHAR(100) NULL,
  email VARCHAR(100) NOT NULL DEFAULT ''
) ENGINE=InnoDB;
INSERT INTO teachers VALUES (1, 'Frank Oakes', 'A1', 'oakes@school.example'),
  (2, 'Grace Poole', 'B2', ''), (3, 'Henry Q. Rust', NULL, 'rust@school.example'),
  (4, 'Olga Dust', NULL, '');

CREATE TABLE classes (
  id INT AUTO_INCREMENT PRIMARY KEY,
  name VARCHAR(100) NOT NULL,
  teacher_id INT NULL
) ENGINE=InnoDB;
INSERT INTO classes VALUES (1, '5a', 1), (2, '5b', 2), (3, '6a', NULL),
  (4, '6b', 3);

CREATE TABLE students (
  id INT AUTO_INCREMENT PRIMARY KEY,
  name VARCHAR(100) NOT NULL,
  born DATE NOT NULL,
  class_id INT NULL,
  guardian_id INT NULL,
  note VARCHAR(200) NOT NULL DEFAULT ''
) ENGINE=InnoDB;
INSERT INTO students VALUES
  (1, 'Anna Fox', '1999-11-08', 1, 8, ''),
  (2, 'Ben Fox', '2000-02-29', 1, 8, 'Allergic to <nuts> & dust.'),
  (3, 'Carla Gray', '1999-05-01', 1, 9, ''),
  (4, 'David Hill', '1999-12-24', 1, NULL, ''),
  (5, 'Eve Ivory', '2000-07-07', 2, NULL, 'Sits in front.'),
  (6, 'Finn Jade', '2000-11-30', 2, NULL, ''),
  (7, 'Gus King', '1998-03-15', 3, 9, ''),
  (8, 'Hanna Lake', '1998-10-10', 3, NULL, ''),
  (9, 'Mia Moss', '1999-01-01', NULL, NULL, 'Came from abroad.');

CREATE TABLE courses (
  id INT AUTO_INCREMENT PRIMARY KEY,
  title VARCHAR(100) NOT NULL,
  class_id INT NOT NULL,
  teacher_id INT NULL,
  room VARCHAR(100) NULL
) ENGINE=InnoDB;
INSERT INTO courses VALUES (1, 'Mathematics', 1, 1, 'A1'),
  (2, 'English', 1, 2, 'B2'), (3, 'Physics & chemistry', 1, 1, NULL),
  (4, 'Mathematics', 2, 2, 'B2'), (5, 'Music', 3, NULL, 'Hall'),
  (6, 'English', 3, 2, 'B2');

CREATE TABLE lessons (
  course_id INT NOT NULL,
  day TINYINT NOT NULL,
  period TINYINT NOT NULL,
  length TINYINT NOT NULL DEFAULT 1,
  PRIMARY KEY (course_id, day, period)
) ENGINE=InnoDB;
INSERT INTO lessons VALUES (1, 1, 1, 2), (1, 3, 2, 1), (2, 1, 3, 1),
  (2, 2, 1, 1), (3, 4, 3, 2), (2, 5, 4, 1), (4, 1, 4, 1), (4, 2, 2, 2),
  (6, 3, 1, 1);

CREATE TABLE assignments (
  id INT AUTO_INCREMENT PRIMARY KEY,
  course_id INT NOT NULL,
  title VARCHAR(100) NOT NULL,
  due DATE NOT NULL,
  points INT NOT NULL
) ENGINE=InnoDB;
INSERT INTO assignments VALUES (1, 1, 'Fractions', '2010-09-20', 20),
  (2, 1, 'Angles', '2010-10-11', 40), (3, 1, 'Long division', '2010-11-15', 10),
  (4, 2, 'An essay', '2010-10-01', 15), (5, 4, 'Tables', '2010-10-05', 30),
  (6, 6, 'A poem', '2010-11-20', 10);

CREATE TABLE marks (
  assignment_id INT NOT NULL,
  student_id INT NOT NULL,
  points INT NULL,
  note VARCHAR(100) NOT NULL DEFAULT '',
  PRIMARY KEY (assignment_id, student_id)
) ENGINE=InnoDB;
INSERT INTO marks VALUES (1, 1, 18, ''), (1, 2, 7, 'See me.'), (1, 3, 12, ''),
  (2, 1, 36, 'Well done'), (2, 2, NULL, 'Was ill'), (2, 3, 11, ''),
  (4, 1, 15, ''), (4, 3, 6, ''), (5, 5, 24, ''), (5, 6, 30, 'Best of all');

CREATE TABLE attendance (
  student_id INT NOT NULL,
  day DATE NOT NULL,
  state ENUM('present', 'late', 'absent', 'excused') NOT NULL,
  PRIMARY KEY (student_id, day)
) ENGINE=InnoDB;
INSERT INTO attendance VALUES (1, '2010-11-01', 'present'),
  (1, '2010-11-02', 'present'), (1, '2010-11-03', 'late'),
  (2, '2010-11-01', 'absent'), (2, '2010-11-02', 'absent'),
  (2, '2010-11-03', 'excused'), (3, '2010-11-01', 'present'),
  (5, '2010-11-01', 'present');

CREATE TABLE announcements (
  id INT AUTO_INCREMENT PRIMARY KEY,
  title VARCHAR(100) NOT NULL,
  body TEXT NOT NULL,
  audience ENUM('all', 'teacher', 'student', 'parent') NOT NULL,
  posted DATE NOT NULL,
  author VARCHAR(20) NOT NULL
) ENGINE=InnoDB;
INSERT INTO announcements VALUES
  (1, 'School trip', 'We go to the zoo.\n\nBring:\n* boots\n* lunch\n'
   '* a coat\nand good weather.', 'all', '2010-10-01', 'office'),
  (2, 'Staff meeting', 'Friday in A1.', 'teacher', '2010-11-01', 'office'),
  (3, 'Parents'' evening', 'Tea & cake.', 'parent', '2010-11-05', 'office'),
  (4, 'Choir',
   'The choir sings in the hall:\n* Monday\n* Thursday', 'student', '2010-11-06', 'grace');
